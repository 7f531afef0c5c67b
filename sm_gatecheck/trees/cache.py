"""Where fetched releases, and whatever else can be had again, are kept."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "GATECHECK_CACHE"


def cache_directory(override: Path | None = None) -> Path:
    """``override``, else ``$GATECHECK_CACHE``, else the user's cache directory. It need not exist yet."""
    if override is not None:
        return override
    if named := os.environ.get(VARIABLE):
        return Path(named)
    import platformdirs

    return platformdirs.user_cache_path("gatecheck", appauthor=False)
