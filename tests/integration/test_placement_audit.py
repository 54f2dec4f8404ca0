"""`limes placement audit` with a real Keystone, which knows best which projects are gone."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.app.cli import build_parser, main
from limes.db.engine import Engine
from limes.kernel.system import SystemClock
from limes.placement.migrations import placement_migrations
from limes.placement.objects.vocabulary import prepare
from tests.placement.world import World, all_rows, claim, uuid_of
from tests.support.databases import MigratedUrlFactory
from tests.support.keystone import RealKeystone
from tests.support.rows import changes


@pytest.fixture
def url(database_url_with: MigratedUrlFactory) -> str:
    return database_url_with(placement_migrations)


@pytest.fixture
def world(url: str) -> Iterator[World]:
    engine = Engine(url)
    prepare(engine, SystemClock())
    world = World(engine)
    world.provider("node", VCPU=8)
    yield world
    engine.close()


def server(world: World, name: str, project: str) -> None:
    world.ok("PUT", f"/allocations/{uuid_of(name)}", claim(None, project=project, node={"VCPU": 2}))


@pytest.fixture
def vanished(keystone: RealKeystone) -> str:
    """The id of a project that was deleted a moment ago."""
    name = f"audit-{uuid.uuid4()}"
    project_id = keystone.create_project(name, "north")
    keystone.delete_project(name)
    return project_id


class Command:
    """Runs `limes placement audit` in this process, on the database at `url`."""

    def __init__(self, folder: Path, url: str, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self._config = folder / "limes.yaml"
        self._url = url
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def configure(self, login: dict[str, str], discovery: Any = None) -> None:
        """Writes the configuration file."""
        self._monkeypatch.setenv("LIMES_IDENTITY_PASSWORD", login["password"])
        document = {
            "availability_zones": ["az-one"],
            "discovery": discovery or {"method": "list", "only_domains": "^none of them$"},
            "services": [
                {"service_type": "x", "type": "static", "params": {"area": "x", "resources": {"things": {"usage": 0}}}}
            ],
            "database": {"url": self._url},
            "identity": {
                "keystone": {"region_name": "RegionOne", **{k: v for k, v in login.items() if k != "password"}}
            },
        }
        self._config.write_text(yaml.safe_dump(document))

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        code = main(["placement", "audit", "--config", str(self._config), *arguments])
        out, err = self._capsys.readouterr()
        return code, out, err


@pytest.fixture
def command(tmp_path: Path, url: str, keystone: RealKeystone, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("LIMES_CONFIG", "")
    command = Command(tmp_path, url, capsys, monkeypatch)
    command.configure(keystone.credentials("limes"))
    return command


def rows_of(out: str) -> list[list[str]]:
    """The words of all lines but rules and the last one, which counts."""
    lines = [line.split() for line in out.splitlines()[:-1]]
    return [words for words in lines if words and set(words[0]) != {"─"}]


def test_dry_run_and_repair(command: Command, world: World, keystone: RealKeystone, vanished: str) -> None:
    server(world, "alive", keystone.ids.projects["berlin"])
    server(world, "dead", vanished)
    before = all_rows(world.engine)
    code, out, err = command()
    assert code == 1
    assert rows_of(out) == [
        ["Consumers", "of", "the", "vanished", "project", vanished],
        ["Consumer", "Type", "Resources", "Outcome"],
        [uuid_of("dead"), "INSTANCE", "2", "VCPU", "deletable"],
    ]
    assert out.splitlines()[-1] == (
        "1 consumer of 1 vanished project, 0 consumers without allocations, 0 inventories over capacity; 1 left."
    )
    assert "Nothing was changed" in err
    assert changes(before, all_rows(world.engine)) == {}

    code, out, err = command("--repair")
    assert (code, err) == (0, "")
    assert rows_of(out)[-1] == [uuid_of("dead"), "INSTANCE", "2", "VCPU", "deleted"]
    assert out.splitlines()[-1].endswith("; 0 left.")
    gone = changes(before, all_rows(world.engine))
    assert set(gone) == {"consumers", "allocations"}
    assert [row[0] for row in gone["consumers"][0]] == [uuid_of("dead")]

    assert command() == (
        0,
        "0 consumers of 0 vanished projects, 0 consumers without allocations, 0 inventories over capacity; 0 left.\n",
        "",
    )


def test_over_capacity_is_reported_and_never_touched(command: Command, world: World, keystone: RealKeystone) -> None:
    server(world, "alive", keystone.ids.projects["berlin"])
    world.inventories("node", VCPU=1)
    before = all_rows(world.engine)
    code, out, _ = command("--repair")
    assert code == 1
    assert rows_of(out)[1:] == [["Provider", "Class", "Used", "Capacity"], ["node", "VCPU", "2", "1"]]
    assert changes(before, all_rows(world.engine)) == {}


def test_for_programs(command: Command, world: World, keystone: RealKeystone, vanished: str) -> None:
    server(world, "alive", keystone.ids.projects["berlin"])
    server(world, "dead", vanished)
    world.inventories("node", VCPU=3)
    orphan = {"uuid": uuid_of("dead"), "project_id": vanished, "consumer_type": "INSTANCE", "resources": {"VCPU": 2}}
    excess = {"provider_uuid": uuid_of("node"), "provider_name": "node", "class_name": "VCPU", "used": 4, "capacity": 3}
    code, out, _ = command("--json")
    assert code == 1
    assert json.loads(out) == {
        "orphans": [orphan | {"outcome": "deletable"}],
        "idle": [],
        "excesses": [excess],
        "left": 2,
    }
    code, out, err = command("--json", "--repair")
    assert (code, err) == (0, "")
    # what was over capacity because of the orphan is not any more
    assert json.loads(out) == {"orphans": [orphan | {"outcome": "deleted"}], "idle": [], "excesses": [], "left": 0}
    code, out, _ = command("--json")
    assert (code, json.loads(out)) == (0, {"orphans": [], "idle": [], "excesses": [], "left": 0})


def test_a_login_that_may_not_list_everything_deletes_nothing(
    command: Command, world: World, keystone: RealKeystone, vanished: str
) -> None:
    server(world, "dead", vanished)
    command.configure(keystone.credentials("berlin-admin", "berlin"))
    before = all_rows(world.engine)
    code, out, err = command("--repair")
    assert (code, out) == (2, "")
    assert err.startswith("limes: ")
    assert "403" in err
    assert changes(before, all_rows(world.engine)) == {}


def test_a_keystone_that_does_not_answer_deletes_nothing(
    command: Command, world: World, own_keystone: RealKeystone, vanished: str
) -> None:
    server(world, "dead", vanished)
    command.configure(own_keystone.credentials("limes"))
    own_keystone.server.process.stop()
    before = all_rows(world.engine)
    code, out, err = command("--repair")
    assert (code, out) == (2, "")
    assert err.startswith("limes: ")
    assert changes(before, all_rows(world.engine)) == {}


def test_keystone_has_the_last_word(command: Command, world: World, keystone: RealKeystone, vanished: str) -> None:
    """Discovery finds only one project, but berlin is there: only what is gone from Keystone as well is an orphan."""
    domain = {"id": "d", "name": "d", "projects": [{"id": "p", "name": "p", "parent_id": "d"}]}
    command.configure(keystone.credentials("limes"), {"method": "static", "params": {"domains": [domain]}})
    server(world, "alive", keystone.ids.projects["berlin"])
    server(world, "dead", vanished)
    code, out, _ = command("--repair")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line.rstrip().endswith(" deleted")] == [uuid_of("dead")]
    assert [row[0] for row in all_rows(world.engine)["consumers"]] == [uuid_of("alive")]


@pytest.mark.parametrize(
    "arguments", [["placement", "--config", "x", "audit"], ["placement", "audit", "--config", "x"]]
)
def test_the_configuration_may_be_named_before_or_after(arguments: list[str]) -> None:
    options = build_parser().parse_args(arguments)
    assert options.config == "x"
    assert options.run.__module__ == "limes.app.commands.placement_audit"


def test_without_an_action_it_serves() -> None:
    options = build_parser().parse_args(["placement", "--config", "x"])
    assert (options.process, options.run.__module__) == ("placement", "limes.app.commands.processes")
