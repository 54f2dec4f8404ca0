"""Preset sizes of quota: `limes quota-set list`, and `--quota-set` where quotas are set."""

import argparse
from collections.abc import Iterable, Iterator

from osc_lib.exceptions import CommandError

from limes_osc.amounts import exact, unit_of
from limes_osc.base import Listing
from limes_osc.client import Json, LimesClient
from limes_osc.columns import Columns, amount
from limes_osc.names import suggest
from limes_osc.options import add_unit, option
from limes_osc.quota_changes import Ref, read_wanted_quotas

add_quota_set_option = option(
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


class ListQuotaSets(Listing):
    """List the preset sizes of quota"""

    nothing = "This cloud has no preset sizes."
    options = [add_unit]
    columns = Columns(
        {
            "Quota Set": "set",
            "Description": lambda quota, _: quota["description"] or None,
            "Service": "service",
            "Resource": "name",
            "Quota": amount("quota", exactly=True),
        },
        optional={"Description"},
    )

    def entries(self, args: argparse.Namespace) -> Iterator[Json]:
        for each in read_quota_sets(self.limes):
            for service in each["services"]:
                for resource in service["resources"]:
                    description = each["description"]
                    yield {**resource, "set": each["name"], "description": description, "service": service["type"]}
