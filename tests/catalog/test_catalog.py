"""The catalog: order, merging of behaviours, AZ names."""

import re
from typing import Any

from limes.catalog.catalog import (
    ANY_AZ,
    UNKNOWN_AZ,
    BehaviorRule,
    Catalog,
    DistributionRule,
    ResourceDef,
    ServiceDef,
    select,
)

CORES = ("compute", "cores")


def catalog(
    *behaviors: BehaviorRule, multiplier: float = 0.0, distributions: list[Any] | tuple[Any, ...] = ()
) -> Catalog:
    return Catalog(
        ["az-two", "az-one"],
        [
            ServiceDef("storage", "storage", {"capacity": ResourceDef("capacity")}),
            ServiceDef("compute", "compute", {"ram": ResourceDef("ram"), "cores": ResourceDef("cores")}),
        ],
        burst_multiplier=multiplier,
        behaviors=behaviors,
        distributions=distributions,
    )


def rule(resource: str = ".*", scope: str | None = None, **kwargs: Any) -> BehaviorRule:
    return BehaviorRule(resource=resource, scope=scope or None, **kwargs)


def test_alphabetical_order() -> None:
    assert catalog().refs() == [CORES, ("compute", "ram"), ("storage", "capacity")]


def test_merge_of_several_matches() -> None:
    found = catalog(
        rule(
            max_burst_multiplier=0.5, overcommit_factor=2, min_nonzero_project_quota=5, annotations={"a": "1", "b": "1"}
        ),
        rule("compute/.*", max_burst_multiplier=0.25, overcommit_factor=3, annotations={"b": "2"}),
        rule("compute/cores", min_nonzero_project_quota=3, commitment_durations=("1 year",)),
        rule("compute/core", overcommit_factor=99),
        rule("compute/c.*", scales_with=("compute", "ram"), scaling_factor=2, commitment_min_confirm_date=200.0),
        rule(scales_with=("storage", "capacity"), scaling_factor=3, commitment_min_confirm_date=100.0),
        rule("compute/cores", commitment_is_az_aware=True, commitment_durations=("2 years",)),
        multiplier=0.3,
    ).behavior(CORES)
    assert (found.scales_with, found.scaling_factor) == (("storage", "capacity"), 3)
    assert (found.commitment_min_confirm_date, found.commitment_is_az_aware) == (200.0, True)
    assert found.burst_multiplier == 0.25
    assert found.overcommit_factor == 3
    assert found.min_nonzero_project_quota == 5
    assert found.annotations == {"a": "1", "b": "2"}
    assert found.commitment_durations == ("1 year", "2 years")


def test_scopes_match_domains_and_projects_and_are_ignored_for_the_cluster() -> None:
    subject = catalog(rule(scope="germany/.*", annotations={"in": "germany"}))
    assert subject.behavior(CORES, "germany/berlin").annotations == {"in": "germany"}
    assert subject.behavior(CORES, "germany").annotations == {}
    assert subject.behavior(CORES).annotations == {"in": "germany"}
    subject = catalog(rule(scope="germany", annotations={"in": "germany"}))
    assert subject.behavior(CORES, "germany").annotations == {"in": "germany"}
    assert subject.behavior(CORES, "germany/berlin").annotations == {}, "whole names"


def test_no_bursting_without_a_cluster_wide_multiplier() -> None:
    assert catalog(rule(max_burst_multiplier=0.5)).behavior(CORES).burst_multiplier == 0


def test_first_distribution_wins() -> None:
    subject = catalog(
        distributions=[
            DistributionRule(re.compile("compute/r"), strict_domain_quota_limit=True),
            DistributionRule(re.compile("compute/cores"), strict_domain_quota_limit=True),
            DistributionRule(re.compile(".*")),
        ]
    )
    assert subject.distribution(CORES).strict_domain_quota_limit
    assert not subject.distribution(("compute", "ram")).strict_domain_quota_limit


def test_azs() -> None:
    subject = catalog()
    assert [subject.az_of(az) for az in ("az-one", "elsewhere", ANY_AZ)] == ["az-one", UNKNOWN_AZ, ANY_AZ]
    assert sorted(["unknown", "az-two", "any", "az-one"], key=subject.az_order) == [
        "any",
        "az-one",
        "az-two",
        "unknown",
    ]


def test_selection() -> None:
    subject = catalog()
    assert select(subject).refs == subject.refs()
    assert select(subject, services=["compute"], resources=["ram"]).refs == [("compute", "ram")]
    assert select(subject, services=["compute"], areas=["storage"]).services == {}
    assert list(select(subject, resources=["nothing"]).services) == ["compute", "storage"]
    assert select(subject, services=[""]).services == {}


def test_projects_with_the_same_rules_share_one_behavior() -> None:
    """There may be thousands of them, and each is remembered."""
    found = catalog(rule(overcommit_factor=2), rule("compute/.*", "acme/.*", min_nonzero_project_quota=5))
    special = {id(found.behavior(CORES, f"acme/{number}")) for number in range(100)}
    others = {id(found.behavior(CORES, f"other/{number}")) for number in range(100)}
    assert (len(special), len(others), len(special | others)) == (1, 1, 2)


def test_a_display_name_is_the_same_everywhere() -> None:
    made = catalog(
        rule("compute/cores", annotations={"display_name": "Cores"}),
        rule("compute/.*", annotations={"note": "x"}),
        rule("compute/cores", scope="acme", annotations={"display_name": "Cores of Acme"}),
        rule("compute/cores", annotations={"display_name": "Virtual cores"}),
    )
    assert made.display_name(CORES) == "Virtual cores"
    assert made.display_name(("compute", "ram")) is None
