"""What `limes serve` sees to before it starts a process, and what it prints once everything runs."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from limes.app.composition import checks, common
from limes.app.settings import Settings
from limes.auth.without_keystone import SampleIdentities
from limes.db.connections import parse_database_url
from limes.kernel.errors import StartupError
from limes.kernel.redaction import split_url
from limes.kernel.validation.sections import reachable
from limes.web.server import require_free

_SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")


def prepare(*, fresh: bool = False) -> tuple[Settings, Path]:
    """Returns the settings, and the folder for logs. `fresh` deletes the data of earlier starts. Raises `LimesError`
    with what is in the way."""
    settings = common.load_settings()
    if fresh and settings.identity.method != "sample":
        raise StartupError(
            "--fresh deletes all data, so it is only for sample clouds (identity.method: sample);"
            f" identity.method is {settings.identity.method!r}"
        )
    files = _database_files(settings) if fresh else []
    for process in ("api", "placement"):
        checks.require(settings, process, ["exposure", "policy", "backends"])
    for name, listen in (
        ("placement.listen", settings.placement.listen),
        ("api.listen", settings.api.listen),
        ("collector.listen", settings.collector.listen),
    ):
        require_free(name, listen)
    parts = split_url(settings.database.url)
    folder = Path(unquote(parts.path)[1:]).parent if parts.scheme == "sqlite" else Path()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartupError(f"database.url: cannot make the folder {folder}: {error.strerror}") from None
    if fresh:
        static = [service.params.get("state_file") for service in settings.services if service.type == "static"]
        _delete([*files, *(Path(file) for file in static if isinstance(file, str))])  # with the quotas it was given
    for process in ("api", "placement"):
        checks.require(settings, process, ["identity"])
    for database in common.all_databases():
        database.migrations.upgrade(database.engine)
        database.engine.close()
    return settings, folder


def _delete(files: Iterable[Path]) -> None:
    deleted = [path for path in files if path.is_file()]
    for path in deleted:
        try:
            path.unlink()
        except OSError as error:
            raise StartupError(f"--fresh: cannot delete {path}: {error.strerror}") from None
    for path in deleted:
        print(f"Deleted {path}")


def _database_files(settings: Settings) -> list[Path]:
    """Returns the SQLite files. Raises `StartupError` for data on a server: they may be of use."""
    files = []
    for url in (settings.database.url, settings.placement.database_url):
        if url is None:
            continue
        address = parse_database_url(url)
        if address.dialect != "sqlite":
            raise StartupError(
                f"--fresh deletes SQLite files only, not the {address.location}: drop and create it yourself"
            )
        files += [Path(f"{address.name}{suffix}") for suffix in _SQLITE_SUFFIXES]
    return files


def banner(settings: Settings, log_folder: Path, config: Path, *, built_in: bool) -> str:
    """Returns the text; `built_in` says that nothing was configured. Sample tokens are shown, since everybody
    who reads it started this cloud; others never are."""
    api, placement = f"http://{reachable(settings.api.listen)}", f"http://{reachable(settings.placement.listen)}"
    address = parse_database_url(settings.database.url)
    data = str(Path(address.name).absolute()) if address.dialect == "sqlite" else address.location
    collector = f"http://{reachable(settings.collector.listen)}"
    lines = [
        "",
        "Limes is ready. Ctrl-C stops it; the data stay.",
        "",
        *([f"  Dashboard       {api}/ui"] if settings.ui.enabled else []),
        f"  Limes API       {api}/v1/",
        f"  Placement API   {placement}/",
        f"  Metrics         {api}/metrics   {placement}/metrics   {collector}/metrics",
        f"  Configuration   {'built in: ' if built_in else ''}{config}",
        f"  Data            {data}",
        f"  Logs            {log_folder.absolute()}/*.log",
        "",
        *_next_steps(settings, config, built_in),
    ]
    if settings.identity.method == "sample" and settings.identity.sample.tokens:
        lines += ["", *_tokens(settings), "", *_commands(settings, api, placement)]
    return "\n".join(lines) + "\n"


def _next_steps(settings: Settings, config: Path, built_in: bool) -> list[str]:
    lines = []
    if settings.identity.method == "sample":
        lines.append("`limes serve --fresh` starts again with new data.")
    if built_in:
        lines += [
            f"Other commands need the same configuration: export LIMES_CONFIG={config}",
            "`limes config init` writes a configuration for your own cloud.",
        ]
    return lines or ["`limes doctor` says whether anything is wrong."]


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
