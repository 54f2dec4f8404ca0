"""A real Glance from PyPI on SQLite, with images in files. Servers cannot be booted without an image."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.openstack_conf import keystone_authtoken
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

_CONFIG = """\
[DEFAULT]
log_file = {folder}/glance.log
use_stderr = false
transport_url = fake:/
enabled_backends = files:file
node_staging_uri = file://{folder}/staging
worker_self_reference_url = {url}
[database]
connection = sqlite:///{folder}/glance.db?timeout=200
[glance_store]
default_backend = files
[files]
filesystem_store_datadir = {folder}/images
[os_glance_staging_store]
filesystem_store_datadir = {folder}/staging
[os_glance_tasks_store]
filesystem_store_datadir = {folder}/tasks
[oslo_concurrency]
lock_path = {folder}/locks
[paste_deploy]
flavor = keystone
config_file = {paste}
"""


@dataclass(frozen=True)
class RealGlance:
    """A running server; `url` is what belongs into the catalog."""

    url: str
    process: ServerProcess


def start_glance(venv: RealVenv, folder: Path, credentials: Mapping[str, str]) -> RealGlance:
    """Starts a server in `folder`. `credentials` are a service user's password login."""
    for name in ("images", "staging", "tasks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    paste = venv.folder / "etc" / "glance" / "glance-api-paste.ini"
    config = _CONFIG.format(folder=folder, url=url, paste=paste) + keystone_authtoken(credentials)
    (folder / "glance-api.conf").write_text(config)
    env = {"OS_GLANCE_CONFIG_DIR": str(folder)}
    process = venv.gunicorn("real_glance:application", port, env=env, folder=folder, ready=http_answers(url))
    return RealGlance(url, process.start())
