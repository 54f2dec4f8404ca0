"""A real Cinder from PyPI (API, scheduler, two backends with a driver that stores nothing) on SQLite."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.openstack_conf import keystone_authtoken
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

_APPS = Path(__file__).parent / "apps"

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
rpc_response_timeout = 20
[database]
connection = sqlite:///{folder}/cinder.db?timeout=30
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
        timeout=120,
    )
    return RealCinder(url, process.start())
