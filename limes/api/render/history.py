"""The history of quotas, and explanations of them."""

from limes.actions.explain_quota import Explanation
from limes.api.render.common import Json
from limes.core.bounds import Bound
from limes.core.catalog import Catalog
from limes.core.hierarchy import DomainFigures, ProjectFigures
from limes.core.history import What
from limes.db.queries.history import HistoryRow, NumberedChange


def render_change(catalog: Catalog, change: NumberedChange) -> Json:
    """One change. Amounts are in the resource's unit; bursting is true or false."""
    row = change.row
    document: Json = {"number": change.number, "at": int(row.at), "what": row.what}
    if row.service_type:
        document |= {"service": row.service_type, "resource": row.resource_name}
        resource = catalog.find((row.service_type, row.resource_name))
        if resource is not None and resource.unit.is_measured:
            document["unit"] = resource.unit.value
    is_switch = row.what == What.BURSTING
    document |= {name: bool(value) if is_switch else value for name, value in (("old", row.old), ("new", row.new))}
    document["reason"] = row.reason
    if row.detail:
        document["detail"] = row.detail
    return document | {"initiator": _initiator(row), "request_id": row.request_id}


def _initiator(row: HistoryRow) -> Json:
    if not row.initiator_id:
        return {"type": "job", "name": row.initiator_name}
    return {"type": "user", "id": row.initiator_id, "name": row.initiator_name}


def render_explanation(catalog: Catalog, one: Explanation, *, with_origin: bool) -> Json:
    """Why a quota is what it is, and what bounds it."""
    rules, figures = one.rules, one.figures
    document: Json = {"service": one.ref[0], "resource": one.ref[1]}
    if rules.unit.is_measured:
        document["unit"] = rules.unit.value
    document |= {"quota": figures.quota, **_figures(figures)}
    if one.usable_quota is not None:
        document["usable_quota"] = one.usable_quota
    if rules.constraint is not None:
        document["constraint"] = rules.constraint.render(rules.unit)
    if rules.min_nonzero_quota:
        document["min_nonzero_project_quota"] = rules.min_nonzero_quota
    document["min_acceptable_quota"] = _bound(one.bounds.minimum)
    document["max_acceptable_quota"] = _bound(one.bounds.maximum)
    if one.warning is not None:
        document["warnings"] = [one.warning]
    if with_origin and one.origin is not None:
        document["origin"] = render_change(catalog, one.origin)
    return document


def _figures(figures: ProjectFigures | DomainFigures) -> Json:
    if isinstance(figures, ProjectFigures):
        return {
            "usage": figures.usage,
            "committed": figures.committed,
            "projects_quota": figures.projects_quota,
            "domain_quota": figures.domain_quota,
            "capacity": figures.capacity,
        }
    return {
        "projects_quota": figures.projects_quota,
        "other_domains_quota": figures.other_domains_quota,
        "capacity": figures.capacity,
    }


def _bound(bound: Bound) -> Json:
    return {"quota": bound.quota, "rule": bound.because.rule.value, "message": bound.because.message}
