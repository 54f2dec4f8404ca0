"""A real Neutron from PyPI (ML2 without agents) on SQLite."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.openstack_conf import keystone_authtoken
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

_CONFIG = """\
[DEFAULT]
log_file = {folder}/neutron.log
use_stderr = false
transport_url = fake:/
state_path = {folder}/state
core_plugin = ml2
service_plugins = router
auth_strategy = keystone
api_paste_config = {paste}
notify_nova_on_port_status_changes = false
notify_nova_on_port_data_changes = false
[database]
connection = {database}
[oslo_concurrency]
lock_path = {folder}/locks
[ml2]
type_drivers = local,flat,vlan,vxlan
tenant_network_types = local
mechanism_drivers =
[quotas]
quota_driver = neutron.db.quota.driver_nolock.DbQuotaNoLockDriver
"""


@dataclass(frozen=True)
class RealNeutron:
    """A running server; `url` is what belongs into the catalog."""

    url: str
    process: ServerProcess


def start_neutron(venv: RealVenv, folder: Path, credentials: Mapping[str, str]) -> RealNeutron:
    """Starts a server in `folder`. `credentials` are a service user's password login."""
    folder.mkdir(parents=True, exist_ok=True)
    database = f"sqlite:///{folder}/neutron.db?timeout=200"
    paste = venv.folder / "etc" / "neutron" / "api-paste.ini"
    config = _CONFIG.format(folder=folder, database=database, paste=paste) + keystone_authtoken(credentials)
    (folder / "neutron.conf").write_text(config)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    env = {
        "OS_NEUTRON_CONFIG_DIR": str(folder),
        "OS_NEUTRON_CONFIG_FILES": "neutron.conf",
        "NEUTRON_DATABASE": database,
    }
    process = venv.gunicorn("real_neutron:application", port, env=env, folder=folder, ready=http_answers(url))
    return RealNeutron(url, process.start())
