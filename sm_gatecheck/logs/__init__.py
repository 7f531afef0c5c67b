"""What a server writes while it starts: its resolved arguments and its figures of memory and capacity.

Physical lines lose what journald, docker and Kubernetes put around them (``lines``), the arguments are read by a parser of
literals that runs nothing (``literals``), what the lines look like is data in ``rules/sglang/log.toml`` (``rules``). Two starts
can be compared (``comparison``), and one start with what a tree's resolution makes of it (``prediction``).
"""

from sm_gatecheck.logs.model import Figure, Log, LogError, Reading, Start
from sm_gatecheck.logs.reading import open_log, read_log

__all__ = ["Figure", "Log", "LogError", "Reading", "Start", "open_log", "read_log"]
