"""What is asked of an analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Request:
    """Targets and assumptions. ``settings`` are given values by field, ``gpu_memory`` is in MiB."""

    sms: tuple[int, ...]
    cuda: str = "12.9"
    settings: dict[str, Any] = field(default_factory=dict)
    model_config: dict[str, Any] | None = None
    gpu_memory: int | None = None
    rules_dir: Path | None = None
    use_cache: bool = True
    processes: int | None = None
