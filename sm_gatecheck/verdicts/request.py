"""What is asked of an analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sm_gatecheck.model.report import Assumptions


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

    @property
    def assumptions(self) -> Assumptions:
        """What the claims of a report under this request rest on."""
        named = (self.model_config or {}).get("architectures")
        model = str(named[0]) if isinstance(named, list) and named else None if self.model_config is None else "a model without a name"
        return Assumptions(cuda_version=self.cuda, settings=dict(self.settings), model=model, gpu_memory=self.gpu_memory)
