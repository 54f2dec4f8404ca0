"""Who the user is, and what they are told: `limes identity`, `limes mail`, `limes inbox`, `limes threshold`; and where
what concerns a project is sent to: `limes webhook`."""

import argparse
from collections.abc import Iterable
from typing import Any, ClassVar

from osc_lib.exceptions import CommandError

from limes_osc import base, client, values
from limes_osc.columns import Columns, Row, shown

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


# -- the inbox ---------------------------------------------------------------------------------------------------------


class ListInbox(base.Listing):
    """List what was decided on your own requests for quota, and what others have said about them, the newest first"""

    nothing = "There is nothing in your inbox."
    options = [
        base.option("--limit", metavar="<number>", type=int, help="At most this many (default: 50)"),
        base.option("--marker", metavar="<number>", type=int, help="Only what is older than the one of this number"),
        base.option("--mark-seen", action="store_true", help="Mark all of it as seen, after it is listed"),
    ]
    columns = Columns(
        {
            "Number": "number",
            "At": shown(values.Moment, "at"),
            "Kind": "kind",
            "Request": "quota_request",
            "Domain Name": "domain.name",
            "Project Name": "project.name",
            "By": "author.name",
            "Text": "text",
            "Unread": "unread",
        },
        optional={"Project Name", "By", "Text"},
        unit=False,
    )

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        found = self.limes.get("/inbox", base.pairs_of({"limit": args.limit, "marker": args.marker}))["inbox"]["items"]
        if args.mark_seen and found:
            self.send("PUT", "/inbox", {"seen_at": found[0]["at"]})
        entries: list[client.Json] = found
        return entries


# -- own thresholds ----------------------------------------------------------------------------------------------------


class ShowThreshold(base.OfProject, base.LimesShowOne):
    """Show at which use of a project's quotas you get a mail, and at which address"""

    def row(self, args: argparse.Namespace) -> Row:
        found = self.threshold(f"{self.path(args)}/my-threshold", args)["my_threshold"]
        return {"Percent": found["percent"], "Address": found["address"]}

    def threshold(self, path: str, args: argparse.Namespace) -> client.Json:
        """Returns the document, in a change as it is afterwards."""
        return self.limes.get(path)


class SetThreshold(ShowThreshold):
    """Get a mail once a project uses more than a percentage of a quota, or no more such mails"""

    options = [
        base.exclusive(
            base.option("--percent", metavar="<percent>", type=int, help="From 1 to 100"),
            base.option("--clear", action="store_true", help="Remove the own threshold"),
            required=True,
        )
    ]

    def threshold(self, path: str, args: argparse.Namespace) -> client.Json:
        return self.send("PUT", path, {"my_threshold": {"percent": args.percent}})


# -- a project's own webhook -------------------------------------------------------------------------------------------


class ShowWebhook(base.OfProject, base.LimesShowOne):
    """Show where notifications about a project are sent to, and whether the last one has arrived"""

    def row(self, args: argparse.Namespace) -> Row:
        found = self.webhook(f"{self.path(args)}/webhook", args)["webhook"]
        if found is None:
            raise CommandError("this project has no webhook")
        times = {title: values.Moment(found[key]) for title, key in self.times.items() if key in found}
        texts = {"URL": found["url"], "Set By": found["set_by"]["name"] or found["set_by"].get("id")}
        return {**texts, **times, "Error": found.get("error"), "Secret": found.get("secret")}

    times: ClassVar[dict[str, str]] = {"Set At": "set_at", "Delivered At": "delivered_at", "Failed At": "failed_at"}

    def webhook(self, path: str, args: argparse.Namespace) -> client.Json:
        """Returns the document, in a change as it is afterwards."""
        return self.limes.get(path, secret=True)  # addresses of chats are secrets


class SetWebhook(ShowWebhook):
    """Have notifications about a project sent to a URL. The secret for their signatures is shown only now"""

    options = [base.option("--url", required=True, help="Such as https://chat.example.com/hooks/1")]

    def webhook(self, path: str, args: argparse.Namespace) -> client.Json:
        return self.send("PUT", path, {"webhook": {"url": args.url}}, secret=True)


class DeleteWebhook(base.OfProject):
    """Have no more notifications about a project sent to its webhook"""

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.limes.request("DELETE", f"{self.path(parsed_args)}/webhook")
