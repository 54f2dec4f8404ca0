"""From the settings to rules about the resources that there are. All that is wrong with them goes to a list."""

import logging
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from limes.app.settings.load import read_yaml
from limes.app.settings.root import Settings
from limes.catalog.catalog import AutogrowRule, BehaviorRule, Catalog, DistributionRule, Ref, ResourceDef
from limes.catalog.settings import QuotaDistributionSettings
from limes.commitments.commitment import DurationError, parse_duration
from limes.kernel.errors import ConfigError
from limes.kernel.units import MAX_AMOUNT, UnitError, parse_value
from limes.kernel.validation.problems import did_you_mean
from limes.quota.constraints import NO_OVERRIDES, QuotaOverrides, parse_overrides
from limes.quota.rules import LowPrivLimit, LowPrivRules, QuotaSet, parse_lowpriv_limit

T = TypeVar("T")
log = logging.getLogger(__name__)


class Names(Struct, frozen=True):
    """The services and resources that there are."""

    catalog: Catalog
    unclear: Collection[str] = ()
    """Services whose resources are not known, as their entries have problems of their own. No reference to one of them
    is called wrong."""

    def problem(self, ref: Ref, consequence: str = "") -> str | None:
        """Returns what is wrong with a reference, the `consequence`, and a hint at the nearest name; or None."""
        service_type, name = ref
        if service_type in self.unclear or self.catalog.find(ref) is not None:
            return None
        service = self.catalog.services.get(service_type)
        if service is None:
            known = {*self.catalog.services, *self.unclear}
            return f"there is no service {service_type!r}{consequence}{did_you_mean(service_type, known)}"
        hint = did_you_mean("/".join(ref), [f"{service_type}/{known}" for known in service.resources])
        return f"there is no resource {service_type}/{name}{consequence}{hint}"

    def problems(self, refs: Iterable[tuple[str, Ref]]) -> Iterator[str]:
        """Yields what is wrong with references, after the places that they are at."""
        for path, ref in refs:
            if problem := self.problem(ref):
                yield f"{path}: {problem}"


def behavior_rules(settings: Settings, problems: list[str]) -> list[BehaviorRule]:
    """Returns the rules of `resource_behavior`, with durations as they are shown."""
    rules = []
    for index, rule in enumerate(settings.resource_behavior):
        durations = []
        for text in rule.commitment_durations:
            try:
                durations.append(str(parse_duration(text)))
            except DurationError as error:
                problems.append(f"resource_behavior[{index}].commitment_durations: {error}")
        rules.append(rule.model_copy(update={"commitment_durations": tuple(durations)}))
    return rules


def distribution_rule(entry: QuotaDistributionSettings) -> DistributionRule:
    given = entry.autogrow
    if given is None:
        return DistributionRule(entry.resource, entry.model, entry.strict_domain_quota_limit)
    autogrow = AutogrowRule(
        growth_multiplier=given.growth_multiplier,
        growth_minimum=given.growth_minimum,
        project_base_quota=given.project_base_quota,
        retention=given.usage_data_retention_period,
        overcommit=given.allow_quota_overcommit,
        overcommit_until=given.allow_quota_overcommit_until_allocated_percent / 100,
        minor_change=given.minor_change_percent / 100,
        minor_change_interval=given.minor_change_interval,
    )
    return DistributionRule(entry.resource, entry.model, entry.strict_domain_quota_limit, autogrow)


def approval_problems(settings: Settings, catalog: Catalog) -> Iterator[str]:
    """Yields what is wrong with `quota_requests.auto_approval`."""
    for index, rule in enumerate(settings.quota_requests.auto_approval):
        for ref in filter(catalog.tracks_quota, catalog.refs()):
            if rule.resource.fullmatch("/".join(ref)):
                try:
                    rule.limit(catalog.unit_of(ref))
                except UnitError as error:
                    yield f"quota_requests.auto_approval[{index}].up_to: for {'/'.join(ref)}: {error}"


def lowpriv_rules(settings: Settings, names: Names, problems: list[str]) -> LowPrivRules:
    section, path = settings.lowpriv_raise, "lowpriv_raise.limits"
    of_domains, of_projects = partial(_limit, for_domains=True), partial(_limit, for_domains=False)
    return LowPrivRules(
        domains=_values(section.limits.domains, f"{path}.domains", names, problems, of_domains),
        projects=_values(section.limits.projects, f"{path}.projects", names, problems, of_projects),
        except_projects_in_domains=section.except_projects_in_domains,
        only_projects_in_domains=section.only_projects_in_domains,
    )


def _limit(ref: Ref, text: str, resource: ResourceDef, *, for_domains: bool) -> LowPrivLimit:
    return parse_lowpriv_limit(text, resource.unit, for_domains=for_domains)


def quota_sets(settings: Settings, names: Names, problems: list[str]) -> dict[str, QuotaSet]:
    return {
        name: QuotaSet(
            name, section.description, _values(section.quotas, f"quota_sets.{name}.quotas", names, problems, _amount)
        )
        for name, section in settings.quota_sets.items()
    }


def _values(
    section: Mapping[str, Mapping[str, str | int]],
    path: str,
    names: Names,
    problems: list[str],
    parse: Callable[[Ref, str, ResourceDef], T],
) -> dict[Ref, T]:
    """Returns what texts by service and resource mean."""
    values: dict[Ref, T] = {}
    for service_type, texts in section.items():
        for name, text in texts.items():
            ref, where = (service_type, name), f"{path}.{service_type}.{name}"
            resource = names.catalog.find(ref)
            if resource is None:
                problems += names.problems([(where, ref)])
                continue
            try:
                values[ref] = parse(ref, re.sub(r"\s+", " ", str(text)), resource)
            except UnitError as error:
                problems.append(f"{where}: {error}")
    return values


def _amount(ref: Ref, text: str, resource: ResourceDef) -> int:
    if not resource.tracks_quota:
        raise UnitError(f"{'/'.join(ref)} has no quota")
    amount = parse_value(text, resource.unit)
    if amount > MAX_AMOUNT:
        raise UnitError(f"{text} is too large: the maximum is {resource.unit.render(MAX_AMOUNT)}")
    return amount


class OverridesFile:
    """What `quota_overrides_path` names, read again whenever it has changed. Threads may share it. While a changed file
    cannot be used, the last good one stays in force: quota of many projects would move otherwise."""

    def __init__(self, path: Path | None, catalog: Catalog) -> None:
        """Reads the file; without a path there are no overrides. Raises `ConfigError` with all problems."""
        self._path = path
        self._catalog = catalog
        self._lock = threading.Lock()
        self._is_valid = True
        self._signature = _look_at(path) if path is not None else None
        self._overrides = parse_overrides(read_yaml(path), catalog) if path is not None else NO_OVERRIDES

    def current(self) -> QuotaOverrides:
        """Returns the overrides of the file as it is now, or as it was when it could be used last."""
        if self._path is not None:
            with self._lock:
                self._follow(self._path)
        return self._overrides

    def is_valid(self) -> bool:
        self.current()
        return self._is_valid

    def _follow(self, path: Path) -> None:
        signature = _look_at(path)  # before reading: what changes meanwhile is read the next time
        if signature == self._signature:
            return
        self._signature = signature
        try:
            self._overrides = parse_overrides(read_yaml(path), self._catalog)
            self._is_valid = True
            log.info("%s has changed: quota overrides: %d", path, len(self._overrides))
        except ConfigError as error:
            self._is_valid = False
            for problem in error.problems:
                log.error("%s", problem)
            log.error("%s has changed and cannot be used: the last good overrides stay in force", path)


def _look_at(path: Path) -> tuple[int, ...] | None:
    """Returns what tells one state of a file from another; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
