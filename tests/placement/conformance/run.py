"""Runs groups of the upstream suite against our server on one database."""

from collections.abc import Callable, Iterable
from pathlib import Path

from tests.placement.conformance.outcome import Outcome
from tests.placement.conformance.servers import empty_database, make_database, running_server
from tests.placement.conformance.suite import Suite


def run_suites(
    suites: Iterable[Suite], database_url: str, folder: Path, report: Callable[[Suite, list[Outcome]], None]
) -> list[Outcome]:
    """Runs the files, one server for each profile. `database_url` is that of an empty database; `folder` takes logs."""
    by_profile: dict[str, list[Suite]] = {}
    for suite in suites:
        by_profile.setdefault(suite.profile, []).append(suite)
    make_database(database_url)
    found: list[Outcome] = []
    for profile, files in by_profile.items():
        with running_server(database_url, folder, profile) as url:
            for suite in files:
                empty_database(database_url)
                outcomes = suite.run(url)
                report(suite, outcomes)
                found += outcomes
        empty_database(database_url)
    return found


def summary(group: str, outcomes: Iterable[Outcome], files: int) -> str:
    """One line about a group."""
    statuses = [outcome.status for outcome in outcomes]
    passed, failed, skipped = (statuses.count(status) for status in ("pass", "fail", "skip"))
    return f"{group}: {passed} passed, {failed} failed, {skipped} skipped of {len(statuses)} tests in {files} files"
