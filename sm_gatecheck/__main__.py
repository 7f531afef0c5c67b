"""``python -m sm_gatecheck``."""

import sys

from sm_gatecheck.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
