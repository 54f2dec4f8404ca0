"""A real Manila from PyPI (API only: shares stay in the state `creating`, and count as usage) on SQLite."""

import sqlite3
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.openstack_conf import keystone_authtoken
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

_CONFIG = """\
[DEFAULT]
log_file = {folder}/manila.log
use_stderr = false
transport_url = fake:/
state_path = {folder}/state
api_paste_config = {paste}
auth_strategy = keystone
rpc_response_timeout = 3
default_share_type = gold
[database]
connection = {database}
[oslo_concurrency]
lock_path = {folder}/locks
"""


@dataclass(frozen=True)
class RealManila:
    """A running server. `url` is its address without version."""

    url: str
    process: ServerProcess
    database: Path

    def insert_share(self, project_id: str, share_type_id: str, az: str, size: int) -> str:
        """Puts a share into the database, as a scheduler and a share server would leave it. Answers its id."""
        share = str(uuid.uuid4())
        with sqlite3.connect(self.database, timeout=30) as db:
            db.execute("PRAGMA foreign_keys = off")
            zone = str(uuid.uuid4())
            db.execute(
                "INSERT OR IGNORE INTO availability_zones (id, name, created_at, deleted) VALUES (?, ?, '2026-01-01', 'False')",
                [zone, az],
            )
            zone = db.execute("SELECT id FROM availability_zones WHERE name = ?", [az]).fetchone()[0]
            db.execute(
                "INSERT INTO shares (id, user_id, project_id, size, display_name, share_proto, is_public, deleted,"
                " created_at, is_soft_deleted) VALUES (?, 'u', ?, ?, 's', 'NFS', 0, 'False', '2026-01-01', 0)",
                [share, project_id, size],
            )
            db.execute(
                "INSERT INTO share_instances (id, share_id, status, host, availability_zone_id, share_type_id, deleted,"
                " created_at, cast_rules_to_readonly, access_rules_status)"
                " VALUES (?, ?, 'available', 'h@b#p', ?, ?, 'False', '2026-01-01', 0, 'active')",
                [str(uuid.uuid4()), share, zone, share_type_id],
            )
        return share

    def insert_snapshot(self, project_id: str, share_id: str, size: int) -> None:
        """Puts a snapshot into the database."""
        snapshot = str(uuid.uuid4())
        with sqlite3.connect(self.database, timeout=30) as db:
            db.execute("PRAGMA foreign_keys = off")
            db.execute(
                "INSERT INTO share_snapshots (id, user_id, project_id, share_id, size, display_name, share_size,"
                " share_proto, deleted, created_at) VALUES (?, 'u', ?, ?, ?, 's', ?, 'NFS', 'False', '2026-01-01')",
                [snapshot, project_id, share_id, size, size],
            )
            instance = db.execute("SELECT id FROM share_instances WHERE share_id = ?", [share_id]).fetchone()[0]
            db.execute(
                "INSERT INTO share_snapshot_instances (id, snapshot_id, share_instance_id, status, deleted, created_at)"
                " VALUES (?, ?, ?, 'available', 'False', '2026-01-01')",
                [str(uuid.uuid4()), snapshot, instance],
            )


def start_manila(venv: RealVenv, folder: Path, credentials: Mapping[str, str]) -> RealManila:
    """Starts the API in `folder`. `credentials` are a service user's password login."""
    folder.mkdir(parents=True, exist_ok=True)
    database = f"sqlite:///{folder}/manila.db?timeout=200"
    paste = venv.folder / "etc" / "manila" / "api-paste.ini"
    config = _CONFIG.format(folder=folder, paste=paste, database=database)
    (folder / "manila.conf").write_text(config + keystone_authtoken(credentials))
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    env = {"MANILA_FOLDER": str(folder), "MANILA_DATABASE": database}
    process = venv.gunicorn("real_manila:application", port, env=env, folder=folder, ready=http_answers(url))
    return RealManila(url, process.start(), folder / "manila.db")
