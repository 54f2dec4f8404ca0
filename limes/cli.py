"""The `limes` command."""

import sys


def main() -> int:
    """Runs a sub-command and answers the exit code."""
    print("no sub-commands yet", file=sys.stderr)
    return 2
