"""``python -m sm_gatecheck``."""

import sys

from sm_gatecheck.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
