"""A configuration file of the Go Limes of 2025 and later becomes one of ours."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.app.composition.cluster import backend_problems
from limes.app.importer.configuration import Converted, convert, read_original
from limes.app.settings import Settings, parse
from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef

ORIGINAL = Path(__file__).parent / "original.json"


@pytest.fixture
def original() -> dict[str, Any]:
    document = read_original(ORIGINAL)
    assert isinstance(document, dict)
    return document


def converted(original: dict[str, Any]) -> Converted:
    return convert(original, ORIGINAL.parent, backend_problems)


def settings_of(original: dict[str, Any]) -> Settings:
    result = converted(original)
    assert result.problems == ()
    return parse(yaml.safe_load(yaml.safe_dump(result.document)), {}, ORIGINAL.parent)


def test_each_liquid_is_a_service_with_its_capacity(original: dict[str, Any]) -> None:
    settings = settings_of(original)
    assert [(one.service_type, one.type, one.params) for one in settings.services] == [
        ("nova", "liquid", {"area": "compute"}),
        ("neutron", "liquid", {"area": "network"}),
    ]
    assert {one.id: (one.type, one.params) for one in settings.capacitors} == {
        "nova": ("liquid", {"service": "nova"}),
        "nova-fixed": ("manual", {"values": {"nova": {"server_groups": 1000}}}),
        "nova-prometheus": (
            "prometheus",
            {
                "api": {"url": "https://prometheus.example.com", "ca_cert": "/etc/ssl/ca.pem"},
                "queries": {"nova": {"ram": {"query": "sum by (az) (ram_mib)", "az_label": "az"}}},
            },
        ),
        "neutron": ("liquid", {"service": "neutron"}),
    }
    assert settings.services[0].rate_limits.global_[0].limit == 1000
    assert settings.discovery.params == {
        "domains": [{"id": "d1", "name": "acme", "projects": [{"id": "p1", "name": "shop", "parent_id": "d1"}]}]
    }


def test_quota_grows_as_before_and_follows_need_where_nothing_is_said(original: dict[str, Any]) -> None:
    first, last = settings_of(original).quota_distribution_configs
    assert first.autogrow is not None
    assert last.autogrow is not None
    assert (first.autogrow.growth_multiplier, first.autogrow.growth_minimum) == (1.2, 2)
    assert (first.autogrow.project_base_quota, first.autogrow.usage_data_retention_period) == (10, 48 * 3600)
    assert first.autogrow.allow_quota_overcommit_until_allocated_percent == 95
    assert (last.model, last.autogrow.growth_multiplier) == ("autogrow", 1)
    assert (last.autogrow.growth_minimum, last.autogrow.usage_data_retention_period) == (0, 1)


def test_a_last_entry_for_everything_is_kept(original: dict[str, Any]) -> None:
    original["quota_distribution_configs"][0]["resource"] = ".*"
    (only,) = settings_of(original).quota_distribution_configs
    assert only.autogrow is not None
    assert only.autogrow.growth_multiplier == 1.2


@pytest.mark.parametrize(
    ("resource", "scope", "durations"),
    [
        ("cores", "acme", ["7 days", "1 year"]),
        ("cores", "acme/shop", ["7 days", "1 year"]),
        ("cores", "university/lab", ["7 days", "1 year"]),
        ("cores", "acme-two/shop", ["1 year"]),
        ("cores", "free-tier/shop", []),
        ("ram", "other/shop", ["1 year"]),
        ("instances_big", "free-tier/shop", ["3 years"]),
        ("server_groups", "acme/shop", []),
    ],
)
def test_durations_are_those_of_the_first_match(
    original: dict[str, Any], resource: str, scope: str, durations: list[str]
) -> None:
    rules = settings_of(original).resource_behavior
    catalog = Catalog(["west-1"], [ServiceDef("nova", "compute", {resource: ResourceDef(resource)})], behaviors=rules)
    behavior = catalog.behavior(("nova", resource), scope)
    assert list(behavior.commitment_durations) == durations
    assert behavior.commitment_is_az_aware == bool(durations)


def test_commitments_are_converted_in_groups(original: dict[str, Any]) -> None:
    settings = settings_of(original)
    assert settings.commitments.conversions == ({("nova", "cores"): 2, ("nova", "ram"): 2},)
    found = {note.path: (note.kind.value, note.text) for note in converted(original).notes}
    path = "liquids.nova.commitment_behavior_per_resource"
    assert found[f"{path}[1].value.conversion_rule"] == (
        "to do",
        "add each resource that 'instances_.*|ram' means to a group of commitments.conversions, with 48",
    )
    assert found[f"{path}[0].value.until_percent"][0] == "dropped"


def test_what_is_not_the_same_is_said(original: dict[str, Any]) -> None:
    found = {note.path: note.kind.value for note in converted(original).notes}
    assert found == {
        "areas": "dropped",
        "capacitors": "to do",
        "database.url": "to do",
        "discovery.static_config": "changed",
        "liquids.nova.capacity_values_from_prometheus": "changed",
        "liquids.nova.capacity_values_from_prometheus.allow_zero_capacity": "dropped",
        "liquids.nova.commitment_behavior_per_resource[0].value.until_percent": "dropped",
        "liquids.nova.commitment_behavior_per_resource[1].value.conversion_rule": "to do",
        "liquids.nova.fixed_capacity_values": "changed",
        "liquids.nova.rate_limits": "to do",
        "mail_notifications": "to do",
        "quota_distribution_configs": "changed",
        "quota_overrides_path": "to do",
        "rate_behavior": "dropped",
        "resource_behavior[0].category": "dropped",
        "resource_behavior[1].identity_in_v1_api": "to do",
        "resource_behavior[].commitment_is_az_aware": "to do",
        "something_new": "dropped",
    }


@pytest.mark.parametrize("wrong", [5, None, "x", [1], {"a": 1}, {"a": {"area": 5}}])
def test_what_makes_no_sense_is_left_to_the_check_of_the_whole(original: dict[str, Any], wrong: Any) -> None:
    for key in ("liquids", "resource_behavior", "quota_distribution_configs", "discovery", "mail_notifications"):
        converted({**original, key: wrong})
    for key in ("commitment_behavior_per_resource", "capacity_values_from_prometheus", "fixed_capacity_values"):
        converted({**original, "liquids": {"nova": {"area": "compute", key: wrong}}})
