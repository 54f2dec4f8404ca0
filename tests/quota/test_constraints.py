"""Quota constraints."""

import pytest

from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.kernel.errors import ConfigError
from limes.kernel.units import Unit, UnitError
from limes.quota.constraints import Constraint, parse_constraint, parse_constraint_set

CATALOG = Catalog(
    ["az-one"],
    [
        ServiceDef(
            "compute",
            "compute",
            {
                "cores": ResourceDef("cores"),
                "ram": ResourceDef("ram", Unit.MIB),
                "servers": ResourceDef("servers", tracks_quota=False),
            },
        )
    ],
)


@pytest.mark.parametrize(
    ("text", "unit", "projects", "expected"),
    [
        ("at least 5", Unit.COUNT, None, Constraint(5, None)),
        ("at most 5 GiB", Unit.MIB, None, Constraint(None, 5120)),
        ("at least 5, at most 10", Unit.COUNT, None, Constraint(5, 10)),
        ("exactly 7", Unit.COUNT, None, Constraint(7, 7)),
        ("at least 5 more than project constraints", Unit.COUNT, 20, Constraint(25, None)),
        ("at least 5 more than project constraints", Unit.COUNT, 2**63 - 7, Constraint(2**63 - 2, None)),
        ("at least 5, at least 8", Unit.COUNT, None, Constraint(8, None)),
        ("at least 8, at least 5", Unit.COUNT, None, Constraint(8, None)),
        ("at most 5, at most 8", Unit.COUNT, None, Constraint(None, 5)),
    ],
)
def test_parse(text: str, unit: Unit, projects: int | None, expected: Constraint) -> None:
    assert parse_constraint(text, unit, projects) == expected


@pytest.mark.parametrize(
    ("text", "unit", "projects"),
    [
        ("should be 5", Unit.COUNT, None),
        ("at least 5 GiB", Unit.COUNT, None),
        ("at least 5", Unit.MIB, None),
        ("at least 9, at most 5", Unit.COUNT, None),
        ("at most 5 more than project constraints", Unit.COUNT, 3),
        ("at least 5 more than project constraints", Unit.COUNT, None),
        ("at least 5 more than project constraints", Unit.COUNT, 2**63 - 6),
        ("", Unit.COUNT, None),
    ],
)
def test_parse_refuses(text: str, unit: Unit, projects: int | None) -> None:
    with pytest.raises(UnitError):
        parse_constraint(text, unit, projects)


@pytest.mark.parametrize(
    ("constraint", "value", "nearest"),
    [(Constraint(5, 10), 4, 5), (Constraint(5, 10), 7, 7), (Constraint(5, 10), 11, 10), (Constraint(), 4, 4)],
)
def test_nearest_value(constraint: Constraint, value: int, nearest: int) -> None:
    assert constraint.apply_to(value) == nearest
    assert constraint.allows(value) == (value == nearest)


def test_render() -> None:
    assert Constraint(1, 1).render(Unit.MIB) == "exactly 1 MiB"
    assert Constraint(1, 2).render(Unit.COUNT) == "at least 1, at most 2"


def test_file() -> None:
    constraints = parse_constraint_set(
        {
            "domains": {"germany": {"compute": {"cores": "at least 10 more than project constraints"}}},
            "projects": {
                "germany/berlin": {"compute": {"cores": "at least 5", "ram": "at most 1 GiB"}},
                "germany/dresden": {"compute": {"cores": "exactly 7"}, "shared": {"unknown": "whatever"}},
            },
        },
        CATALOG,
    )
    assert constraints.for_domain(("compute", "cores"), "germany") == Constraint(10 + 5 + 7, None)
    assert constraints.for_project(("compute", "ram"), "germany", "berlin") == Constraint(None, 1024)
    assert constraints.for_project(("compute", "ram"), "germany", "dresden") is None


def test_file_with_every_problem_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_constraint_set(
            {
                "domains": {"germany": {"compute": {"cores": "at least 10", "servers": "at least 1"}}, "france": [1]},
                "projects": {
                    "germany/berlin": {"compute": {"cores": "at least 11", "ram": "at most 5"}},
                    "dresden": {"compute": {"cores": "exactly 7"}},
                },
            },
            CATALOG,
        )
    assert caught.value.problems == [
        "constraints: projects.germany/berlin.compute.ram: cannot convert value from <count> to MiB because units are"
        " incompatible",
        "constraints: projects.dresden: expected DOMAIN/PROJECT",
        "constraints: domains.germany.compute.servers: resource does not track quota",
        "constraints: domains.france: expected a mapping of names",
        "constraints: domains.germany.compute.cores: the minima of its projects add up to 11, which exceeds the"
        ' domain\'s minimum of 10; use "at least ... more than project constraints"',
    ]
