"""Making other commitments of those that there are: `set`, `merge`, `renew`, `convert` and `delete`."""

import argparse
from fractions import Fraction
from typing import ClassVar
from urllib.parse import quote

from osc_lib.exceptions import CommandError

from limes_osc.base import Fields, LimesLister, Options, Table
from limes_osc.client import Json, Refused
from limes_osc.columns import Columns, Row
from limes_osc.commitment.listing import OneOfProject, add_id
from limes_osc.filters import read_inventory
from limes_osc.options import add_amount, amount_of, read_pair
from limes_osc.quota import add_yes_option, confirm
from limes_osc.targets import InProject


def _add_changes(parser: argparse.ArgumentParser) -> None:
    changes = parser.add_mutually_exclusive_group(required=True)
    changes.add_argument(
        "--duration", metavar="<duration>", help='New duration, such as "2 years", from the same start'
    )
    changes.add_argument("--auto-renew", action="store_true", help="Renew it before its end, without a request")
    changes.add_argument("--no-auto-renew", action="store_true", help="Let it end, unless it is renewed by hand")


class SetCommitment(OneOfProject):
    """Extend the duration of a commitment, or say whether it is renewed before its end"""

    options: ClassVar[Options] = (add_id, _add_changes)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the commitment."""
        number = parsed_args.id
        if parsed_args.duration:
            return self.change_commitment(parsed_args, f"{number}/update-duration", {"duration": parsed_args.duration})
        wanted = {"commitment": {"auto_renew": parsed_args.auto_renew}}
        return self.change_commitment(parsed_args, str(number), wanted, method="PUT")


def _add_ids(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", metavar="<id>", type=int, nargs="+", help="IDs of the commitments")


class MergeCommitments(OneOfProject):
    """Merge several confirmed commitments to the same resource and availability zone"""

    options: ClassVar[Options] = (_add_ids,)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the new commitment."""
        return self.change_commitment(parsed_args, "merge", {"commitment_ids": parsed_args.ids})


class RenewCommitment(OneOfProject):
    """Create the commitment that follows one that ends soon"""

    options: ClassVar[Options] = (add_id,)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the new commitment."""
        return self.change_commitment(parsed_args, f"{parsed_args.id}/renew")


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--to", metavar="<service>/<resource>", type=read_pair, required=True, help="Resource to convert it to"
    )


class ConvertCommitment(OneOfProject):
    """Convert a commitment, or a part of it, to another resource at the configured rate"""

    options: ClassVar[Options] = (add_id, add_amount, _add_target)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the new commitment."""
        commitment = self.find(parsed_args, parsed_args.id)
        source = amount_of(parsed_args, commitment)
        service, resource = parsed_args.to
        conversion = {
            "target_service": service,
            "target_resource": resource,
            "source_amount": source,
            "target_amount": self._target_amount(commitment, source, service, resource),
        }
        return self.change_commitment(parsed_args, f"{parsed_args.id}/convert", {"commitment": conversion})

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


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "resource", metavar="<service>/<resource>", type=read_pair, help="Resource, such as compute/cores"
    )


class ListConversions(LimesLister):
    """List the resources that commitments to a resource can be converted to"""

    nothing = "Commitments to it cannot be converted."

    options: ClassVar[Options] = (_add_source,)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each target; amounts are in the units of the resources."""
        conversions = self._read(*parsed_args.resource)
        rows: list[Row] = [
            {
                "Target Service": conversion["target_service"],
                "Target Resource": conversion["target_resource"],
                "Source Amount": conversion["source_amount"],
                "Target Amount": conversion["target_amount"],
            }
            for conversion in conversions
        ]
        columns = Columns(["Target Service", "Target Resource", "Source Amount", "Target Amount"], unit=False)
        return self.table(parsed_args, columns, rows)

    def _read(self, service: str, resource: str) -> list[Json]:
        try:
            conversions: list[Json] = self.limes.get(rates_path(service, resource))["conversions"]
        except Refused as refused:
            inventory = read_inventory(self.limes)
            problem = inventory.why_unknown(service, resource) if inventory is not None else ""
            raise (CommandError(f"{service}/{resource}: {problem}") if problem else refused) from None
        return conversions


class DeleteCommitments(InProject):
    """Delete commitments that are not confirmed"""

    options: ClassVar[Options] = (_add_ids, add_yes_option)

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
