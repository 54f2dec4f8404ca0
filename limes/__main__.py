"""`python -m limes`."""

import sys

from limes.cli import main

if __name__ == "__main__":
    sys.exit(main())
