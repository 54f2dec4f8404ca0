"""Who the user is, and which mails they get: `limes identity` and `limes mail`."""

import argparse
from collections.abc import Iterable
from typing import Any, ClassVar

from osc_lib.exceptions import CommandError

from limes_osc import base, client
from limes_osc.columns import Columns, Row

_PATH = "/mail-settings"


class ShowIdentity(base.LimesShowOne):
    """Show who you are logged in as: user, domain or project, and roles"""

    def row(self, args: argparse.Namespace) -> Row:
        identity = self.limes.get("/identity")["identity"]
        scope = identity["scope"] or {}
        project = scope.get("project", {})
        domain = project.get("domain") or scope.get("domain", {})
        return {
            "User ID": identity["user"]["id"],
            "User Name": identity["user"]["name"],
            "Domain ID": domain.get("id"),
            "Domain Name": domain.get("name"),
            "Project ID": project.get("id"),
            "Project Name": project.get("name"),
            "System": scope.get("system"),
            "Roles": ", ".join(identity["roles"]),
        }


class ListMails(base.Listing):
    """List which kinds of mail Limes sends to the user of the token, and at which address"""

    columns = Columns({"Kind": "kind", "Sent": "sent", "Address": "address"}, optional={"Address"}, unit=False)

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        settings = self.settings(args)["mail_settings"]
        address, kinds = settings["address"], settings["kinds"]
        is_sent = settings["sent"] and address is not None
        return ({**each, "sent": is_sent and each["sent"], "address": address} for each in kinds)

    def settings(self, args: argparse.Namespace) -> client.Json:
        """Returns the settings, in a change as they are afterwards."""
        return self.limes.get(_PATH)


class _ChangeMails(ListMails):
    options = [
        base.option("kinds", metavar="<kind>", nargs="*", help="Kind of mail, such as quota_used"),
        base.option("--all", action="store_true", help="All mails, including kinds that are added later"),
    ]
    is_sent: ClassVar[bool]

    def settings(self, args: argparse.Namespace) -> client.Json:
        if bool(args.kinds) == args.all:
            raise CommandError("name one or more kinds, or --all")
        wanted: dict[str, Any] = {"sent": self.is_sent} if args.all else {}
        wanted["kinds"] = [{"kind": kind, "sent": self.is_sent} for kind in dict.fromkeys(args.kinds)]
        return self.send("PUT", _PATH, {"mail_settings": wanted})


class Unsubscribe(_ChangeMails):
    """Get no more mails of some kinds, or none at all"""

    is_sent = False


class Subscribe(_ChangeMails):
    """Get mails again"""

    is_sent = True
