"""Answers about commitments that are no commitments themselves."""

from limes.actions.commitments.utilisation import Utilisation, date_of
from limes.api.render.common import Json, unix
from limes.core.catalog import Ref
from limes.core.commitment_plan import Plan
from limes.core.conversion import Rate


def render_plan(plan: Plan) -> Json:
    """POST .../commitments/plan. Of other projects' commitments only amount and end are shown."""
    document: Json = {"confirmable_now": plan.confirmable_now}
    if plan.confirmable_at is None:
        document["missing_capacity"] = plan.missing
    else:
        document["confirmable_at"] = unix(plan.confirmable_at)
    document["blocked_by"] = [{"amount": one.amount, "expires_at": unix(one.expires_at)} for one in plan.blockers]
    return document


def render_utilisation(found: Utilisation) -> Json:
    """One resource in one AZ. Of each day the averages, and the smallest and largest usage."""
    document: Json = {
        "service_type": found.ref[0],
        "resource_name": found.ref[1],
        "availability_zone": found.az,
        "recommended_amount": found.recommended,
        "days": [
            {
                "date": date_of(one.day).isoformat(),
                "committed": one.committed,
                "used": one.usage,
                "unused": one.unused,
                "min_used": one.usage_min,
                "max_used": one.usage_max,
            }
            for one in found.days
        ],
    }
    return document | ({"unit": found.unit.value} if found.unit.is_measured else {})


def render_rates(rates: dict[Ref, Rate]) -> Json:
    """GET /v1/commitment-conversion/..."""
    return {
        "conversions": [
            {
                "target_service": target[0],
                "target_resource": target[1],
                "source_amount": rate.source,
                "target_amount": rate.target,
            }
            for target, rate in rates.items()
        ]
    }
