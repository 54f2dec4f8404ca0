"""A real Keystone from PyPI on SQLite, served by gunicorn."""

import shutil
from pathlib import Path

from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

ADMIN_PASSWORD = "bootstrap-secret"

_CONFIG = """\
[DEFAULT]
log_file = {folder}/keystone.log
use_stderr = false
transport_url = fake:/
[database]
connection = sqlite:///{folder}/keystone.db?timeout=200
[auth]
methods = external,password,token,oauth1,mapped,application_credential,totp
[fernet_tokens]
key_repository = {folder}/fernet
[fernet_receipts]
key_repository = {folder}/fernet
[credential]
key_repository = {folder}/cred
[cache]
enabled = true
backend = dogpile.cache.memory
[identity]
password_hash_rounds = 4
[unified_limit]
enforcement_model = {enforcement_model}
"""


class KeystoneServer:
    """One server process and its folder. The first start also makes the database; see `apps/real_keystone.py`."""

    def __init__(self, venv: RealVenv, folder: Path, enforcement_model: str = "flat") -> None:
        self.folder = folder
        self._venv = venv
        self._enforcement_model = enforcement_model
        for name in ("fernet", "cred"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/v3"
        config = _CONFIG.format(folder=folder, enforcement_model=enforcement_model)
        (folder / "keystone.conf").write_text(config)
        self.process = self._server()

    def copy(self, folder: Path) -> "KeystoneServer":
        """Another server (not started) with a copy of this one's database and keys: tokens of one are good at both."""
        shutil.copytree(self.folder, folder)
        return KeystoneServer(self._venv, folder, self._enforcement_model)

    def _server(self) -> ServerProcess:
        env = {
            "OS_KEYSTONE_CONFIG_DIR": str(self.folder),
            "BOOTSTRAP_URL": self.url,
            "BOOTSTRAP_PASSWORD": ADMIN_PASSWORD,
        }
        ready = http_answers(self.url)
        return self._venv.gunicorn("real_keystone:application", self.port, env=env, folder=self.folder, ready=ready)
