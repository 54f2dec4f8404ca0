"""What `limes serve` prints once everything runs."""

from pathlib import Path

from limes.auth.without_keystone import SampleIdentities
from limes.db.connections import parse_database_url
from limes.settings import Settings
from limes.validation.sections import reachable


def banner(settings: Settings, log_folder: Path, config: Path, *, built_in: bool) -> str:
    """Returns the text; `built_in` says that nobody has configured anything. Sample tokens are shown, since everybody
    who reads it started this cloud; others never are."""
    api, placement = f"http://{reachable(settings.api.listen)}", f"http://{reachable(settings.placement.listen)}"
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
        f"  Data            {_database(settings)}",
        f"  Logs            {log_folder.absolute()}/*.log",
        "",
        *_next_steps(settings, config, built_in),
    ]
    if settings.identity.method == "sample" and settings.identity.sample.tokens:
        lines += ["", *_tokens(settings), "", *_commands(settings, api, placement)]
    return "\n".join(lines) + "\n"


def _database(settings: Settings) -> str:
    address = parse_database_url(settings.database.url)
    return str(Path(address.name).absolute()) if address.dialect == "sqlite" else address.location


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
