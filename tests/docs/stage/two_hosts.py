"""The stage of docs/guides/two-hosts.md: its machines, and the steps of the guide played on them."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.docs.blocks import ROOT
from tests.docs.stage import guide
from tests.docs.stage.database import Database
from tests.docs.stage.machine import Machine, unit_of
from tests.docs.stage.names import HOSTS, NOVA_PASSWORD, Ports, names_of_all, names_of_host
from tests.support.keystone_server import ADMIN_PASSWORD
from tests.support.nova import start_nova
from tests.support.postgres import PostgresServer
from tests.support.processes import ServerProcess, http_answers
from tests.support.programs import programs
from tests.support.real import RealVenv

_NGINX = """\
pid {root}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {root}/body;
    proxy_temp_path {root}/proxy;
    fastcgi_temp_path {root}/fastcgi;
    uwsgi_temp_path {root}/uwsgi;
    scgi_temp_path {root}/scgi;
    include conf.d/*.conf;
}}
"""
"""What Debian's own file does, in the machine's folder."""


class OneShot(ServerProcess):
    """A service that has started when it has ended well."""

    def start(self) -> "OneShot":
        """Runs it. Raises `AssertionError` with what it says if it fails."""
        done = subprocess.run(self.command, env=self._env, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stdout + done.stderr
        return self


class TwoHosts:
    """Everything that the guide works on. Nothing has been done yet."""

    def __init__(self, folder: Path, keystone_url: str, venv: RealVenv, postgres: PostgresServer) -> None:
        self.folder = folder
        self.ports = Ports()
        self._keystone_url, self._venv, self._postgres = keystone_url, venv, postgres
        (folder / "db.example.com").mkdir()
        self.database = Database(folder / "db.example.com")
        self._programs = programs(folder, folder / "bin").start()
        self.machines = {"workstation": self._machine("workstation"), "db": self._machine("db.example.com")}
        self.machines |= {"proxy": self._machine("cloud.example.com"), "nova": self._machine("nova.example.com")}
        self.machines |= {name: self._host(name, address) for name, address in HOSTS.items()}
        for path in ("haproxy", "nginx/conf.d"):  # as Debian's packages do
            (self.machines["proxy"].root / "etc" / path).mkdir(parents=True)
        self._databases: list[str] = []
        self._nova: ServerProcess | None = None

    # -- machines ----------------------------------------------------------------------------------------------------

    @property
    def api_url(self) -> str:
        """Of Limes, as clients know it."""
        return f"https://localhost:{self.ports.proxy_api}"

    @property
    def placement_url(self) -> str:
        """Of Placement, as clients know it."""
        return f"https://localhost:{self.ports.proxy_placement}"

    @property
    def authority(self) -> str:
        """The file with the certificate that all others are signed by."""
        return str(self.machines["workstation"].home / "ca.pem")

    def _machine(self, name: str, names: Mapping[str, str] | None = None) -> Machine:
        env = {
            "PATH": os.pathsep.join([str(self.folder / "bin"), str(self.database.binaries), os.environ["PATH"]]),
            "STAGE_PGHOST": str(self.database.socket_folder),
            "STAGE_PGPORT": str(self.database.port),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "120",
            "OS_AUTH_URL": self._keystone_url,
            "OS_USERNAME": "admin",
            "OS_PASSWORD": ADMIN_PASSWORD,
            "OS_PROJECT_NAME": "admin",
            "OS_USER_DOMAIN_ID": "default",
            "OS_PROJECT_DOMAIN_ID": "default",
            "OS_IDENTITY_API_VERSION": "3",
        }
        common = names_of_all(self.ports, self._keystone_url, self.database.port)
        return Machine(self.folder / name, {**(names or {}), **common}, env, self._service)

    def _host(self, name: str, address: str) -> Machine:
        machine = self._machine(f"{name}.example.com", names_of_host(self.ports, address))
        program = machine.root / "opt" / "limes" / "bin" / "limes"
        program.parent.mkdir(parents=True)
        config = f"{machine.root}/etc/limes/limes.yaml"
        program.write_text(f'#!/bin/sh\nexport LIMES_CONFIG={config}\nexec {sys.executable} -m limes "$@"\n')
        program.chmod(0o755)
        shutil.copytree(ROOT / "config" / "systemd", machine.root / "opt" / "limes" / "share" / "limes" / "systemd")
        (machine.root / "etc" / "systemd" / "system").mkdir(parents=True)
        return machine

    # -- services ----------------------------------------------------------------------------------------------------

    def _service(self, machine: Machine, name: str) -> ServerProcess:
        if name == "postgresql":
            return self.database.process()
        if name == "haproxy":
            config = machine.root / "etc" / "haproxy" / "haproxy.cfg"
            return self._proxy(machine, name, ["haproxy", "-db", "-f", str(config)])
        if name == "nginx":
            return self._proxy(machine, name, [*self.nginx(machine), "-g", "daemon off;"])
        command, env = unit_of(machine, name)
        urls = {
            "limes-api": f"{self._address(machine)}:{self.ports.api}",
            "limes-placement": f"{self._address(machine)}:{self.ports.placement}",
            "limes-collector": f"{self._address(machine)}:{self.ports.collector}",
        }
        kind: type[ServerProcess] = OneShot if name == "limes-upgrade" else ServerProcess
        ready = http_answers(f"http://{urls.get(name)}/healthcheck")
        return kind(command, ready=ready, log=machine.root / f"{name}.log", env={**env, "PYTHONPATH": str(ROOT)})

    def _address(self, machine: Machine) -> str:
        return next(address for name, address in HOSTS.items() if machine is self.machines[name])

    def _proxy(self, machine: Machine, name: str, command: list[str]) -> ServerProcess:
        path = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
        ready = self.proxy_answers
        assert not ready(), "another proxy is still there"
        return ServerProcess(command, ready=ready, log=machine.root / f"{name}.log", env={"PATH": path})

    def proxy_answers(self) -> bool:
        """Whether both of its ports let us through to a host."""
        ports = (self.ports.proxy_api, self.ports.proxy_placement)
        urls = [f"https://127.0.0.1:{port}/healthcheck" for port in ports]
        checks = [subprocess.run(["curl", "-sfk", "-m", "20", url], capture_output=True) for url in urls]
        return all(check.stdout.strip() == b"ok" for check in checks)

    def nginx(self, machine: Machine) -> list[str]:
        """The command that starts it in a machine's folder."""
        folder = machine.root / "etc" / "nginx"
        (folder / "nginx.conf").write_text(_NGINX.format(root=machine.root))
        return ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]

    @property
    def has_nova(self) -> bool:
        """Whether the guide has come to Nova."""
        return self._nova is not None

    def _start_nova(self) -> None:
        """A Nova with one compute node, and the section of the guide in its configuration."""
        folder = self.machines["nova"].root
        shutil.copy(self.authority, folder / "etc" / "nova" / "ca.pem")

        def new_database() -> str:
            self._databases.append(self._postgres.create_database())
            return self._postgres.url(self._databases[-1])

        login = {
            "auth_url": self._keystone_url,
            "username": "nova",
            "password": NOVA_PASSWORD,
            "user_domain_name": "Default",
            "project_name": "service",
            "project_domain_name": "Default",
        }
        section = (folder / "etc" / "nova" / "placement.conf").read_text()
        section += "[service_user]\nsend_service_user_token = true\n"  # nova-status asks for it
        nova = start_nova(
            self._venv,
            folder / "nova",
            login,
            new_database,
            port=self.ports.nova,
            placement=section,
            hosts=["compute1"],
        )
        self._nova = nova.process
        program = self.folder / "bin" / "nova-status"
        config = folder / "nova" / "nova.conf"
        program.write_text(f'#!/bin/sh\nexec {self._venv.bin("nova-status")} --config-file {config} "$@"\n')
        program.chmod(0o755)

    # -- steps -------------------------------------------------------------------------------------------------------

    def steps(self, condition: str = "", section: str = "") -> None:
        """Plays those of the guide, each on its machine or machines; see `guide.steps`."""
        for block in guide.steps(condition, section):
            where = block.marks["on"]
            for name in HOSTS if where == "both" else [where]:
                guide.play(block, self.machines[name])
            if where == "nova" and "file" in block.marks:
                self._start_nova()

    def close(self) -> None:
        """Ends everything, in the order in which it needs each other."""
        if self._nova is not None:
            self._nova.stop()
        for name in ("proxy", *HOSTS, "nova", "workstation", "db"):
            self.machines[name].close()
        self._programs.stop()
        for name in self._databases:
            self._postgres.drop_database(name)


@contextlib.contextmanager
def two_hosts(folder: Path, keystone_url: str, venv: RealVenv, postgres: PostgresServer) -> Iterator[TwoHosts]:
    """The stage, empty but for Keystone, and for what the guide takes for granted: a project, and Nova with its user."""
    stage = TwoHosts(folder, keystone_url, venv, postgres)
    try:
        stage.machines["db"].systemctl("start", "postgresql")
        stage.machines["workstation"].run(
            "openstack project create --domain Default service\n"
            f"openstack user create --domain Default --password {NOVA_PASSWORD} nova\n"
            "openstack role create --or-show service\n"
            "openstack role add --user nova --project service admin\n"
            "openstack service create --name nova compute\n"
            "for interface in public internal; do\n"
            f"  openstack endpoint create --region RegionOne compute $interface http://127.0.0.1:{stage.ports.nova}/v2.1\n"
            "done\n"
        )
        yield stage
    finally:
        stage.close()
