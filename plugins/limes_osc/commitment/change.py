"""Making other commitments of those that there are: `set`, `merge`, `renew`, `convert` and `delete`."""

import argparse
from collections.abc import Iterable
from fractions import Fraction
from urllib.parse import quote

from osc_lib.exceptions import CommandError

from limes_osc.base import InProject, Listing
from limes_osc.client import Json, Refused
from limes_osc.columns import Columns
from limes_osc.commitment.listing import OneOfProject, add_id
from limes_osc.names import read_inventory
from limes_osc.options import add_amount, add_resource, amount_of, option, read_pair
from limes_osc.quota import add_yes_option, confirm

_add_ids = option("ids", metavar="<id>", type=int, nargs="+", help="IDs of the commitments")


def _add_changes(parser: argparse.ArgumentParser) -> None:
    changes = parser.add_mutually_exclusive_group(required=True)
    changes.add_argument(
        "--duration", metavar="<duration>", help='New duration, such as "2 years", from the same start'
    )
    changes.add_argument("--auto-renew", action="store_true", help="Renew it before its end, without a request")
    changes.add_argument("--no-auto-renew", action="store_true", help="Let it end, unless it is renewed by hand")


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
        add_amount,
        option("--to", metavar="<service>/<resource>", type=read_pair, required=True, help="Resource to convert it to"),
    ]

    def commitment(self, args: argparse.Namespace) -> Json:
        commitment = self.find(args, args.id)
        source = amount_of(args, commitment)
        service, resource = args.to
        conversion = {
            "target_service": service,
            "target_resource": resource,
            "source_amount": source,
            "target_amount": self._target_amount(commitment, source, service, resource),
        }
        return self.change(args, f"{args.id}/convert", {"commitment": conversion})

    def _target_amount(self, commitment: Json, source: int, service: str, resource: str) -> int:
        path = rates_path(commitment["service_type"], commitment["resource_name"])
        rates = {
            (conversion["target_service"], conversion["target_resource"]): conversion
            for conversion in self.limes.get(path)["conversions"]
        }
        rate = rates.get((service, resource))
        if rate is None:
            known = ", ".join("/".join(pair) for pair in sorted(rates)) or "nothing"
            raise CommandError(f"it cannot be converted to {service}/{resource} (it can to: {known})")
        target = Fraction(source * rate["target_amount"], rate["source_amount"])
        if target.denominator != 1:
            raise CommandError(f"only multiples of {rate['source_amount']} can be converted to {service}/{resource}")
        return target.numerator


def rates_path(service: str, resource: str) -> str:
    """Below `/v1`: what commitments of a resource can be converted to."""
    return f"/commitment-conversion/{quote(service, safe='')}/{quote(resource, safe='')}"


class ListConversions(Listing):
    """List the resources that commitments to a resource can be converted to"""

    nothing = "Commitments to it cannot be converted."
    options = [add_resource]
    columns = Columns(
        {
            "Target Service": "target_service",
            "Target Resource": "target_resource",
            "Source Amount": "source_amount",
            "Target Amount": "target_amount",
        },
        unit=False,
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        """Returns the targets; amounts are in the units of the resources."""
        service, resource = args.resource
        try:
            return list(self.limes.get(rates_path(service, resource))["conversions"])
        except Refused as refused:
            inventory = read_inventory(self.limes)
            problem = inventory.why_unknown(service, resource) if inventory is not None else ""
            raise (CommandError(f"{service}/{resource}: {problem}") if problem else refused) from None


class DeleteCommitments(InProject):
    """Delete commitments that are not confirmed"""

    options = [_add_ids, add_yes_option]

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Raises `CommandError` with those that could not be deleted; the others are."""
        path = self.path(parsed_args)
        confirm(parsed_args, f"Delete {len(parsed_args.ids)} commitments?")
        failed = []
        for number in parsed_args.ids:
            try:
                self.limes.request("DELETE", f"{path}/commitments/{number}")
            except Refused as refused:
                failed.append(f"commitment {number}: {refused}")
        if failed:
            raise CommandError("\n".join(failed))
