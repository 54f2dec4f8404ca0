"""Which mails the user gets: `limes mail list`, `limes mail unsubscribe` and `limes mail subscribe`."""

import argparse
from typing import Any, ClassVar

from osc_lib.exceptions import CommandError

from limes_osc.base import LimesLister, Options, Table
from limes_osc.client import Json, document_of
from limes_osc.columns import Columns

_PATH = "/mail-settings"


class _Mails(LimesLister):
    """What the commands have in common: a row for each kind."""

    _columns = Columns(["Kind", "Sent", "Address"], optional={"Address"}, unit=False)

    def kinds(self, args: argparse.Namespace, settings: Json) -> Table:
        """Returns what is sent in the end."""
        is_sent = settings["sent"] and settings["address"] is not None
        return self.table(
            args,
            self._columns,
            (
                {"Kind": each["kind"], "Sent": is_sent and each["sent"], "Address": settings["address"]}
                for each in settings["kinds"]
            ),
        )


class ListMails(_Mails):
    """List which kinds of mail Limes sends to the user of the token, and at which address"""

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each kind."""
        return self.kinds(parsed_args, self.limes.get(_PATH)["mail_settings"])


def _add_kinds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kinds", metavar="<kind>", nargs="*", help="Kind of mail, such as quota_used")
    parser.add_argument("--all", action="store_true", help="All mails, also of kinds that there will be later")


class _ChangeMails(_Mails):
    options: ClassVar[Options] = (_add_kinds,)
    is_sent: ClassVar[bool]

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each kind, as it is afterwards."""
        if bool(parsed_args.kinds) == parsed_args.all:
            raise CommandError("name one or more kinds, or --all")
        wanted: dict[str, Any] = {"sent": self.is_sent} if parsed_args.all else {}
        wanted["kinds"] = [{"kind": kind, "sent": self.is_sent} for kind in dict.fromkeys(parsed_args.kinds)]
        answer = self.limes.request("PUT", _PATH, (), {"mail_settings": wanted})
        return self.kinds(parsed_args, document_of(answer)["mail_settings"])


class Unsubscribe(_ChangeMails):
    """Get no more mails of some kinds, or none at all"""

    is_sent = False


class Subscribe(_ChangeMails):
    """Get mails again"""

    is_sent = True
