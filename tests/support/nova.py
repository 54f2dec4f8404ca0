"""A real Nova from PyPI on PostgreSQL, all in one process, with computes whose hypervisor is a fake."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.openstack_conf import keystone_authtoken
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

_APP = Path(__file__).parent / "apps" / "real_nova.py"

_CONFIG = """\
[DEFAULT]
log_file = {folder}/nova.log
use_stderr = false
transport_url = fake:/
state_path = {folder}/state
host = control
compute_driver = fake.MediumFakeDriver
vif_plugging_is_fatal = false
vif_plugging_timeout = 0
allow_resize_to_same_host = true
rpc_response_timeout = 120
service_down_time = 86400
[api]
auth_strategy = keystone
max_limit = {page_size}
[api_database]
connection = {api}
[database]
connection = {cell1}
[oslo_concurrency]
lock_path = {folder}/locks
[cache]
enabled = false
[filter_scheduler]
track_instance_changes = false
[quota]
driver = {quota_driver}
"""

_LIMITS = """\
endpoint_service_type = compute
endpoint_region_name = RegionOne
"""


@dataclass(frozen=True)
class RealNova:
    """A running server; `url` is what belongs into the catalog."""

    url: str
    process: ServerProcess


def start_nova(
    venv: RealVenv,
    folder: Path,
    credentials: Mapping[str, str],
    database: Callable[[], str],
    *,
    placement_url: str = "",
    placement: str = "",
    port: int | None = None,
    hosts: Sequence[str] = (),
    page_size: int = 1000,
    quota_driver: str = "nova.quota.DbQuotaDriver",
) -> RealNova:
    """Starts a server in `folder`. `credentials` are a service user's password login, and `database` gives the URLs of
    fresh PostgreSQL databases. Without `hosts` it is the API alone; with them, Glance has to be in the catalog, and their
    names new to the Placement at `placement_url`, or to the one of its section `placement`. `page_size` is the most that
    a list has on a page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(venv.folder / "etc" / "nova" / "api-paste.ini", folder)
    api, cell0, cell1 = (database().replace("postgresql://", "postgresql+psycopg2://") for _ in range(3))
    config = _CONFIG.format(folder=folder, api=api, cell1=cell1, page_size=page_size, quota_driver=quota_driver)
    login = "".join(f"{key} = {value}\n" for key, value in credentials.items())
    sections = ["neutron", "glance", "cinder", "service_user"]
    config += "".join(f"[{section}]\nauth_type = password\nregion_name = RegionOne\n{login}" for section in sections)
    config += placement or (
        f"[placement]\nauth_type = password\nregion_name = RegionOne\n{login}endpoint_override = {placement_url}\n"
    )
    config += f"[oslo_limit]\nauth_type = password\n{_LIMITS}{login}"
    (folder / "nova.conf").write_text(config + keystone_authtoken(credentials))
    port = port or free_port()
    url = f"http://127.0.0.1:{port}/v2.1"
    env = {
        "NOVA_PORT": str(port),
        "NOVA_CELL0": cell0,
        "NOVA_HOSTS": " ".join(hosts),
        "PYTHONPATH": "",
        "PYTHONWARNINGS": "ignore",
    }
    process = ServerProcess(
        [venv.bin("python"), _APP, folder],
        ready=http_answers(url),
        log=folder / "output.log",
        env=env,
        cwd=folder,
        timeout=240,
    )
    return RealNova(url, process.start())
