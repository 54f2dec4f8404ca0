"""A real Swift from PyPI with two storage policies, gold and silver, each with one replica on one device."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.openstack_conf import keystone_authtoken
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

_APP = Path(__file__).parent / "apps" / "real_swift.py"

_SWIFT = """\
[swift-hash]
swift_hash_path_suffix = test
[storage-policy:0]
name = gold
default = yes
[storage-policy:1]
name = silver
"""

# Swift gives up a connection after half a second, and avoids a node that failed: nothing for a busy machine.
_STORAGE = """\
[DEFAULT]
devices = {folder}/devices
mount_check = false
swift_dir = {folder}
user = root
fallocate_reserve = 0
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
conn_timeout = 60
node_timeout = 60
container_update_timeout = 60
"""

_PROXY = """\
[DEFAULT]
swift_dir = {folder}
user = root
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats authtoken keystoneauth account-quotas proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
conn_timeout = 60
node_timeout = 60
recoverable_node_timeout = 60
error_suppression_limit = 1000000
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:account-quotas]
use = egg:swift#account_quotas
[filter:keystoneauth]
use = egg:swift#keystoneauth
operator_roles = admin, member
reseller_admin_role = cloud_resource_admin
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
delay_auth_decision = true
"""


@dataclass(frozen=True)
class RealSwift:
    """A running server. `url` is its address without version and account."""

    url: str
    process: ServerProcess


def start_swift(venv: RealVenv, folder: Path, credentials: Mapping[str, str]) -> RealSwift:
    """Starts all four servers in `folder`. `credentials` are a service user's password login."""
    ports = {name: free_port() for name in ("account", "container", "object", "proxy")}
    (folder / "devices" / "d1").mkdir(parents=True)
    (folder / "swift.conf").write_text(_SWIFT)
    for kind in ("account", "container", "object"):
        (folder / f"{kind}-server.conf").write_text(_STORAGE.format(folder=folder, kind=kind))
        _ring(venv, folder, kind, ports[kind])
    _ring(venv, folder, "object-1", ports["object"])
    filters = keystone_authtoken(credentials).splitlines()[1:]
    (folder / "proxy-server.conf").write_text(_PROXY.format(folder=folder) + "\n".join(filters) + "\n")
    url = f"http://127.0.0.1:{ports['proxy']}"
    process = ServerProcess(
        [venv.bin("python"), _APP, folder],
        ready=http_answers(f"{url}/healthcheck"),
        log=folder / "swift.log",
        env={"PYTHONPATH": "", "PYTHONWARNINGS": "ignore"}
        | {f"SWIFT_{name.upper()}_PORT": str(port) for name, port in ports.items()},
        cwd=folder,
    )
    return RealSwift(url, process.start())


def _ring(venv: RealVenv, folder: Path, name: str, port: int) -> None:
    builder = [venv.bin("swift-ring-builder"), f"{name}.builder"]
    for command in (["create", "4", "1", "0"], ["add", f"r1z1-127.0.0.1:{port}/d1", "100"], ["rebalance"]):
        # rebalance answers 1 for "warnings"
        subprocess.run([*builder, *command], cwd=folder, check=command[0] != "rebalance", capture_output=True)
