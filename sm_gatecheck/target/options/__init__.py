"""The options that a tree declares, whichever of its ways it uses, and the environment variables that it reads.

What is peculiar to a project (the class, its helpers, which keyword means what) stands in ``rules/sglang/options.toml``;
here are the three ways of declaring, each in its file, and what they share:

- ``arguments``: calls of ``parser.add_argument``, with the meaning that ``argparse`` gives them;
- ``annotations``: fields whose annotation carries the description of an argument;
- ``namespaces``: such fields spread over classes that one list names;
- ``table``: fields and arguments put together, one option a destination;
- ``environment``: variables, declared by descriptors or found where they are read.
"""

from sm_gatecheck.target.options.environment import read_environment
from sm_gatecheck.target.options.reader import read_options
from sm_gatecheck.target.options.retired import refuses_retired_flags
from sm_gatecheck.target.options.rules import OptionRules
from sm_gatecheck.target.options.table import Deprecation, OptionTable

__all__ = ["Deprecation", "OptionRules", "OptionTable", "read_environment", "read_options", "refuses_retired_flags"]
