"""In which units the amounts of resources were told over time (docs/adr/0032)."""

from collections.abc import Mapping

from limes.core.catalog import Ref
from limes.core.metering.units import MonthUnits
from limes.db.engine import Engine
from limes.db.models import MeteredUnit
from limes.db.query import Insert, Node, tuples

_COLUMNS = (MeteredUnit.service_type, MeteredUnit.resource_name, MeteredUnit.since, MeteredUnit.unit)
_add = Insert(tuple[str, str, int, str], MeteredUnit, *_COLUMNS, key=3)


@tuples(tuple[str, str, int, str])
def _all() -> Node:
    return MeteredUnit.select(*_COLUMNS).order_by(MeteredUnit.since)


def metered_units(engine: Engine) -> MonthUnits:
    """The units of all resources that were ever metered."""
    noted: dict[Ref, list[tuple[int, str]]] = {}
    for service, resource, since, unit in _all(engine):
        noted.setdefault((service, resource), []).append((since, unit))
    return MonthUnits(noted)


def note_units(engine: Engine, units: Mapping[Ref, str], now: int) -> None:
    """Notes the units of resources from now on, where they have changed."""
    noted = metered_units(engine).noted
    changed = [(ref, unit) for ref, unit in sorted(units.items()) if ref not in noted or noted[ref][-1][1] != unit]
    _add(engine, [(*ref, now, unit) for ref, unit in changed])
