"""Changing commitments (`set`, `merge`, `renew`, `convert`, `delete`), and moving them between projects."""

import argparse
import os
from collections.abc import Iterable
from fractions import Fraction
from urllib.parse import quote

from osc_lib.exceptions import CommandError

from limes_osc import names, quota, values
from limes_osc.base import InProject, LimesCommand, Listing, add_resource, exclusive, option, read_pair
from limes_osc.client import Json, Refused
from limes_osc.columns import Columns, named
from limes_osc.commitments import OFFERS, OneCommitment, OneOfProject, add_id

_add_ids = option("ids", metavar="<id>", type=int, nargs="+", help="IDs of the commitments")
_add_amount = option("--amount", help="Only a part, such as 10 or 200GiB (default: all of it)")


def _amount_of(args: argparse.Namespace, commitment: Json) -> int:
    """Returns the amount in the unit of the commitment. Raises `CommandError`."""
    return (
        int(commitment["amount"])
        if args.amount is None
        else values.parse_amount(args.amount, values.unit_of(commitment))
    )


_add_changes = exclusive(
    option("--duration", help='New duration, such as "2 years", from the same start'),
    option("--auto-renew", action="store_true", help="Renew it before its end, without a request"),
    option("--no-auto-renew", action="store_true", help="Let it end, unless it is renewed by hand"),
    required=True,
)


class SetCommitment(OneOfProject):
    """Extend the duration of a commitment, or say whether it is renewed before its end"""

    options = [add_id, _add_changes]

    def commitment(self, args: argparse.Namespace) -> Json:
        if args.duration:
            return self.change(args, f"{args.id}/update-duration", {"duration": args.duration})
        return self.change(args, str(args.id), {"commitment": {"auto_renew": args.auto_renew}}, method="PUT")


class MergeCommitments(OneOfProject):
    """Merge several confirmed commitments to the same resource and availability zone"""

    options = [_add_ids]

    def commitment(self, args: argparse.Namespace) -> Json:
        return self.change(args, "merge", {"commitment_ids": args.ids})


class RenewCommitment(OneOfProject):
    """Create the commitment that follows one that ends soon"""

    options = [add_id]

    def commitment(self, args: argparse.Namespace) -> Json:
        return self.change(args, f"{args.id}/renew")


class ConvertCommitment(OneOfProject):
    """Convert a commitment, or a part of it, to another resource at the configured rate"""

    options = [
        add_id,
        _add_amount,
        option("--to", metavar="<service>/<resource>", type=read_pair, required=True, help="Resource to convert it to"),
    ]

    def commitment(self, args: argparse.Namespace) -> Json:
        commitment = self.find(args, args.id)
        source, name = _amount_of(args, commitment), "/".join(args.to)
        path = rates_path(commitment["service_type"], commitment["resource_name"])
        rates = {
            (conversion["target_service"], conversion["target_resource"]): conversion
            for conversion in self.limes.get(path)["conversions"]
        }
        rate = rates.get(args.to)
        if rate is None:
            known = ", ".join("/".join(pair) for pair in sorted(rates)) or "nothing"
            raise CommandError(f"it cannot be converted to {name} (it can to: {known})")
        target = Fraction(source * rate["target_amount"], rate["source_amount"])
        if target.denominator != 1:
            raise CommandError(f"only multiples of {rate['source_amount']} can be converted to {name}")
        conversion = {
            "target_service": args.to[0],
            "target_resource": args.to[1],
            "source_amount": source,
            "target_amount": target.numerator,
        }
        return self.change(args, f"{args.id}/convert", {"commitment": conversion})


def rates_path(service: str, resource: str) -> str:
    """Below `/v1`: what commitments of a resource can be converted to."""
    return f"/commitment-conversion/{quote(service, safe='')}/{quote(resource, safe='')}"


class ListConversions(Listing):
    """List the resources that commitments to a resource can be converted to"""

    nothing = "Commitments to it cannot be converted."
    options = [add_resource]
    columns = Columns(named(str, "target_service", "target_resource", "source_amount", "target_amount"), unit=False)

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        """Returns the targets; amounts are in the units of the resources."""
        service, resource = args.resource
        try:
            return list(self.limes.get(rates_path(service, resource))["conversions"])
        except Refused as refused:
            inventory = names.read_inventory(self.limes)
            problem = inventory.why_unknown(service, resource) if inventory is not None else ""
            raise (CommandError(f"{service}/{resource}: {problem}") if problem else refused) from None


class DeleteCommitments(InProject):
    """Delete commitments that are not confirmed"""

    options = [_add_ids, quota.add_yes_option]

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Raises `CommandError` with the ones that could not be deleted; the others are."""
        path = self.path(parsed_args)
        quota.confirm(parsed_args, f"Delete {len(parsed_args.ids)} commitments?")
        failed = []
        for number in parsed_args.ids:
            try:
                self.limes.request("DELETE", f"{path}/commitments/{number}")
            except Refused as refused:
                failed.append(f"commitment {number}: {refused}")
        if failed:
            raise CommandError("\n".join(failed))


class _Transfer(OneOfProject):
    options = [add_id]

    def mark(self, args: argparse.Namespace, amount: int, status: str) -> Json:
        body = {"commitment": {"amount": amount, "transfer_status": status}}
        return self.change(args, f"{args.id}/start-transfer", body)


class StartTransfer(_Transfer):
    """Mark a commitment, or a part of it, for transfer; anyone who has the token can accept it"""

    options = [
        _add_amount,
        option("--public", action="store_true", help="Offer it to everybody, not only to those with the token"),
    ]

    def commitment(self, args: argparse.Namespace) -> Json:
        """Returns the marked commitment, with its token."""
        amount = _amount_of(args, self.find(args, args.id))
        return self.mark(args, amount, "public" if args.public else "unlisted")


class CancelTransfer(_Transfer):
    """Cancel the transfer of a commitment"""

    def commitment(self, args: argparse.Namespace) -> Json:
        return self.mark(args, self.find(args, args.id)["amount"], "")


class Transferable(LimesCommand):
    options = [
        option(
            "--token",
            help="Token of the transfer (Env: OS_LIMES_TRANSFER_TOKEN, which keeps it out of the process list)",
        )
    ]

    def headers(self, args: argparse.Namespace) -> dict[str, str]:
        """Raises `CommandError` without a token."""
        # not as the option's default: with --debug, openstackclient logs all options
        token = args.token or os.environ.get("OS_LIMES_TRANSFER_TOKEN")
        if not token:
            raise CommandError("a token is needed: --token, or OS_LIMES_TRANSFER_TOKEN")
        return {"Transfer-Token": token}

    def read_offer(self, args: argparse.Namespace) -> Json:
        answer = self.limes.get("/commitments/by-token", headers=self.headers(args), secret=True)
        return dict(answer["commitment"])


class ShowOffer(Transferable, OneCommitment):
    """Show the commitment that a transfer token belongs to"""

    def commitment(self, args: argparse.Namespace) -> Json:
        return self.read_offer(args)


class AcceptTransfer(Transferable, OneOfProject):
    """Move a commitment that was marked for transfer into the project"""

    options = [
        option("id", type=int, nargs="?", help="ID of a commitment that is offered to everybody; needs no token")
    ]

    def commitment(self, args: argparse.Namespace) -> Json:
        if args.id is None:
            number, headers = int(self.read_offer(args)["id"]), self.headers(args)
        elif args.token:
            raise CommandError("give an ID or a token, not both: the ID is for what is offered to everybody")
        else:
            offers = {offer["id"]: offer for offer in self.limes.get(OFFERS, secret=True)["commitments"]}
            if args.id not in offers:
                raise CommandError(f"no commitment {args.id} is on offer: see openstack limes commitment offer list")
            number, headers = args.id, {"Transfer-Token": offers[args.id]["transfer_token"]}
        path = f"{self.path(args)}/transfer-commitment/{number}"
        return dict(self.send("POST", path, headers=headers, secret=True)["commitment"])
