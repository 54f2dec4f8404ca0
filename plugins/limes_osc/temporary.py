"""Quota for a time: `--until` and the like, and how an end is shown."""

import argparse
from typing import Any

from osc_lib.exceptions import CommandError

from limes.core.units import Unit
from limes_osc.amounts import Measured, exact, unit_of
from limes_osc.client import Json
from limes_osc.times import read_time, short


def add_term_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("quota for a time", "These go with --set. Times are ISO 8601 or UNIX times.")
    group.add_argument("--until", metavar="<time>", type=read_time, help="Let the quotas go back by themselves then")
    group.add_argument(
        "--from", metavar="<time>", type=read_time, dest="starts_at", help="Raise them then (with --until)"
    )
    end = group.add_mutually_exclusive_group()
    end.add_argument(
        "--keep-until",
        action="store_const",
        const=True,
        dest="keep_until",
        help="Keep the end of quotas that have one (default: if they stay the same)",
    )
    end.add_argument(
        "--drop-until",
        action="store_const",
        const=False,
        dest="keep_until",
        help="Let quotas that have an end stay, and cancel raises that are planned",
    )


def read_term(args: argparse.Namespace) -> Json:
    """Returns the fields of each quota in a request. Raises `CommandError`."""
    if args.starts_at is not None and args.until is None:
        raise CommandError("--from goes with --until")
    if args.until is not None and args.keep_until is not None:
        raise CommandError("--until sets the end anew: leave out --keep-until and --drop-until")
    fields = {"until": args.until, "from": args.starts_at, "keep_until": args.keep_until}
    return {name: value for name, value in fields.items() if value is not None}


class Temporary(Measured[dict[str, Any]]):
    """The end of a quota: `until 2027-01-31, then 20`; for programs an object as in the API."""

    def human_readable(self) -> str:
        document, until = self._value, short(self._value["until"])
        if document["state"] == "planned":
            return f"{exact(document['quota'], self._unit)} from {short(document['from'])}\nuntil {until}"
        if document["state"] == "over":
            return f"over by {exact(document['over_by'], self._unit)}\nsince {until}"
        return f"until {until},\nthen {exact(document['quota_before'], self._unit)}"

    def in_words(self) -> str:
        """Returns the same in one line."""
        return self.human_readable().replace("\n", " ")


def temporary_quota(document: Json, _: Unit | None = None) -> Temporary | None:
    """Returns the cell of a document with a quota, if this ends."""
    end = document.get("temporary_quota")
    return None if end is None else Temporary(end, unit_of(document))
