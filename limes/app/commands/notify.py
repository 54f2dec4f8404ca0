"""`limes notify`: shows what mails look like, and who does not want them."""

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from limes.app.commands import terminal

if TYPE_CHECKING:
    from limes.notifications.recipients import Subscriptions


def add_to(commands: terminal.Commands) -> None:
    parser = commands.add_parser("notify", help="show what mails look like, and who does not want them")
    actions = terminal.add_actions(parser)
    json, config = terminal.add_json_option, terminal.add_config_option
    terminal.add_command(
        actions,
        "preview",
        preview,
        "print mails of each kind, with made-up notifications; send nothing",
        terminal.argument("kinds", metavar="KIND", nargs="*", help="only these kinds"),
        terminal.argument("--language", metavar="LANGUAGE", action="append", default=[], help="may be repeated"),
        terminal.argument("--event", metavar="ID", help="a real notification, by its id, instead of made-up ones"),
        terminal.argument("--count", metavar="N", type=_count, default=1, help="number of notifications in each mail"),
        terminal.flag("--html", "print the HTML instead of the text"),
        terminal.argument("--send-to", metavar="ADDRESS", help="send them there, with the sink smtp"),
        *(json, config),
        description="Prints mails as they would be sent, with made-up notifications. Sends nothing without --send-to.",
    )
    terminal.add_command(actions, "unsubscribed", list_unsubscribed, "list who has unsubscribed", json, config)
    whose = (
        terminal.argument("address", metavar="ADDRESS", help="the mail address"),
        terminal.argument("kind", metavar="KIND", nargs="?", help="only this kind (default: all kinds)"),
    )
    terminal.add_command(actions, "unsubscribe", unsubscribe, "stop sending mails to an address", *whose, config)
    terminal.add_command(actions, "subscribe", subscribe, "send mails to an address again", *whose, config)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 1000):
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 1000, not {text!r}")
    return int(text)


def preview(options: argparse.Namespace) -> int:
    from msgspec import structs

    from limes.app.commands.mail_preview import preview_mails

    kinds, event = options.kinds, options.event
    found = preview_mails(_known(kinds), options.language, event, options.count, options.send_to)
    if options.json:
        terminal.print_json(
            [{"kind": each.kind, "language": each.language, **structs.asdict(each.mail)} for each in found]
        )
        return 0
    for each in found:
        print(f"=== {each.kind}, {each.language}\nSubject: {each.mail.subject}\n")
        print(each.mail.html if options.html else each.mail.text)
    if options.send_to:
        print(f"Sent to {options.send_to}: {len(found)}")
    return 0


def _known(kinds: list[str]) -> list[str]:
    from limes.kernel.errors import NotFound
    from limes.notifications.mail.templates import KINDS

    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise NotFound(f"no such kind: {', '.join(unknown)}; there are {', '.join(KINDS)}")
    return kinds


@contextmanager
def _open_subscriptions() -> "Iterator[Subscriptions]":
    from limes.app.composition.common import load_settings, open_checked_engine
    from limes.kernel.system import SystemClock
    from limes.notifications.recipients import Subscriptions

    with closing(open_checked_engine(load_settings(), "limes-notify")) as engine:
        yield Subscriptions(engine, SystemClock())


def list_unsubscribed(options: argparse.Namespace) -> int:
    from limes.kernel.calendar import render_time

    with _open_subscriptions() as subscriptions:
        rows = subscriptions.ended()
    if options.json:
        terminal.print_json([{"address": address, "kind": kind, "at": int(at)} for address, kind, at in rows])
    else:
        shown = [(address, "all" if kind == "*" else kind, render_time(at)) for address, kind, at in rows]
        terminal.print_table(
            terminal.result_console(), "Unsubscribed", ("address", "kind", "since"), shown, empty="nobody"
        )
    return 0


def unsubscribe(options: argparse.Namespace) -> int:
    kinds = _known([options.kind] if options.kind else [])
    with _open_subscriptions() as subscriptions:
        subscriptions.end(options.address, *kinds)
    print(f"{options.address} gets no more mails{f' of the kind {options.kind}' if kinds else ''}.")
    return 0


def subscribe(options: argparse.Namespace) -> int:
    """Undoes `unsubscribe`, and what a link in a mail did."""
    kinds = _known([options.kind] if options.kind else [])
    with _open_subscriptions() as subscriptions:
        changed = subscriptions.resume(options.address, *kinds)
    what = f"mails of the kind {options.kind}" if kinds else "mails of all kinds"
    print(
        f"{options.address} gets {what} again." if changed else f"{options.address} had not unsubscribed from {what}."
    )
    return 0
