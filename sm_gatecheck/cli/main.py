"""The entry point: runs a command and turns whatever ends it into an exit status and at most one line on stderr.

0 nothing at or above ``--fail-on``; 1 findings; 2 wrong usage; 3 the tree could not be analysed; 4 with ``--strict``,
something was left out; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence

import click

from sm_gatecheck.cli.group import program
from sm_gatecheck.cli.refusal import one_line, usage_message
from sm_gatecheck.model.errors import TreeError, UsageError

USAGE = 2
NOT_ANALYSED = 3
INTERRUPTED = 130


def run() -> int:
    """The installed command: ``main`` in a process that ends with it, where looking for garbage is time lost."""
    gc.disable()
    status = main()
    gc.freeze()  # nor is it looked for on the way out
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status and never raises for bad input."""
    try:
        status = program.main(args=None if arguments is None else list(arguments), prog_name="gatecheck", standalone_mode=False)
    except click.Abort:
        return _refuse("interrupted", INTERRUPTED)
    except KeyboardInterrupt:
        return _refuse("interrupted", INTERRUPTED)
    except click.ClickException as error:
        return _refuse(usage_message(error), USAGE)
    except UsageError as error:
        return _refuse(str(error), USAGE)
    except TreeError as error:
        return _refuse(str(error), NOT_ANALYSED)
    except MemoryError:
        return _refuse("out of memory; use fewer --processes", NOT_ANALYSED)
    except Exception as error:
        if os.environ.get("GATECHECK_TRACEBACK"):
            raise
        return _refuse(
            f"internal error: {type(error).__name__}: {error}; this is a bug in gatecheck, GATECHECK_TRACEBACK=1 shows where", NOT_ANALYSED
        )
    return status if isinstance(status, int) else 0


def _refuse(message: str, status: int) -> int:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"gatecheck: {one_line(message)}", file=sys.stderr, flush=True)
    return status
