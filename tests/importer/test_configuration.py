"""A configuration file of the Go Limes becomes one of ours, and nothing goes without a word."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.app.composition.cluster import backend_problems
from limes.app.importer.configuration import Converted, convert
from limes.app.settings import parse, read_yaml
from limes.kernel.errors import ConfigError

ORIGINAL = Path(__file__).parent / "original.yaml"


@pytest.fixture
def original() -> dict[str, Any]:
    return read_yaml(ORIGINAL)


def converted(original: dict[str, Any]) -> Converted:
    return convert(original, ORIGINAL.parent, backend_problems)


def notes(original: dict[str, Any]) -> dict[Any, Any]:
    return {note.path: (note.kind.value, note.text) for note in converted(original).notes}


def test_the_result_can_be_used(original: dict[str, Any]) -> None:
    result = converted(original)
    assert result.problems == ()
    settings = parse(yaml.safe_load(yaml.safe_dump(result.document)), {}, ORIGINAL.parent)
    assert [one.service_type for one in settings.services] == [
        *("compute", "network", "volumev2", "sharev2", "object-store", "dns")
    ]
    assert [one.id for one in settings.capacitors] == ["nova", "cinder", "manila", "manual", "prometheus"]
    assert settings.bursting.max_multiplier == 0.2
    assert settings.lowpriv_raise.limits.projects == {"compute": {"cores": 10, "ram": "10 GiB"}}
    assert settings.resource_behavior[0].overcommit_factor == 4
    assert settings.resource_behavior[1].scales_with == ("compute", "cores")
    assert settings.resource_behavior[2].annotations == {"colour": "green"}
    assert settings.discovery.except_domains.pattern == "^heat$"
    assert settings.quota_distribution_configs[0].strict_domain_quota_limit
    autogrow = settings.quota_distribution_configs[1].autogrow
    assert autogrow is not None
    assert (autogrow.growth_multiplier, autogrow.usage_data_retention_period) == (1.2, 48 * 3600)
    assert settings.services[0].rate_limits.global_[0].limit == 1000


def test_params_that_are_said_in_another_way(original: dict[str, Any]) -> None:
    document = converted(original).document
    params = {one["service_type"]: one.get("params") for one in document["services"]}
    assert params["compute"] == {
        "bigvm_min_memory": 1048576,
        "with_subresources": True,
        "flavors": {"hana_small": {"aliases": ["hana_s"]}},
    }
    assert params["sharev2"]["share_types"][0]["mapping_rules"] == [
        {"name_pattern": "acme/.*", "name": "acme_default"},
        {"name_pattern": "university/.*", "name": ""},
    ]
    assert params["dns"] is None
    nova = document["capacitors"][0]["params"]
    assert nova["hypervisor_selection"]["required_traits"] == ["COMPUTE_NODE", "!CUSTOM_RETIRED"]
    assert document["quota_distribution_configs"] == original["quota_distribution_configs"]


@pytest.mark.parametrize("wrong", [5, True, "x", [1], {"a": 1}])
def test_params_that_make_no_sense_are_left_to_the_check_of_the_whole(original: dict[str, Any], wrong: Any) -> None:
    original["services"][0]["params"]["separate_instance_quotas"]["flavor_aliases"]["hana_small"] = wrong
    selection = original["capacitors"][0]["params"]["hypervisor_selection"]
    before = dict(selection)
    for key in ("required_traits", "excluded_traits"):
        selection.update(before, **{key: wrong})
        converted(original)
    original["services"][0]["params"]["separate_instance_quotas"]["flavor_aliases"]["hana_small"] = 5
    selection.update(before, excluded_traits=5)
    problems = converted(original).problems
    assert any("flavors" in problem for problem in problems)
    assert any("excluded_traits" in problem for problem in problems)


def test_everything_that_has_no_counterpart_is_named(original: dict[str, Any]) -> None:
    found = notes(original)
    dropped = {path for path, (kind, _) in found.items() if kind == "dropped"}
    assert dropped == {
        "services[0].params.hypervisor_type_rules",
        "services[3].params.prometheus_api_for_az_awareness",
        "services[3].params.prometheus_api_for_netapp_metrics",
        "services[6]",
        "services[7]",
        "capacitors[0].params.flavor_aliases",
        "capacitors[2].params.share_networks",
        "capacitors[5]",
    }
    to_do = {path for path, (kind, _) in found.items() if kind == "to do"}
    assert to_do == {
        "services[0].params.separate_instance_quotas.flavor_name_selection[0]",
        "services[0].rate_limits",
        "services[1].params",
        "quota_overrides_path",
        "database.url",
    }
    assert "category: hana" in found["services[0].params.separate_instance_quotas.flavor_name_selection[0]"][1]
    assert "type: liquid" in found["services[6]"][1]
    assert found["capacitors[0].params.pooled_ram_resource"][0] == "changed"


def test_no_value_gets_lost_without_a_note(original: dict[str, Any]) -> None:
    """Each leaf of the original is in ours, or below a path that a note names."""
    result = converted(original)
    kept = set(leaves(result.document))
    named = [note.path for note in result.notes]
    lost = [
        (path, value)
        for path, value in paths(original)
        if value not in kept and not any(path == one or path.startswith((f"{one}.", f"{one}[")) for one in named)
    ]
    assert lost == []


def leaves(value: dict[str, Any]) -> list[Any]:
    return [leaf for _, leaf in paths(value)]


def paths(value: dict[str, Any], path: str = "") -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths(item, f"{path}[{index}]")
    else:
        yield path, value


def test_what_the_original_does_not_know(original: dict[str, Any]) -> None:
    original["surprise"] = 1
    original["services"][0]["params"]["surprise"] = 2
    original["services"][1] |= {"type": "nowhere", "more": 3}
    original["capacitors"][3]["params"]["surprise"] = 4
    original["quota_distribution_configs"][1]["autogrow"]["surprise"] = 5
    found = notes(original)
    autogrow = "quota_distribution_configs[1].autogrow.surprise"
    params = ("services[0].params.surprise", "capacitors[3].params.surprise")
    for path in ("surprise", *params, "services[1].more", autogrow):
        assert found[path] == ("dropped", "the original has no such key; nothing reads it here")
    assert "network (type nowhere): the original has no such plugin, either" in found["services[1]"][1]


def test_autogrow_as_it_came_to_be(original: dict[str, Any]) -> None:
    """Later releases say how long overcommit is allowed; and only their model autogrow has anything to override."""
    later = original["quota_distribution_configs"][1]["autogrow"]
    later["allow_quota_overcommit_until_allocated_percent"] = 95
    result = converted(original)
    assert result.problems == ()
    assert result.document["quota_distribution_configs"][1]["autogrow"] == later
    del original["quota_distribution_configs"][1]
    assert "quota_overrides_path" not in notes(original)


@pytest.mark.parametrize(
    ("key", "value"), [("growth_multiplier", 0.9), ("usage_data_retention_period", "0s"), ("project_base_quota", -1)]
)
def test_autogrow_that_cannot_be_used(original: dict[str, Any], key: str, value: Any) -> None:
    original["quota_distribution_configs"][1]["autogrow"][key] = value
    (problem,) = converted(original).problems
    assert problem.startswith(f"quota_distribution_configs[1].autogrow.{key}: ")


def test_mistakes_of_the_original_are_said(original: dict[str, Any]) -> None:
    original["availability_zones"] = []
    original["capacitors"][0]["params"]["hypervisor_selection"] = {}
    problems = converted(original).problems
    assert any("availability_zones: at least one is needed" in one for one in problems)
    assert any("aggregate_name_pattern: missing" in one for one in problems)


@pytest.mark.parametrize("document", [None, [], {"availability_zones": []}])
def test_something_else(document: list[Any] | dict[str, Any] | None) -> None:
    with pytest.raises(ConfigError, match="expected a configuration of the Go Limes"):
        convert(document, Path(), backend_problems)


def test_the_original_is_not_changed(original: dict[str, Any]) -> None:
    converted(original)
    assert original == read_yaml(ORIGINAL)
