"""`python -m limes`."""

import sys

from limes.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
