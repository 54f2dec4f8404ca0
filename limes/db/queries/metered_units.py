"""In which units the amounts of resources were told over time (docs/adr/0032)."""

from collections.abc import Mapping
from typing import Any

from limes.core.catalog import Ref
from limes.core.metering.units import MonthUnits
from limes.db.compiled import compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import MeteredUnit

_KEY: list[Any] = [MeteredUnit.service_type, MeteredUnit.resource_name, MeteredUnit.since]
_UNIT: list[Any] = [MeteredUnit.unit]
_ALL = compiled(lambda p: MeteredUnit.select(*_KEY, *_UNIT).order_by(MeteredUnit.since))
_ADD = compiled_insert(
    MeteredUnit,
    *(*_KEY, *_UNIT),
    finish=lambda insert: insert.on_conflict(conflict_target=_KEY, preserve=_UNIT),
)


def metered_units(engine: Engine) -> MonthUnits:
    """Returns the units of all resources that were ever metered."""
    noted: dict[Ref, list[tuple[int, str]]] = {}
    for service, resource, since, unit in engine.tuples(_ALL):
        noted.setdefault((service, resource), []).append((since, unit))
    return MonthUnits(noted)


def note_units(engine: Engine, units: Mapping[Ref, str], now: int) -> None:
    """Notes the units of resources from now on, where they have changed."""
    noted = metered_units(engine).noted
    new = [(*ref, now, unit) for ref, unit in sorted(units.items()) if ref not in noted or noted[ref][-1][1] != unit]
    if new:
        engine.write(_ADD, rows=new)
