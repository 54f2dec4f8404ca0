"""Quota overrides: their file."""

from typing import Any

import pytest

from limes.kernel.errors import ConfigError
from limes.quota.constraints import NO_OVERRIDES, QuotaOverride, parse_overrides
from tests.quota.test_constraints import CATALOG

CORES, RAM = ("compute", "cores"), ("compute", "ram")


def test_file() -> None:
    overrides = parse_overrides(
        {
            "germany": {"berlin": {"compute": {"cores": 5, "ram": "1 GiB"}}, "dresden": {"compute": {"cores": "0"}}},
            "france": {"paris": {}},
        },
        CATALOG,
    )
    assert list(overrides.items()) == [
        QuotaOverride("germany", "berlin", CORES, 5),
        QuotaOverride("germany", "berlin", RAM, 1024),
        QuotaOverride("germany", "dresden", CORES, 0),
    ]
    assert len(overrides) == 3
    assert overrides.for_project(RAM, "germany", "berlin") == 1024
    assert overrides.for_project(CORES, "germany", "dresden") == 0
    assert overrides.for_project(RAM, "germany", "dresden") is None
    assert overrides.for_project(CORES, "france", "berlin") is None


def test_no_overrides() -> None:
    assert parse_overrides({}, CATALOG) == NO_OVERRIDES
    assert NO_OVERRIDES.for_project(CORES, "germany", "berlin") is None


def problems_of(document: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse_overrides(document, CATALOG)
    return caught.value.problems


def test_every_problem_at_once() -> None:
    assert problems_of(
        {
            "germany": {
                "berlin": {"compute": {"cores": -1, "ram": 5, "servers": 1, "coars": 1}, "compote": {"cores": 1}},
                "dresden": [1],
                12: {},
            },
            "france": None,
        }
    ) == [
        "quota overrides: germany.berlin.compute.cores: '-1' is not a value (expected for example '10')",
        "quota overrides: germany.berlin.compute.ram: cannot convert value from <count> to MiB because units are"
        " incompatible",
        "quota overrides: germany.berlin.compute.servers: compute/servers has no quota",
        "quota overrides: germany.berlin.compute.coars: there is no resource compute/coars; did you mean compute/cores?",
        "quota overrides: germany.berlin.compote.cores: there is no service 'compote'; did you mean compute?",
        "quota overrides: germany.dresden: expected a mapping of names",
        "quota overrides: germany: expected a name, not 12: put it in quotes",
        "quota overrides: france: expected a mapping of names",
    ]


def test_an_empty_file_may_be_half_written() -> None:
    assert problems_of(None) == ["quota overrides: expected a mapping of names; `{}` if there are no overrides"]


@pytest.mark.parametrize("value", [True, 1.5, None, [1], float("nan"), "1e3", "5 cores", "", str(2**63 - 1), 2**70])
def test_what_is_no_quota(value: object) -> None:
    (problem,) = problems_of({"germany": {"berlin": {"compute": {"cores": value}}}})
    assert problem.startswith("quota overrides: germany.berlin.compute.cores: ")
