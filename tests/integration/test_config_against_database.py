"""`limes config check --against-database`: what a change of the configuration drops, before a collector starts with it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import structs

from limes.app.cli import main
from limes.catalog.catalog import Catalog, ServiceDef
from limes.collector.sync_catalog import sync_catalog
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.api.world import SERVICES, World, make_world
from tests.commitments.commitments import BEHAVIORS, commit
from tests.support.databases import MigratedUrlFactory
from tests.support.limes import with_values
from tests.support.rows import all_rows, changes

SAMPLE = {
    "own_token": "limes",
    "domains": [{"name": "d", "id": "d"}],
    "projects": [{"name": "p", "id": "p", "domain": "d"}],
    "users": [{"name": "limes", "domain": "d", "assignments": [{"project": "p", "roles": ["admin"]}]}],
    "tokens": [{"token": "limes", "user": "limes", "project": "p"}],
}
PROJECT = {"id": "p", "name": "p", "parent_id": "d"}
CORES = {"quota": 20, "usage": {"az-one": 2}}
WHOLE = {
    "compute": {"area": "compute", "resources": {"cores": CORES, "ram": {**CORES, "unit": "MiB"}, "gpus": CORES}},
    "volume": {"area": "storage", "resources": {"capacity": {**CORES, "unit": "GiB"}}},
}


@pytest.fixture
def world(database_url_with: MigratedUrlFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """The small cloud with two commitments, of which one is in az-two, which the configurations below do not have."""
    url = database_url_with(limes_migrations)
    engine = Engine(url)
    monkeypatch.setenv("LIMES_CONFIG", "")
    monkeypatch.setenv("LIMES_DATABASE_URL", url)
    world = make_world(engine, behaviors=BEHAVIORS)
    commit(world, amount=4, availability_zone="az-two", duration="1 year")
    with engine.connection():  # the clock of these commitments is not that of the command
        engine.execute("UPDATE project_commitments SET expires_at = 4102444800")
    yield world
    engine.close()


def sync_with(world: World, catalog: Catalog) -> None:
    """A collector with this configuration starts."""
    settings = with_values(world.limes.settings, {"collector.service_grace": 86400})
    sync_catalog(structs.replace(world.limes, catalog=catalog, settings=settings), prune=True)


@pytest.fixture
def check(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs the command with a configuration of these services and availability zones."""

    def run(
        services: Any, azs: tuple[str, str] = ("az-one", "az-two"), *options: Any, **sections: Any
    ) -> tuple[int, Any, Any]:
        document = {
            "availability_zones": list(azs),
            "discovery": {"method": "static", "params": {"domains": [{"id": "d", "name": "d", "projects": [PROJECT]}]}},
            "services": [
                {"service_type": type_, "type": "static", "params": params} for type_, params in services.items()
            ],
            "identity": {"method": "sample", "sample": SAMPLE},
            **sections,
        }
        path = tmp_path / "limes.yaml"
        path.write_text(yaml.safe_dump(document))
        before = all_rows(world.engine)
        code = main(["config", "check", "--against-database", "--config", str(path), *options])
        assert changes(before, all_rows(world.engine)) == {}
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_nothing_is_dropped(check: Callable[..., Any]) -> None:
    code, out, errors = check(WHOLE)
    assert (code, errors) == (0, "")
    assert out.splitlines()[1:] == ["It drops nothing that is in the database."]


AUTOGROW = {
    "quota_distribution_configs": [
        {
            "resource": "compute/cores",
            "model": "autogrow",
            "autogrow": {
                "growth_multiplier": 1.2,
                "usage_data_retention_period": "48h",
                "allow_quota_overcommit": True,
            },
        }
    ]
}


def test_a_model_that_changes(world: World, check: Callable[..., Any]) -> None:
    azs = ("az-one", "az-two")
    cores = "resource compute/cores: quota of domains 150, of 2 projects 50, usage 36, 1 commitment of 4"
    code, out, _ = check(WHOLE, azs, **AUTOGROW)
    assert code == 0
    assert out.splitlines()[1:] == [
        "It drops nothing that is in the database.",
        f"It changes the model of a resource from hierarchical to autogrow: {cores}",
        "  its quotas stay until the first computation; then they follow usage and commitments",
    ]
    [model] = json.loads(check(WHOLE, azs, "--json", **AUTOGROW)[1])["models"]
    assert (model["ref"], model["before"], model["after"]) == (["compute", "cores"], "hierarchical", "autogrow")
    with world.engine.connection():
        world.engine.execute("UPDATE resources SET quota_due_at = 1 WHERE name = 'cores'")
    assert check(WHOLE, azs, **AUTOGROW)[1].splitlines()[1:] == ["It drops nothing that is in the database."]
    assert check(WHOLE)[1].splitlines()[2:] == [
        f"It changes the model of a resource from autogrow to hierarchical: {cores}",
        "  the quotas of projects stay, and each domain gets their sum as its quota",
    ]


def test_a_service(check: Callable[..., Any]) -> None:
    code, out, _ = check({"compute": WHOLE["compute"]})
    assert code == 3
    assert out.splitlines()[1:4] == [
        "It drops what is in the database:",
        "service volume: 1 project has quota or usage, 0 commitments",
        "  resource volume/capacity: quota of domains 0, of 1 project 10, usage 3, 0 commitments of 0",
    ]
    assert out.splitlines()[4].startswith("  hidden at once; kept, and back with the service, at least until 20")
    assert len(out.splitlines()) == 5


def test_a_service_with_commitments_is_kept_until_they_end(check: Callable[..., Any]) -> None:
    code, out, _ = check({"volume": WHOLE["volume"]}, ["az-one", "az-two"], "--json")
    assert code == 3
    [service] = json.loads(out)["dropped"]["services"]
    assert service["type"] == "compute"
    assert (service["projects"], service["commitments"], service["missing_since"]) == (2, 1, None)
    assert service["deleted_at"] == 4102444800
    cores = next(one["holdings"] for one in service["resources"] if one["ref"] == ["compute", "cores"])
    assert cores == {
        "projects": 2, "projects_quota": 50, "usage": 36, "domains_quota": 150, "commitments": 1, "committed": 4,
    }  # fmt: skip


def test_a_resource_and_a_zone(check: Callable[..., Any]) -> None:
    resources = {name: one for name, one in WHOLE["compute"]["resources"].items() if name != "ram"}
    code, out, _ = check(WHOLE | {"compute": {"area": "compute", "resources": resources}}, ["az-one"])
    assert code == 3
    assert out.splitlines()[1:] == [
        "It drops what is in the database:",
        "resource compute/ram: quota of domains 4096, of 1 project 1024, usage 512, 0 commitments of 0",
        "  hidden at once; kept, and back with the resource",
        "availability zone az-two: used by 1 project, capacity of 1 resource, 1 commitment",
        '  usage and capacity go to the zone "unknown" with the next scrapes; commitments stay until they end',
    ]


def test_what_is_missing_already_is_said_but_is_no_reason_to_stop(world: World, check: Callable[..., Any]) -> None:
    catalog = Catalog(["az-one", "az-two"], [ServiceDef("compute", "compute", SERVICES[0].resources)])
    sync_with(world, catalog)
    code, out, _ = check({"compute": WHOLE["compute"]})
    assert code == 0
    assert out.splitlines()[1:] == [
        "It drops nothing that is in the database.",
        "Missing already: service volume: 1 project has quota or usage, 0 commitments",
        "  resource volume/capacity: quota of domains 0, of 1 project 10, usage 3, 0 commitments of 0",
        "  kept, and back with the service, at least until 2026-01-31 00:00 UTC",
    ]


@pytest.mark.parametrize("collector_has_run", [False, True])
def test_the_doctor_says_it_as_well(
    world: World, check: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path, collector_has_run: bool
) -> None:
    check({"compute": WHOLE["compute"]})
    main(["db", "upgrade", "--json", "--config", str(tmp_path / "limes.yaml")])
    if collector_has_run:
        catalog = Catalog(["az-one", "az-two"], [ServiceDef("compute", "compute", SERVICES[0].resources)])
        sync_with(world, catalog)
    capsys.readouterr()
    main(["doctor", "--only", "database", "--json", "--config", str(tmp_path / "limes.yaml")])
    found = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["check"].endswith(".catalog")]
    (volume,) = found
    assert volume["level"] == "warning"
    assert volume["message"].startswith(
        "service volume is not configured any more: 1 project has quota or usage, 0 commitments; kept until 20"
    )
    assert "collector.service_grace" in volume["mend"]
    check(WHOLE)
    main(["doctor", "--only", "database", "--json", "--config", str(tmp_path / "limes.yaml")])
    found = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["check"].endswith(".catalog")]
    assert [one["level"] for one in found] == ["ok"]


def test_a_configuration_that_is_wrong_is_not_compared(check: Callable[..., Any]) -> None:
    code, out, errors = check({"compute": {"area": "compute", "resources": {}}})
    assert (code, out) == (1, "")
    assert "services[0].params.resources" in errors
