"""A commitment that could be made: the options that describe it, and the requests about it."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from osc_lib.exceptions import CommandError

from limes.core.units import Unit
from limes_osc.amounts import parse_amount, unit_of
from limes_osc.base import InProject
from limes_osc.client import Json, document_of
from limes_osc.names import suggest
from limes_osc.options import add_resource, option, time_option
from limes_osc.quota_changes import resources_of, why_missing

ANY = "any"
"""The zone of commitments that are for all zones together."""

add_confirm_by = time_option(
    "--confirm-by", help="Plan it for then, instead of confirming it at once (ISO 8601 or UNIX time)"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for."""

    path: str
    """Of the project, below `/v1`."""
    unit: Unit
    """That of the resource."""
    fields: Json
    """The commitment in the body of requests."""

    @property
    def amount(self) -> int:
        """In this unit."""
        return int(self.fields["amount"])


class WantedCommitment(InProject):
    """A command about a commitment that could be made."""

    options = [
        add_resource,
        option("amount", help="Amount, such as 10 or 200GiB"),
        option(
            "--availability-zone",
            "--az",
            help="Availability zone (may be left out if there is only one, or if the commitment is for all of them)",
        ),
        option("--duration", help='Duration, such as "2 years" (may be left out if only one is offered)'),
    ]

    def read_wanted(self, args: argparse.Namespace) -> Wanted:
        """Returns what the options ask for. Raises `CommandError` if that is nothing that one could commit to."""
        path = self.path(args)
        resource = self._resource(path, *args.resource)
        unit, config, name = unit_of(resource), resource["commitment_config"], "/".join(args.resource)
        amount = parse_amount(args.amount, unit)
        fields = {
            "service_type": args.resource[0],
            "resource_name": args.resource[1],
            "availability_zone": _zone(args.availability_zone, config.get("availability_zones"), name),
            "amount": amount,
            "duration": args.duration or _only("--duration", config["durations"]),
        }
        if getattr(args, "confirm_by", None) is not None:
            fields["confirm_by"] = args.confirm_by
        return Wanted(path, unit, fields)

    def ask(self, wanted: Wanted, operation: str, headers: Mapping[str, str] | None = None) -> Json:
        """Returns the answer of `commitments/OPERATION`. Raises `Refused`."""
        path, body = f"{wanted.path}/commitments/{operation}", {"commitment": wanted.fields}
        return document_of(self.limes.request("POST", path, (), body, headers=headers))

    def _resource(self, path: str, service: str, name: str) -> Json:
        """Returns the project's report of the resource. Raises `CommandError` if one cannot commit to it."""
        report = self.limes.get(path, [("service", service), ("resource", name)])["project"]
        resource = resources_of(report).get((service, name))
        if resource is None:
            raise CommandError(f"{service}/{name}: {why_missing(self.limes, service, name, report)}")
        if "commitment_config" not in resource:
            raise CommandError(f"{service}/{name}: there are no commitments to it ({self._alternatives(path)})")
        return resource

    def _alternatives(self, path: str) -> str:
        """Returns to what else the project can commit."""
        known = resources_of(self.limes.get(path)["project"])
        names = ["/".join(ref) for ref, resource in known.items() if "commitment_config" in resource]
        return f"but to {', '.join(names)}" if names else "nor to any other resource"


def _zone(given: str | None, zones: list[str] | None, name: str) -> str:
    """Returns the availability zone; servers that do not say which there are (`zones`) check it themselves."""
    if given is None:
        return ANY if zones is None else _only("--az", zones)
    if zones is None or given in zones:
        return given
    if zones == [ANY]:
        raise CommandError(f"--az {given}: commitments to {name} are for all availability zones together; leave it out")
    raise CommandError(f"--az {given}: one cannot commit to {name} there; {suggest(given, zones)}")


def _only(option: str, choices: list[str]) -> str:
    if len(choices) != 1:
        raise CommandError(f"{option}: which one? There are: {', '.join(choices)}")
    return choices[0]
