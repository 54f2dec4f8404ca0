"""OpenStack Placement's own HTTP suite, whole, on both databases. Its YAML files come from the installed package."""

from pathlib import Path

import pytest

from tests.placement.conformance.run import run_suites
from tests.placement.conformance.suite import EXCLUDED, GROUPS, find_suites
from tests.support.real import RealVenv

TOTALS = {"core": 857, "policy": 41, "cors": 4, "rbac": 414}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("group", GROUPS)
def test_the_upstream_suite_passes(group: str, real_venv: RealVenv, database_url: str, tmp_path: Path) -> None:
    suites = [suite for suite in find_suites(real_venv.folder) if suite.group == group]
    outcomes = run_suites(suites, database_url, tmp_path, lambda suite, outcomes: None)
    assert [one for one in outcomes if one.status == "fail"] == []
    assert {(one.file, one.name) for one in outcomes if one.status == "skip"} <= EXCLUDED.keys()
    assert len(outcomes) == TOTALS[group]
