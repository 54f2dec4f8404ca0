"""What `limes serve` prints once everything runs: addresses, tokens by role, commands to try."""

from pathlib import Path

from limes.auth.sample import SampleIdentities
from limes.settings import Settings


def banner(settings: Settings, log_folder: Path) -> str:
    """The text. Sample tokens are shown, since everybody who reads it started this cloud; others never are."""
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
