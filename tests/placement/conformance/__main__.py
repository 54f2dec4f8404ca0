"""`python -m tests.placement.conformance [--database sqlite|postgresql] [--group NAME] [--only FILE ...]`.

Prints the summary line of each group for each database; exit status 1 if anything failed.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.placement.conformance.outcome import Outcome
from tests.placement.conformance.run import run_suites, summary
from tests.placement.conformance.suite import GROUPS, Suite, find_suites
from tests.setup.needs import POSTGRESQL, REAL
from tests.support.machine import MACHINE, must_stop
from tests.support.postgres import postgres_server

_DATABASES = ("sqlite", "postgresql")


@contextmanager
def _database(kind: str, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{folder}/placement.db"
        return
    with postgres_server() as server:
        yield server.url(server.create_database())


def _show(suite: Suite, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.status == "fail":
            print(f"    {suite.name}::{outcome.name}: {outcome.message}", flush=True)


def main() -> int:
    """Runs what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=_DATABASES, action="append", default=[])
    parser.add_argument("--group", choices=GROUPS, action="append", default=[])
    parser.add_argument("--only", nargs="+", default=[], metavar="FILE")
    args = parser.parse_args()
    if (code := must_stop(REAL, POSTGRESQL)) is not None:
        return code
    suites = find_suites(MACHINE.real_venv)
    failed = 0
    for kind in args.database or _DATABASES:
        print(f"{kind}:", flush=True)
        with tempfile.TemporaryDirectory(prefix="limes-conformance-") as name, _database(kind, Path(name)) as url:
            for group in args.group or GROUPS:
                files = [one for one in suites if one.group == group and (not args.only or one.name in args.only)]
                outcomes = run_suites(files, url, Path(name), _show)
                failed += sum(outcome.status == "fail" for outcome in outcomes)
                print(f"  {summary(group, outcomes, len(files))}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
