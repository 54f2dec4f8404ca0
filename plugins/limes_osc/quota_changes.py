"""What is asked for where quotas are set: `--set`, `--quota-set` and `--until`, and why a change would be refused."""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cliff.columns import FormattableColumn
from osc_lib.exceptions import CommandError

from limes.kernel.units import Unit
from limes_osc.base import Listing, add_unit, exclusive, option, time_option, titled
from limes_osc.client import Json, LimesClient
from limes_osc.columns import Columns, exact_amount
from limes_osc.names import read_inventory, suggest
from limes_osc.values import AmountError, apply_change, exact, short, unit_of

Ref = tuple[str, str]
"""Service type and resource name."""


def query_of(refs: Iterable[Ref]) -> list[tuple[str, str]]:
    return sorted({("service", service) for service, _ in refs} | {("resource", name) for _, name in refs})


def resources_of(report: Json) -> dict[Ref, Json]:
    return {
        (service["type"], resource["name"]): resource
        for service in report["services"]
        for resource in service["resources"]
    }


@dataclass(frozen=True, slots=True)
class Change:
    ref: Ref
    unit: Unit
    old: int
    new: int

    def render(self) -> str:
        """For people: `compute/ram: 100 GiB -> 200 GiB (+100 GiB)`."""
        head = f"{'/'.join(self.ref)}: {exact(self.old, self.unit)}"
        if self.new == self.old:
            return f"{head} (unchanged)"
        sign = "+" if self.new > self.old else "-"
        return f"{head} -> {exact(self.new, self.unit)} ({sign}{exact(abs(self.new - self.old), self.unit)})"


@dataclass(frozen=True, slots=True)
class Refusal:
    message: str
    minimum: int | None
    maximum: int | None

    def reason(self, unit: Unit) -> str:
        """For people: `domain quota exceeded (at most 126)`."""
        bounds = self._bounds(unit)
        return f"{self.message} ({bounds})" if bounds else self.message

    def verdict(self, unit: Unit) -> str:
        """For tables: `no: at most 126`, and the message below."""
        bounds = self._bounds(unit)
        return f"no: {bounds}\n({self.message})" if bounds else f"no: {self.message}"

    def _bounds(self, unit: Unit) -> str:
        return ", ".join(
            f"{word} {exact(bound, unit)}"
            for word, bound in (("at least", self.minimum), ("at most", self.maximum))
            if bound is not None
        )


def read_wanted_quotas(limes: LimesClient, texts: Iterable[str], option: str = "--set") -> dict[Ref, str]:
    """Returns the amounts of `--set <service>/<resource>=<amount>`, or of another option of that form. Raises
    `CommandError` if none or malformed, with what may have been meant."""
    wanted: dict[Ref, str] = {}
    for text in texts:
        name, equals, amount = text.partition("=")
        service, slash, resource = name.strip().partition("/")
        if not (equals and slash and service and resource and amount.strip()):
            inventory = read_inventory(limes) if equals and not slash and amount.strip() else None
            meant = [f"{each}={amount.strip()}" for each in (inventory.meant_by(name.strip()) if inventory else ())]
            hint = f"did you mean {' or '.join(meant)}?" if meant else "such as compute/ram=200GiB"
            raise CommandError(f"{option} {text}: expected <service>/<resource>=<amount>, {hint}")
        if (service, resource) in wanted:
            raise CommandError(f"{option} {text}: {service}/{resource} is set twice")
        wanted[service, resource] = amount
    if not wanted:
        raise CommandError("which quotas? Name them with --set <service>/<resource>=<amount>")
    return wanted


def plan(limes: LimesClient, wanted: dict[Ref, str], report: Json) -> list[Change]:
    """Returns the changes that lead to the wanted quotas, from the report of a domain or project. Raises
    `CommandError`."""
    known = resources_of(report)
    changes, problems = [], []
    for ref, text in wanted.items():
        resource = known.get(ref)
        if resource is None:
            problems.append(f"{'/'.join(ref)}: {why_missing(limes, *ref, report)}")
        elif "quota" not in resource:
            problems.append(f"{'/'.join(ref)}: it has no quota")
        else:
            unit, old = unit_of(resource), resource["quota"]
            try:
                changes.append(Change(ref, unit, old, apply_change(text, old, unit)))
            except AmountError as error:
                problems.append(f"{'/'.join(ref)}: {error}")
    if problems:
        raise CommandError("\n".join(problems))
    return changes


def why_missing(limes: LimesClient, service: str, resource: str, report: Json) -> str:
    """Returns why a resource is not in a report: there is none, or the project was not scraped yet."""
    inventory = read_inventory(limes)
    if inventory is not None and (problem := inventory.why_unknown(service, resource)):
        return problem
    for entry in report["services"]:
        if entry["type"] == service and not {"scraped_at", "min_scraped_at"} & entry.keys():
            problem = entry.get("scrape_problem", {}).get("message", "try again in a few seconds")
            return f"nothing is known yet: {problem}"
    return "there is no such resource here"


def services_of(changes: Iterable[Change], term: Mapping[str, Any]) -> Json:
    """Returns the part of a body with the new quotas. `term` are the fields that each gets besides."""
    resources = []
    for change in changes:
        unit = {"unit": change.unit.value} if change.unit.is_measured else {}
        resources.append((change.ref[0], {"name": change.ref[1], "quota": change.new, **term, **unit}))
    return by_service(resources)


def by_service(resources: Iterable[tuple[str, Json]]) -> Json:
    """Returns the part of a body with resources, each given with its service."""
    services: dict[str, list[Json]] = {}
    for service, resource in resources:
        services.setdefault(service, []).append(resource)
    return {"services": [{"type": type_, "resources": each} for type_, each in services.items()]}


add_term_options = titled(
    "quota for a time",
    "These go with --set. Times are ISO 8601 or UNIX times.",
    time_option("--until", help="When the quotas go back by themselves"),
    time_option("--from", dest="starts_at", help="When they are raised (with --until; default: now)"),
    exclusive(
        *(
            option(name, action="store_const", const=keep, dest="keep_until", help=meaning)
            for name, keep, meaning in (
                ("--keep-until", True, "Keep the end of quotas that have one (default: if they stay the same)"),
                ("--drop-until", False, "Make temporary quotas permanent, and cancel planned raises"),
            )
        )
    ),
)


def read_term(args: argparse.Namespace) -> Json:
    """Returns the fields of each quota in a request. Raises `CommandError`."""
    if args.starts_at is not None and args.until is None:
        raise CommandError("--from goes with --until")
    if args.until is not None and args.keep_until is not None:
        raise CommandError("--until sets a new end: leave out --keep-until and --drop-until")
    fields = {"until": args.until, "from": args.starts_at, "keep_until": args.keep_until}
    return {name: value for name, value in fields.items() if value is not None}


class Temporary(FormattableColumn[dict[str, Any]]):
    """The end of a quota: `until 2027-01-31, then 20`; for programs an object as in the API."""

    def __init__(self, end: Json, unit: Unit) -> None:
        super().__init__(end)
        self._unit = unit

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
    end = document.get("temporary_quota")
    return None if end is None else Temporary(end, unit_of(document))


add_quota_set_option = option(
    "--quota-set", metavar="<name>", help="Preset size, from limes quota-set list; --set takes precedence"
)


def read_quota_sets(limes: LimesClient) -> list[Json]:
    """Returns the sets of this cloud. A Limes that is older than they are has none."""
    sets: list[Json] = limes.get("/resources").get("quota_sets", [])
    return sets


def wanted_quotas(limes: LimesClient, name: str | None, texts: Sequence[str]) -> dict[Ref, str]:
    """Returns the quotas of the set of that name, and of `--set`. Raises `CommandError`."""
    if name is None:
        return read_wanted_quotas(limes, texts)
    sets = {each["name"]: each for each in read_quota_sets(limes)}
    if name not in sets:
        hint = suggest(name, list(sets)) if sets else "this cloud has none"
        raise CommandError(f"--quota-set {name}: there is no such quota set; {hint}")
    known = resources_of(sets[name])
    quotas = {ref: exact(resource["quota"], unit_of(resource)) for ref, resource in known.items()}
    return quotas | (read_wanted_quotas(limes, texts) if texts else {})


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
            "Quota": exact_amount("quota"),
        },
        optional={"Description"},
    )

    def entries(self, args: argparse.Namespace) -> Iterator[Json]:
        for each in read_quota_sets(self.limes):
            for (service, _), resource in resources_of(each).items():
                yield {**resource, "set": each["name"], "description": each["description"], "service": service}
