"""`limes placement audit`: what should not be in the Placement's database, and clearing it away."""

import argparse
import sys
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import orjson

from limes.app.commands import terminal

if TYPE_CHECKING:
    from rich.console import Console

    from limes.app.settings import Settings
    from limes.auth.session import CloudSession
    from limes.placement.audit import FindGone, Findings

FAILED = 2
"""The exit code when the audit could not be done."""


class RepairStatus(StrEnum):
    """What became of a consumer that should not be there."""

    DELETABLE = "deletable"
    DELETED = "deleted"
    CHANGED = "left alone, as it has changed in the meantime"


class Report(NamedTuple):
    """What was found, and what became of the consumers in it, by UUID."""

    findings: "Findings"
    outcomes: Mapping[str, RepairStatus]

    @property
    def left(self) -> int:
        """How many findings are still there."""
        return len(self.findings.excesses) + sum(
            1 for outcome in self.outcomes.values() if outcome is not RepairStatus.DELETED
        )


def add_to(actions: terminal.Commands) -> None:
    terminal.add_command(
        actions,
        "audit",
        run,
        "report allocations of vanished projects, providers over capacity, consumers without allocations",
        terminal.flag(
            "--repair",
            "delete the allocations of vanished projects, and consumers without allocations (never anything else)",
        ),
        terminal.flag("--json", "print one JSON document instead of tables"),
        terminal.add_config_option_below,
        description="Changes nothing without --repair.",
        codes={
            0: "nothing is left to report",
            1: "something is",
            FAILED: "the audit could not be done, or the command line is wrong",
        },
        failure_code=FAILED,
    )


def run(options: argparse.Namespace) -> int:
    from msgspec import structs

    from limes.app.composition.common import load_any_settings, open_checked_placement_engine
    from limes.placement.audit import audit, delete_idle, delete_orphan, find_excesses

    settings = load_any_settings()
    engine = open_checked_placement_engine(settings, "limes-placement-audit")
    findings = audit(engine, _open_find_gone(settings), settings.placement.incomplete_consumer_project_id)
    clearings: dict[str, Callable[[], bool]] = {
        orphan.uuid: partial(delete_orphan, engine, orphan) for orphan in findings.orphans
    }
    clearings |= {uuid: partial(delete_idle, engine, uuid) for uuid in findings.idle}
    outcomes = {uuid: _delete(delete, options.repair) for uuid, delete in clearings.items()}
    if RepairStatus.DELETED in outcomes.values():
        # deleting orphans has lowered the usage
        findings = structs.replace(findings, excesses=find_excesses(engine))
    report = Report(findings, outcomes)
    if options.json:
        print(as_json(report))
    else:
        print_report(terminal.result_console(), report)
    if not options.repair and report.outcomes:
        print('Nothing was changed. With --repair, what is "deletable" is deleted.', file=sys.stderr)
    return 1 if report.left else 0


def _open_find_gone(settings: "Settings") -> "FindGone":
    """Tells by the configured discovery which projects are gone. Nothing is asked yet. Raises `ConfigError`.

    `discovery.except_domains` and `only_domains` say what Limes manages, not what exists, so they do not count here.
    With Keystone, each project that is missing from its lists is asked for by its id as well: with too few rights, the
    lists would only be shorter.
    """
    from limes.app.composition.cluster import build_cluster, open_cloud
    from limes.backends import calls
    from limes.kernel.errors import BackendError

    cloud = open_cloud(settings)
    backend = build_cluster(settings, cloud).backends.discovery
    confirm = settings.identity.method == "keystone"

    def find_gone(ids: Collection[str]) -> Collection[str]:
        domains = calls.list_domains(backend, None, None)
        projects = {project.id for domain in domains for project in calls.list_projects(backend, domain)}
        if not projects:
            raise BackendError("discovery finds no project at all, so it cannot be right that projects are gone")
        missing = set(ids) - projects - {domain.id for domain in domains}  # domains can own things as well
        return {project_id for project_id in missing if not confirm or _is_gone(cloud, project_id)}

    return find_gone


def _is_gone(cloud: "CloudSession", project_id: str) -> bool:
    """Returns whether Keystone itself, and not a proxy in between, says that it does not exist. Raises
    `BackendError`."""
    from keystoneauth1 import exceptions as ksa_errors

    from limes.auth.session import describe
    from limes.kernel.errors import BackendError

    path = f"/projects/{quote(project_id, safe='')}"
    try:
        answer = cloud.adapter("identity", min_version=(3, 0)).get(path, raise_exc=False)
    except (ksa_errors.ClientException, BackendError) as error:
        raise BackendError(f"while looking for the project {project_id}: {describe(error)}") from None
    if answer.status_code == 200:
        return False
    try:
        code = int(answer.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        code = None
    if code == 404:
        return True
    raise BackendError(f"while looking for the project {project_id}: Keystone answers HTTP {answer.status_code}")


def _delete(delete: Callable[[], bool], repair: bool) -> RepairStatus:
    if not repair:
        return RepairStatus.DELETABLE
    return RepairStatus.DELETED if delete() else RepairStatus.CHANGED


def as_json(report: Report) -> str:
    """`{"orphans": [...], "idle": [...], "excesses": [...], "left": N}`; consumers with their `outcome`."""
    from msgspec import structs

    findings, outcomes = report.findings, report.outcomes
    document: dict[str, Any] = {
        "orphans": [structs.asdict(orphan) | {"outcome": outcomes[orphan.uuid]} for orphan in findings.orphans],
        "idle": [{"uuid": uuid, "outcome": outcomes[uuid]} for uuid in findings.idle],
        "excesses": [structs.asdict(excess) for excess in findings.excesses],
        "left": report.left,
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def print_report(console: "Console", report: Report) -> None:
    """Prints a table for each project that is gone and for each other kind of finding, and one line that counts them
    all. Tables fit 80 columns."""
    from limes.kernel.findings import counted

    findings, outcomes = report.findings, report.outcomes
    projects = sorted({orphan.project_id for orphan in findings.orphans})
    for project in projects:
        rows = [
            (
                orphan.uuid,
                orphan.consumer_type or "unknown",
                "\n".join(f"{amount} {name}" for name, amount in orphan.resources.items()),
                _shown(outcomes[orphan.uuid]),
            )
            for orphan in findings.orphans
            if orphan.project_id == project
        ]
        columns = ("Consumer", "Type", "Resources", "Outcome")
        terminal.print_table(console, f"Consumers of the vanished project {project}", columns, rows)
    if findings.idle:
        idle = [(uuid, _shown(outcomes[uuid])) for uuid in findings.idle]
        terminal.print_table(console, "Consumers without allocations", ("Consumer", "Outcome"), idle)
    if findings.excesses:
        excesses = [(each.provider_name, each.class_name, each.used, each.capacity) for each in findings.excesses]
        columns = ("Provider", "Class", "Used>", "Capacity>")
        terminal.print_table(console, "Inventories over capacity", columns, excesses)
    console.print(
        f"{counted(len(findings.orphans), 'consumer')} of {counted(len(projects), 'vanished project')},"
        f" {counted(len(findings.idle), 'consumer')} without allocations,"
        f" {len(findings.excesses)} {'inventory' if len(findings.excesses) == 1 else 'inventories'} over capacity;"
        f" {report.left} left."
    )


def _shown(outcome: RepairStatus) -> str:
    return "left alone:\nit has changed" if outcome is RepairStatus.CHANGED else outcome.value
