"""`limes notify`: shows what mails look like, and who does not want them."""

import argparse
from typing import TYPE_CHECKING

from limes.commands.terminal import (
    Commands,
    add_actions,
    add_config_option,
    add_exit_codes,
    add_json_option,
    moment,
    print_json,
    print_table,
    result_console,
)

if TYPE_CHECKING:
    from limes.composition.notify_commands import Preview


def add_to(commands: Commands) -> None:
    """Adds `notify preview`, `notify unsubscribed`, `notify unsubscribe` and `notify subscribe`."""
    parser = commands.add_parser("notify", help="show what mails look like, and who does not want them")
    actions = add_actions(parser)
    _add_preview(actions)
    listing = actions.add_parser("unsubscribed", help="list who does not want which mails")
    add_json_option(listing)
    _finish(listing, list_unsubscribed)
    for name, text in (("unsubscribe", "send somebody no more mails"), ("subscribe", "send them again")):
        action = actions.add_parser(name, help=text)
        action.add_argument("address", metavar="ADDRESS", help="the mail address")
        action.add_argument("kind", metavar="KIND", nargs="?", help="only this kind (default: all kinds)")
        _finish(action, unsubscribe if name == "unsubscribe" else subscribe)


def _add_preview(actions: Commands) -> None:
    action = actions.add_parser(
        "preview",
        help="print mails of each kind, with made-up notifications; send nothing",
        description="Prints mails as they would be sent, with made-up notifications. Sends nothing without --send-to.",
    )
    action.add_argument("kinds", metavar="KIND", nargs="*", help="only these kinds")
    action.add_argument("--language", metavar="LANGUAGE", action="append", default=[], help="may be repeated")
    action.add_argument("--event", metavar="ID", help="a real notification, by its id, instead of made-up ones")
    action.add_argument("--count", metavar="N", type=_count, default=1, help="so many notifications in each mail")
    action.add_argument("--html", action="store_true", help="print the HTML instead of the text")
    action.add_argument("--send-to", metavar="ADDRESS", help="send them there, with the sink smtp")
    add_json_option(action)
    _finish(action, preview)


def _finish(action: argparse.ArgumentParser, run: object) -> None:
    add_config_option(action)
    add_exit_codes(action)
    action.set_defaults(run=run)


def _count(text: str) -> int:
    """Raises `ArgumentTypeError` for what is no number of notifications."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 1000):
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 1000, not {text!r}")
    return int(text)


def preview(options: argparse.Namespace) -> int:
    """Prints mails, and sends them if told so."""
    from limes.composition.notify_commands import preview_mails

    kinds, event = options.kinds, options.event
    found = preview_mails(_known(kinds), options.language, event, options.count, options.send_to)
    if options.json:
        print_json([_document(each) for each in found])
        return 0
    for each in found:
        print(f"=== {each.kind}, {each.language}\nSubject: {each.mail.subject}\n")
        print(each.mail.html if options.html else each.mail.text)
    if options.send_to:
        print(f"Sent to {options.send_to}: {len(found)}")
    return 0


def _known(kinds: list[str]) -> list[str]:
    from limes.errors import NotFound
    from limes.mail.samples import KINDS

    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise NotFound(f"no such kind: {', '.join(unknown)}; there are {', '.join(KINDS)}")
    return kinds


def _document(each: "Preview") -> dict[str, str]:
    return {
        "kind": each.kind,
        "language": each.language,
        "subject": each.mail.subject,
        "text": each.mail.text,
        "html": each.mail.html,
    }


def list_unsubscribed(options: argparse.Namespace) -> int:
    """Prints who has unsubscribed from what, and when."""
    from limes.composition.notify_commands import open_subscriptions

    with open_subscriptions() as subscriptions:
        rows = subscriptions.ended()
    if options.json:
        print_json([{"address": address, "kind": kind, "at": int(at)} for address, kind, at in rows])
    else:
        shown = [(address, "all" if kind == "*" else kind, moment(at)) for address, kind, at in rows]
        print_table(result_console(), "Unsubscribed", ("address", "kind", "since"), shown, empty="nobody")
    return 0


def unsubscribe(options: argparse.Namespace) -> int:
    """Sends somebody no more mails."""
    from limes.composition.notify_commands import open_subscriptions

    kinds = _known([options.kind] if options.kind else [])
    with open_subscriptions() as subscriptions:
        subscriptions.end(options.address, *kinds)
    print(f"{options.address} gets no more mails{f' of the kind {options.kind}' if kinds else ''}.")
    return 0


def subscribe(options: argparse.Namespace) -> int:
    """Undoes `unsubscribe`, and what a link in a mail did."""
    from limes.composition.notify_commands import open_subscriptions

    kinds = _known([options.kind] if options.kind else [])
    with open_subscriptions() as subscriptions:
        changed = subscriptions.resume(options.address, *kinds)
    what = f"mails of the kind {options.kind}" if kinds else "mails of all kinds"
    print(
        f"{options.address} gets {what} again." if changed else f"{options.address} had not unsubscribed from {what}."
    )
    return 0
