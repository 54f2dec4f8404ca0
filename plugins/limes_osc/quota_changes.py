"""Changes of quotas: what `--set` asks for, as numbers and as text, and why a change would be refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from osc_lib.exceptions import CommandError

from limes.core.units import Unit
from limes_osc.amounts import AmountError, apply_change, exact, unit_of
from limes_osc.client import Json, LimesClient
from limes_osc.names import read_inventory

Ref = tuple[str, str]
"""Service type and resource name."""


def query_of(refs: Iterable[Ref]) -> list[tuple[str, str]]:
    """Returns the query for a report with these quotas."""
    return sorted({("service", service) for service, _ in refs} | {("resource", name) for _, name in refs})


def resources_of(report: Json) -> dict[Ref, Json]:
    return {
        (service["type"], resource["name"]): resource
        for service in report["services"]
        for resource in service["resources"]
    }


@dataclass(frozen=True, slots=True)
class Change:
    """One quota, as it is and as it is to be."""

    service: str
    resource: str
    unit: Unit
    old: int
    new: int

    @property
    def ref(self) -> Ref:
        return self.service, self.resource

    def render(self) -> str:
        """For people: `compute/ram: 100 GiB -> 200 GiB (+100 GiB)`."""
        head = f"{self.service}/{self.resource}: {exact(self.old, self.unit)}"
        if self.new == self.old:
            return f"{head} (unchanged)"
        sign = "+" if self.new > self.old else "-"
        return f"{head} -> {exact(self.new, self.unit)} ({sign}{exact(abs(self.new - self.old), self.unit)})"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a quota would not be accepted, and what would be."""

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


def read_refusals(simulation: Json) -> dict[Ref, Refusal]:
    """Returns the answer of simulate-put."""
    return {
        (resource["service_type"], resource["resource_name"]): Refusal(
            resource["message"], resource.get("min_acceptable_quota"), resource.get("max_acceptable_quota")
        )
        for resource in simulation.get("unacceptable_resources", ())
    }


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
    for (service, name), text in wanted.items():
        resource = known.get((service, name))
        if resource is None:
            problems.append(f"{service}/{name}: {why_missing(limes, service, name, report)}")
        elif "quota" not in resource:
            problems.append(f"{service}/{name}: it has no quota")
        else:
            unit, old = unit_of(resource), resource["quota"]
            try:
                changes.append(Change(service, name, unit, old, apply_change(text, old, unit)))
            except AmountError as error:
                problems.append(f"{service}/{name}: {error}")
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
        resources.append((change.service, {"name": change.resource, "quota": change.new, **term, **unit}))
    return by_service(resources)


def by_service(resources: Iterable[tuple[str, Json]]) -> Json:
    """Returns the part of a body with resources, each given with its service."""
    services: dict[str, list[Json]] = {}
    for service, resource in resources:
        services.setdefault(service, []).append(resource)
    return {"services": [{"type": type_, "resources": each} for type_, each in services.items()]}
