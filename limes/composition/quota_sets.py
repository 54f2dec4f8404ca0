"""From the configuration to preset sizes of quota."""

import re

from limes.composition.references import Names
from limes.core.catalog import Ref
from limes.core.quota import QuotaSet
from limes.core.units import MAX_AMOUNT, Unit, UnitError, parse_value
from limes.settings import Settings
from limes.settings.quotas import QuotaSetSettings


def quota_sets(settings: Settings, names: Names, problems: list[str]) -> dict[str, QuotaSet]:
    """Returns the sets by name; adds everything that is wrong with them to `problems`."""
    return {
        name: QuotaSet(name, section.description, _quotas(section, f"quota_sets.{name}.quotas", names, problems))
        for name, section in settings.quota_sets.items()
    }


def _quotas(section: QuotaSetSettings, path: str, names: Names, problems: list[str]) -> dict[Ref, int]:
    quotas: dict[Ref, int] = {}
    for service_type, resources in section.quotas.items():
        for name, text in resources.items():
            ref, where = (service_type, name), f"{path}.{service_type}.{name}"
            resource = names.find(ref)
            if resource is None:
                problems += [f"{where}: {problem}" for problem in (names.problem(ref),) if problem]
            elif not resource.tracks_quota:
                problems.append(f"{where}: {service_type}/{name} has no quota")
            else:
                try:
                    quotas[ref] = _amount(text, resource.unit)
                except UnitError as error:
                    problems.append(f"{where}: {error}")
    return quotas


def _amount(text: str | int, unit: Unit) -> int:
    amount = parse_value(re.sub(r"\s+", " ", str(text)), unit)
    if amount > MAX_AMOUNT:
        raise UnitError(f"{text} is too large: the maximum is {unit.render(MAX_AMOUNT)}")
    return amount
