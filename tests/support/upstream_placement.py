"""The OpenStack project's own Placement, from PyPI, as a server to compare with or to use as a backend."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

_KEYSTONE = """\
[keystone_authtoken]
auth_type = password
www_authenticate_uri = {auth_url}
service_token_roles_required = true
"""


@dataclass(frozen=True)
class UpstreamPlacement:
    """A running server. Without Keystone, the token `admin` is an administrator's (upstream's `noauth2`)."""

    url: str
    process: ServerProcess


PlacementFactory = Callable[..., UpstreamPlacement]
"""Takes the arguments of `start_upstream_placement`, but for the first two."""


def start_upstream_placement(
    venv: RealVenv, folder: Path, *, database_url: str | None = None, credentials: Mapping[str, str] | None = None
) -> UpstreamPlacement:
    """Starts a server in `folder`, on SQLite there or on the PostgreSQL database at `database_url`.

    With `credentials` (a password login of a service user) it validates tokens with Keystone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    connection = (database_url or f"sqlite:///{folder}/placement.db?timeout=200").replace(
        "postgresql://", "postgresql+psycopg2://"
    )
    lines = [
        "[DEFAULT]",
        f"log_file = {folder}/placement.log",
        "use_stderr = false",
        "[placement_database]",
        f"connection = {connection}",
        "sync_on_startup = true",
        "[api]",
        f"auth_strategy = {'keystone' if credentials else 'noauth2'}",
    ]
    if credentials:
        lines += [_KEYSTONE.format(auth_url=credentials["auth_url"])]
        lines += [f"{key} = {value}" for key, value in credentials.items()]
    (folder / "placement.conf").write_text("\n".join(lines) + "\n")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = venv.gunicorn(
        "placement.wsgi.api:application",
        port,
        env={"OS_PLACEMENT_CONFIG_DIR": str(folder)},
        folder=folder,
        ready=http_answers(url),
        threads=8,
    )
    return UpstreamPlacement(url, process.start())
