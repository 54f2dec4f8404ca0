"""Preset sizes of quota: `limes quota-set list`, and `--quota-set` where quotas are set."""

import argparse
from collections.abc import Iterable
from typing import ClassVar

from osc_lib.exceptions import CommandError

from limes_osc.amounts import Amount, display_unit, exact, unit_of
from limes_osc.base import LimesLister, Options, Table
from limes_osc.client import Json, LimesClient
from limes_osc.columns import Columns
from limes_osc.options import add_unit
from limes_osc.quota_changes import Ref, read_wanted_quotas
from limes_osc.suggestion import suggest


def add_quota_set_option(parser: argparse.ArgumentParser) -> None:
    """`--quota-set`."""
    parser.add_argument(
        "--quota-set",
        metavar="<name>",
        help="Preset size, as limes quota-set list shows them; what --set names wins over it",
    )


def read_quota_sets(limes: LimesClient) -> list[Json]:
    """Returns the sets of this cloud. A Limes that is older than they are has none."""
    sets: list[Json] = limes.get("/resources").get("quota_sets", [])
    return sets


def wanted_quotas(limes: LimesClient, name: str | None, texts: Iterable[str]) -> dict[Ref, str]:
    """Returns the quotas of the set of that name, and of `--set`. Raises `CommandError`."""
    if name is None:
        return read_wanted_quotas(limes, texts)
    texts = list(texts)
    return {**_quotas_of(limes, name), **(read_wanted_quotas(limes, texts) if texts else {})}


def _quotas_of(limes: LimesClient, name: str) -> dict[Ref, str]:
    sets = {each["name"]: each for each in read_quota_sets(limes)}
    if name not in sets:
        hint = suggest(name, list(sets)) if sets else "this cloud has none"
        raise CommandError(f"--quota-set {name}: there is no such quota set; {hint}")
    return {
        (service["type"], resource["name"]): exact(resource["quota"], unit_of(resource))
        for service in sets[name]["services"]
        for resource in service["resources"]
    }


class ListQuotaSets(LimesLister):
    """List the preset sizes of quota"""

    nothing = "This cloud has no preset sizes."
    options: ClassVar[Options] = (add_unit,)
    _columns = Columns(["Quota Set", "Description", "Service", "Resource", "Quota"], optional={"Description"})

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each quota of a set."""
        rows = [
            {
                "Quota Set": each["name"],
                "Description": each["description"] or None,
                "Service": service["type"],
                "Resource": resource["name"],
                "Quota": Amount(resource["quota"], unit_of(resource), parsed_args.unit, exactly=True),
                "Unit": display_unit(unit_of(resource), parsed_args.unit).value,
            }
            for each in read_quota_sets(self.limes)
            for service in each["services"]
            for resource in service["resources"]
        ]
        return self.table(parsed_args, self._columns, rows)
