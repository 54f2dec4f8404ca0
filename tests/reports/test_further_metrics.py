"""Metrics of sums over domains, of what the configuration says, and of what plugins list."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import AZCapacity, AZUsage
from limes.catalog.catalog import AutogrowRule, BehaviorRule, DistributionRule
from limes.quota.constraints import parse_overrides
from limes.reports import project_figures
from tests.collector.lab import Lab
from tests.commitments.in_lab import YEAR, add
from tests.reports.test_data_metrics import OTHERS, samples, value

CORES = {"service": "compute", "resource": "cores"}
RAM = {"service": "compute", "resource": "ram"}
BERLIN = {"domain_id": "d-germany", "project_id": "p-berlin"}
NAMES = {"domain": "germany", "project": "berlin"}


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    rules = [
        DistributionRule(re.compile("compute/cores"), "autogrow", autogrow=AutogrowRule(1.2, overcommit_until=0.29)),
        DistributionRule(re.compile("compute/ram"), "autogrow", autogrow=AutogrowRule(2, overcommit=True)),
    ]
    durations = BehaviorRule(resource="compute/.*", commitment_durations=("1 year", "3 years", "1 year"))
    lab = make_lab(catalog_options={"distributions": rules, "behaviors": [durations]})
    lab.discover()
    return lab


def test_every_family_has_its_labels(lab: Lab) -> None:
    fill(lab)
    overrides = parse_overrides({"germany": {"berlin": {"compute": {"cores": 7}}}}, lab.catalog)
    found = samples(lab, overrides=lambda: overrides, plugins={"compute": "compute", "volume": "object-store"})
    for name, (labels, _) in OTHERS.items():
        assert {frozenset(dict(pairs)) for sample, pairs in found if sample == name} <= {frozenset(labels)}, name


def test_quota_that_follows_usage(lab: Lab) -> None:
    found = samples(lab)
    assert value(found, "limes_autogrow_growth_multiplier", **CORES) == 1.2
    assert value(found, "limes_autogrow_quota_overcommit_threshold_percent", **CORES) == 29
    assert value(found, "limes_autogrow_quota_overcommit_threshold_percent", **RAM) == float("inf")
    volumes = {"service": "volume", "resource": "capacity"}
    assert value(found, "limes_autogrow_growth_multiplier", **volumes) is None
    for duration in ("1 year", "3 years"):
        assert value(found, "limes_available_commitment_duration", duration=duration, **RAM) == 1


def test_overrides_of_projects_that_exist(lab: Lab) -> None:
    document = {"germany": {"berlin": {"compute": {"cores": 7}}, "atlantis": {"compute": {"cores": 8}}}}
    overrides = parse_overrides(document, lab.catalog)
    found = samples(lab, overrides=lambda: overrides)
    shown = {key: amount for key, amount in found.items() if key[0] == "limes_project_override_quota_from_config"}
    assert list(shown.values()) == [7]
    assert value(found, "limes_project_override_quota_from_config", **BERLIN, **NAMES, **CORES) == 7


def server(hypervisor: str | None) -> dict[str, Any]:
    return {"id": "s", "name": "s"} | ({} if hypervisor is None else {"hypervisor": hypervisor})


def hypervisor(number: int, az: str, **more: str) -> dict[str, Any]:
    return {"service_host": f"host{number}", "aggregate": "vc", "az": az, "capacity": 1, **more}


def fill(lab: Lab) -> None:
    """`ram` and `capacity` stand for the resources that the plugins list."""
    servers = {"az-one": [server("kvm"), server("vmware")], "az-two": [server("kvm"), server(None)]}
    lab.compute.usage["berlin"] = {
        "ram": {az: AZUsage(2, None, tuple(listed)) for az, listed in servers.items()},
        "cores": {"az-one": AZUsage(2, None, (server("kvm"),))},
    }
    containers = ({"name": 'odd "name"', "objects": 3, "size_bytes": 4096}, {"name": "old", "size": {"value": 1}})
    lab.volume.usage["berlin"] = {"capacity": {"any": AZUsage(2, None, containers)}}
    some = (hypervisor(1, "az-one", hypervisor_hostname="host1.cloud"), {"pool_name": "a", "az": "az-one"})
    lab.capacitors["nova"].capacity = {
        "compute": {
            name: {"az-one": AZCapacity(1, None, some), "mars": AZCapacity(1, None, (hypervisor(2, "mars"),))}
            for name in ("cores", "ram")
        }
    }
    lab.scrape_all()
    lab.scrape_all("volume")
    lab.scrape_capacity()


@pytest.fixture
def listed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Any:
    fill(lab)
    monkeypatch.setitem(project_figures.LISTED, "compute", "ram")
    monkeypatch.setitem(project_figures.LISTED, "object-store", "capacity")
    return samples(lab, plugins={"compute": "compute", "volume": "object-store"})


def test_servers_are_counted_by_hypervisor_over_all_zones_and_once(listed: Any) -> None:
    assert value(listed, "limes_instance_counts", **BERLIN, hypervisor="kvm") == 2
    assert value(listed, "limes_instance_counts", **BERLIN, hypervisor="vmware") == 1
    assert len([key for key in listed if key[0] == "limes_instance_counts"]) == 2


def test_containers(listed: Any) -> None:
    odd = {**BERLIN, "container_name": 'odd "name"'}
    assert value(listed, "limes_swift_objects_per_container", **odd) == 3
    assert value(listed, "limes_swift_size_bytes_per_container", **odd) == 4096
    assert len([key for key in listed if key[0].startswith("limes_swift")]) == 2, "what is not understood is left out"


def test_hypervisors_are_there_once(listed: Any) -> None:
    names = {"hypervisor": "host1", "hostname": "host1.cloud", "aggregate": "vc", "az": "az-one"}
    assert value(listed, "limes_nova_hypervisor_is_wellformed", **names) == 1
    names = {"hypervisor": "host2", "hostname": "host2", "aggregate": "vc", "az": "mars"}
    assert value(listed, "limes_nova_hypervisor_is_wellformed", **names) == 0
    assert len([key for key in listed if key[0] == "limes_nova_hypervisor_is_wellformed"]) == 2


def test_without_the_plugins_nothing_is_listed(lab: Lab) -> None:
    fill(lab)
    assert not [name for name, _ in samples(lab) if name.startswith(("limes_swift", "limes_instance"))]


def commit(lab: Lab) -> None:
    lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(30), "az-two": AZUsage(4)}}
    lab.compute.usage["dresden"] = {"cores": {"az-one": AZUsage(5)}}
    lab.compute.usage["paris"] = {"cores": {"az-one": AZUsage(6)}, "ram": {"any": AZUsage(100)}}
    lab.scrape_all()
    add(lab, 1, 20, status="confirmed")
    add(lab, 2, 15, status="confirmed")
    add(lab, 3, 50, project="dresden", status="confirmed")
    add(lab, 4, 7, project="dresden", status="pending")
    add(lab, 5, 9, project="paris", status="planned")
    add(lab, 6, 3, project="paris", status="confirmed", az="az-two")


def test_domains_are_the_sums_of_their_projects(lab: Lab) -> None:
    commit(lab)
    found = samples(lab, clock=lab.clock)
    germany = {**CORES, "domain": "germany", "domain_id": "d-germany", "availability_zone": "az-one"}
    assert value(found, "limes_domain_usage_per_az", **germany) == 35
    assert value(found, "limes_domain_committed_per_az", **germany, state="active") == 85
    assert value(found, "limes_domain_committed_per_az", **germany, state="pending") == 7
    assert value(found, "limes_domain_used_and_or_committed_per_az", **germany) == 35 + 50
    for kind in ("usage", "committed", "used_and_or_committed"):
        of_projects: Counter[Any] = Counter()
        for (name, pairs), amount in found.items():
            if name == f"limes_project_{kind}_per_az":
                of_domain = {key: label for key, label in pairs if key not in ("project", "project_id")}
                of_projects[frozenset(of_domain.items())] += int(amount)
        domains = {pairs: amount for (name, pairs), amount in found.items() if name == f"limes_domain_{kind}_per_az"}
        assert {key: amount for key, amount in domains.items() if amount} == +of_projects, kind


def test_what_has_ended_does_not_count(lab: Lab) -> None:
    commit(lab)
    lab.clock.advance(YEAR + 1)
    found = samples(lab, clock=lab.clock)
    assert "limes_domain_committed_per_az" not in {name for name, _ in found}
    germany = {**CORES, "domain": "germany", "domain_id": "d-germany", "availability_zone": "az-one"}
    assert value(found, "limes_domain_used_and_or_committed_per_az", **germany) == 35


def test_single_projects_can_be_left_out(lab: Lab) -> None:
    commit(lab)
    fill(lab)
    everything, sums = (
        set(samples(lab, clock=lab.clock, projects=shown)) for shown in (project_figures.ProjectFigures(), None)
    )
    assert sums < everything
    assert {name for name, pairs in everything - sums} == {
        name for name, pairs in everything if "project_id" in dict(pairs)
    }
