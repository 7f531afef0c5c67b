"""SLURM batch scripts: shell scripts whose ``#SBATCH`` lines set the job's variables and image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.launch.formats.interface import NO, SURE, Reading
from sm_gatecheck.launch.job import Job, Setting, Start
from sm_gatecheck.launch.located import Located, SourceText
from sm_gatecheck.launch.versions import image_version
from sm_gatecheck.launch.words import split_words

_DIRECTIVE = re.compile(r"^#SBATCH[ \t]+(.*?)(?:[ \t]+#.*)?[ \t]*\r?$", re.MULTILINE)
_EXPORT = "--export"
_IMAGE = "--container-image"


@dataclass(frozen=True)
class Slurm:
    name: str = "slurm"
    title: str = "SLURM batch script"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        return SURE if _DIRECTIVE.search(source.text) else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        whole = source.located()
        environment: dict[str, Setting] = {}
        image: Located | None = None
        for match in _DIRECTIVE.finditer(source.text):
            words = [word.value for word in split_words(whole.part(*match.span(1)))]
            for index, word in enumerate(words):
                name, separator, _ = word.text.partition("=")
                value = word.part(len(name) + 1) if separator else words[index + 1] if index + 1 < len(words) else None
                if name == _EXPORT and value is not None:
                    environment.update(_exported(value))
                elif name == _IMAGE:
                    image = value
        mention = image_version(image, reading.rules)
        yield Job(
            script=whole,
            environment=environment,
            versions=(mention,) if mention is not None else (),
            directory=source.directory,
        )


def _exported(text: Located) -> Iterator[tuple[str, Setting]]:
    """``ALL,NAME=VALUE,…``"""
    for match in re.finditer(r"([A-Za-z_]\w*)=([^,]*)", text.text):
        place = text.part(*match.span(1)).extent
        if place is not None:
            value = text.part(*match.span(2))
            yield match[1], Setting(value if value.runs else Located((), place), place)


FORMAT = Slurm()
