"""A real Cinder from PyPI (API, scheduler, two backends with a driver that stores nothing) on SQLite."""

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from keystoneauth1.adapter import Adapter
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from tests.support.keystone import RealKeystone
from tests.support.openstack_conf import keystone_authtoken
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

_APPS = Path(__file__).parent / "apps"

# However busy the machine is, no service counts as down, and no call over the bus is given up.
_CONFIG = """\
[DEFAULT]
log_file = {folder}/cinder.log
use_stderr = false
transport_url = fake:/
state_path = {folder}/state
api_paste_config = {paste}
auth_strategy = keystone
enabled_backends = fast,slow
host = h1
scheduler_driver_init_wait_time = 1
rpc_response_timeout = 120
report_interval = 2
service_down_time = 86400
[database]
connection = sqlite:///{folder}/cinder.db?timeout=200
[oslo_concurrency]
lock_path = {folder}/locks
[coordination]
backend_url = file://{folder}/coordination
[key_manager]
backend = cinder.keymgr.conf_key_mgr.ConfKeyManager
[fast]
volume_driver = fake_volume_driver.FakeDriver
volume_backend_name = fast
backend_availability_zone = az-one
fake_total_gb = 1000
[slow]
volume_driver = fake_volume_driver.FakeDriver
volume_backend_name = slow
backend_availability_zone = az-two
fake_total_gb = 5000
"""


@dataclass(frozen=True)
class RealCinder:
    """A running server. `url` is its address without version and project."""

    url: str
    process: ServerProcess

    def make_types(self, keystone: RealKeystone) -> None:
        """Makes a volume type for each backend, and waits until both backends have reported their pools."""
        api = Adapter(Session(v3.Password(**keystone.credentials("limes"))), service_type="block-storage")
        for name in ("fast", "slow"):
            specs = {"volume_backend_name": name}
            api.post("/types", json={"volume_type": {"name": name, "extra_specs": specs}})
        deadline = time.monotonic() + 240
        while (
            len(api.get("/scheduler-stats/get_pools").json()["pools"]) < 2
            or len(api.get("/os-services?binary=cinder-volume").json()["services"]) < 2
        ):
            assert time.monotonic() < deadline, "the backends have not reported their pools"
            time.sleep(0.3)


def start_cinder(venv: RealVenv, folder: Path, credentials: Mapping[str, str]) -> RealCinder:
    """Starts everything in `folder`: backend `fast` in az-one, `slow` in az-two. `credentials` are a service user's."""
    folder.mkdir(parents=True, exist_ok=True)
    paste = venv.folder / "etc" / "cinder" / "api-paste.ini"
    file = folder / "cinder.conf"
    file.write_text(_CONFIG.format(folder=folder, paste=paste) + keystone_authtoken(credentials))
    env = {"PYTHONPATH": "", "PYTHONWARNINGS": "ignore"}
    with (folder / "db.log").open("wb") as log:
        command = [venv.bin("cinder-manage"), "--config-file", file, "db", "sync"]
        subprocess.run(command, check=True, env=env, stdout=log, stderr=log, cwd=folder, timeout=300)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = ServerProcess(
        [venv.bin("python"), _APPS / "real_cinder.py", file, str(port)],
        ready=http_answers(url),
        log=folder / "server.log",
        env=env,
        cwd=folder,
        timeout=240,
    )
    return RealCinder(url, process.start())
