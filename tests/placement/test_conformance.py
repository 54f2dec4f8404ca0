"""OpenStack Placement's own HTTP suite. Its YAML files come from the installed package.

`make test` runs it on PostgreSQL, without the roles of secure RBAC: `test_policy.py` tries each of their rules.
"""

from pathlib import Path

import pytest

from tests.placement.conformance.run import run_suites
from tests.placement.conformance.suite import EXCLUDED, GROUPS, find_suites
from tests.support.real import RealVenv

TOTALS = {"core": 857, "policy": 41, "cors": 4, "rbac": 414}


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "databases",
    [pytest.param("postgresql", marks=pytest.mark.postgresql), pytest.param("sqlite", marks=pytest.mark.long)],
    indirect=True,
)
@pytest.mark.parametrize(
    "group", [pytest.param(group, marks=pytest.mark.long) if group == "rbac" else group for group in GROUPS]
)
def test_the_upstream_suite_passes(group: str, real_venv: RealVenv, database_url: str, tmp_path: Path) -> None:
    """Takes some seconds, for up to 857 tests."""
    suites = [suite for suite in find_suites(real_venv.folder) if suite.group == group]
    outcomes = run_suites(suites, database_url, tmp_path, lambda suite, outcomes: None)
    assert [one for one in outcomes if one.status == "fail"] == []
    assert {(one.file, one.name) for one in outcomes if one.status == "skip"} <= EXCLUDED.keys()
    assert len(outcomes) == TOTALS[group]
