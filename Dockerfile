# gatecheck without an installation:
#   docker build -t gatecheck .
#   docker run --rm -v "$PWD:/work" gatecheck --sm 120 sglang==0.5.12
# Nothing of SGLang is run in it, and it needs no GPU. A volume at /cache keeps fetched releases and reports.
FROM python:3.12-slim

# git: for the revision of a checkout, and for PATH@REV
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*

COPY pyproject.toml README.md LICENSE /src/
COPY sm_gatecheck /src/sm_gatecheck
COPY rules /src/rules
RUN pip install --no-cache-dir --disable-pip-version-check /src && rm -rf /src

# A mounted repository belongs to another user than the one in here.
RUN git config --system --add safe.directory '*' \
    && useradd --create-home gatecheck && mkdir /cache && chown gatecheck /cache
USER gatecheck
ENV GATECHECK_CACHE=/cache PYTHONUNBUFFERED=1
VOLUME /cache
WORKDIR /work
ENTRYPOINT ["gatecheck"]
CMD ["--help"]
