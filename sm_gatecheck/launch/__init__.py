"""Launch files: one format a module under ``formats``, all to ``Launch`` values that know where each word was written.

A format says what a file starts (``job``): words, or a script, and an environment. Scripts are followed statement by statement
under every open condition (``shell``, ``following``), wrappers and containers are looked through (``unwrap``, ``containers``),
and what reaches the server is parsed as its own parser would (``arguments``). What counts as a start of the server is data,
in ``rules/sglang/launch.toml``. Nothing of a launch file is ever executed, and nothing is taken from the process's environment.
"""

from sm_gatecheck.launch.model import Extent, Launch, LaunchError, LaunchValue, Problem, VersionMention
from sm_gatecheck.launch.reading import format_names, read_arguments, read_launch

__all__ = [
    "Extent",
    "Launch",
    "LaunchError",
    "LaunchValue",
    "Problem",
    "VersionMention",
    "format_names",
    "read_arguments",
    "read_launch",
]
