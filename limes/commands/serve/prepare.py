"""What `limes serve` sees to before it starts a process, and what it prints once everything runs."""

import socket
from pathlib import Path
from urllib.parse import unquote

from limes.auth.without_keystone import SampleIdentities
from limes.composition.checks import require
from limes.composition.common import all_databases, load_settings
from limes.errors import StartupError
from limes.settings import Settings
from limes.urls import split_url


def prepare() -> tuple[Settings, Path]:
    """Returns the settings, and the folder for logs. Raises `LimesError` with what is in the way."""
    settings = load_settings()
    for process in ("api", "placement"):
        require(settings, process, ["exposure"])
    folder = _data_folder(settings)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartupError(f"database.url: cannot make the folder {folder}: {error.strerror}") from None
    for name, listen in (
        ("placement.listen", settings.placement.listen),
        ("api.listen", settings.api.listen),
        ("collector.listen", settings.collector.listen),
    ):
        _require_free(name, listen)
    for database in all_databases():
        database.migrations.upgrade(database.engine)
        database.engine.close()
    return settings, folder


def _data_folder(settings: Settings) -> Path:
    """Returns the folder of the SQLite file, or the present one."""
    parts = split_url(settings.database.url)
    return Path(unquote(parts.path)[1:]).parent if parts.scheme == "sqlite" else Path()


def _require_free(name: str, listen: str) -> None:
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            raise StartupError(f"{name}: cannot listen on {listen}: {error.strerror}") from None


def banner(settings: Settings, log_folder: Path) -> str:
    """Returns the text. Sample tokens are shown, since everybody who reads it started this cloud; others never are."""
    api, placement = f"http://{settings.api.listen}", f"http://{settings.placement.listen}"
    lines = [
        "",
        "Limes is ready. Ctrl-C stops it; the data stay.",
        "",
        *([f"  Dashboard       {api}/ui"] if settings.ui.enabled else []),
        f"  Limes API       {api}/v1/",
        f"  Placement API   {placement}/",
        f"  Metrics         {api}/metrics   {placement}/metrics   http://{settings.collector.listen}/metrics",
        f"  Database        {settings.database.url.partition('://')[0]}",
        f"  Logs            {log_folder}/*.log",
    ]
    if settings.identity.method == "sample" and settings.identity.sample.tokens:
        lines += ["", *_tokens(settings), "", *_commands(settings, api, placement)]
    return "\n".join(lines) + "\n"


def _tokens(settings: Settings) -> list[str]:
    sample = settings.identity.sample
    roles = {
        (user.name, assignment.scope): ", ".join(assignment.roles)
        for user in sample.users
        for assignment in user.assignments
    }
    width = max(len(token.token) for token in sample.tokens)
    lines = ["Sample tokens, for the header X-Auth-Token:", ""]
    for token in sample.tokens:
        kind = "project" if token.project else "domain" if token.domain else "system"
        where = token.project or token.domain or token.system
        lines.append(f"  {token.token:{width}}   {roles[token.user, token.scope]} in {kind} {where}")
    return lines


def _commands(settings: Settings, api: str, placement: str) -> list[str]:
    identities = SampleIdentities(settings.identity.sample)
    token = settings.identity.sample.own_token or settings.identity.sample.tokens[0].token
    project = identities.projects[0]
    path = f"{api}/v1/domains/{project.domain.id}/projects/{project.id}"
    return [
        "Three commands to try:",
        "",
        f"  curl -s -H 'X-Auth-Token: {token}' {api}/v1/clusters/current | python3 -m json.tool",
        f"  curl -s -H 'X-Auth-Token: {token}' {path} | python3 -m json.tool",
        f"  curl -s -H 'X-Auth-Token: {token}' '{placement}/usages?project_id={project.id}'"
        " -H 'OpenStack-API-Version: placement 1.9'",
    ]
