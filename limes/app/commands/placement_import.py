"""`limes placement import`: copies a running Placement into ours, and compares the two."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limes.app.commands import terminal
from limes.app.commands.terminal import progress

if TYPE_CHECKING:
    from limes.app.settings import Settings
    from limes.placement.transfer.api import Journal, LocalApi, RemoteApi
    from limes.placement.transfer.contents import Contents

_STATE = "placement-import.state"
_RETRIES = 3
_TOKEN_VARIABLE = "LIMES_IMPORT_TOKEN"  # noqa: S105 - the name of a variable


def add_to(actions: terminal.Commands) -> None:
    terminal.add_command(
        actions,
        "import",
        run,
        "copy a running OpenStack Placement into this one, and compare the two",
        terminal.argument("--from", dest="source", metavar="URL", required=True, help="the Placement to copy from"),
        terminal.argument(
            "--token",
            help=f"the token to read it with (better: in ${_TOKEN_VARIABLE}); without, the configured login is used",
        ),
        terminal.flag("--prune", "delete here what the source does not have"),
        terminal.flag("--verify-only", "write nothing, only compare"),
        terminal.argument(
            "--state",
            metavar="FILE",
            default=_STATE,
            help="where to keep what was read, so that the next run goes on if this one fails (default: %(default)s)",
        ),
        terminal.flag("--fresh", "read everything again, and ignore the state file"),
        *(terminal.add_json_option, terminal.add_config_option_below),
        description="Writes what differs, so it may be interrupted and repeated: it goes on where it was.",
        codes={0: "both are the same", 1: "they still differ, or an error"},
    )


def run(options: argparse.Namespace) -> int:
    """Copies, reads both sides again, and prints each difference on standard output."""
    from limes.app.composition.common import load_any_settings
    from limes.placement.transfer.contents import differences, read
    from limes.placement.transfer.writer import Writer

    settings = load_any_settings()
    source = _open_source(settings, options.source, options.token or os.environ.get(_TOKEN_VARIABLE))
    local = _open_local(settings)
    journal = _open_journal(source, options)
    refused: list[str] = []
    sides = None

    def read_both(verb: str) -> "tuple[Contents, Contents]":
        return read(journal, f"{verb} there", progress), read(local, f"{verb} here", progress)

    if options.verify_only or journal.comparing:  # or it failed when all was written already
        sides = read_both("comparing")
    if sides is None or (not options.verify_only and any(differences(*sides))):
        writer = Writer(local, *(sides or read_both("reading")), progress, prune=options.prune)
        writer.run()
        refused = list(writer.problems)
        for problem in refused:
            print(f"refused: {problem}", file=sys.stderr)
        journal.restart(comparing=True)
        sides = read_both("comparing")
    journal.remove()
    return _print(options, *sides, refused, list(differences(*sides)))


def _open_source(settings: "Settings", url: str, token: str | None) -> "RemoteApi":
    """Returns the Placement at a URL, asked with this token or else with our own login. Raises `BackendError`."""
    from keystoneauth1.adapter import Adapter
    from keystoneauth1.token_endpoint import Token

    from limes.app.composition.cluster import open_cloud
    from limes.kernel.outgoing import keystone_session
    from limes.placement.transfer.api import RemoteApi

    timeout = settings.answers.timeout
    retries: dict[str, Any] = {
        "connect_retries": _RETRIES,
        "status_code_retries": _RETRIES,
        "retriable_status_codes": [502, 503, 504],
    }
    if token is None:
        return RemoteApi(open_cloud(settings).adapter("placement", url, timeout=timeout, **retries), url)
    session = keystone_session(Token(url, token), limits=settings.answers, timeout=timeout)
    return RemoteApi(Adapter(session, endpoint_override=url, **retries), url)


def _open_local(settings: "Settings") -> "LocalApi":
    """Returns our Placement on the configured database. Anyone who can run this command may do everything."""
    from limes.app.composition.common import open_checked_placement_engine
    from limes.auth.without_keystone import NoAuthAuthenticator
    from limes.kernel.system import SystemClock, SystemIds
    from limes.placement.app import create_app
    from limes.placement.call import PlacementCollaborators
    from limes.placement.index import ProviderIndex
    from limes.placement.objects.vocabulary import prepare
    from limes.placement.routes import open_policy
    from limes.placement.transfer.api import LocalApi

    engine, clock = open_checked_placement_engine(settings, "limes-placement-import"), SystemClock()
    prepare(engine, clock)
    deps = PlacementCollaborators(
        engine=engine,
        index=ProviderIndex(engine, clock),
        authenticator=NoAuthAuthenticator("127.0.0.1:0"),
        policy=open_policy(None, enforce_new_defaults=True),
        clock=clock,
        ids=SystemIds(),
        settings=settings.placement,
    )
    return LocalApi(create_app(deps))


def _open_journal(source: "RemoteApi", options: argparse.Namespace) -> "Journal":
    from limes.kernel.system import SystemClock
    from limes.placement.transfer.api import Journal

    url, clock = options.source.rstrip("/"), SystemClock()
    try:
        journal = Journal(source, url, Path(options.state), clock, fresh=options.fresh)
    except OSError as error:
        print(f"what is read will not be kept: {options.state}: {error.strerror or error}", file=sys.stderr)
        journal = Journal(source, url, None, clock)
    if options.verify_only and not journal.comparing:
        journal.restart(comparing=True)
    if journal.kept:
        print(f"going on with {journal.kept} answers that {options.state} has (not so with --fresh)", file=sys.stderr)
    return journal


def _print(
    options: argparse.Namespace, theirs: "Contents", ours: "Contents", refused: list[str], deviations: list[str]
) -> int:
    if options.json:
        counts = {
            name: {"providers": len(side.providers), "consumers": len(side.consumers)}
            for name, side in (("there", theirs), ("here", ours))
        }
        terminal.print_json({**counts, "refused": refused, "differences": deviations})
        return 1 if deviations else 0
    for line in deviations:
        print(line)
    print(
        f"{len(theirs.providers)} providers and {len(theirs.consumers)} consumers there,"
        f" {len(ours.providers)} and {len(ours.consumers)} here: {len(deviations)} differences."
    )
    return 1 if deviations else 0
