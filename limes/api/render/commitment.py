"""Answers about commitments that are no commitments themselves."""

from limes.actions.commitments.utilisation import Utilisation, date_of
from limes.api.render.common import unix
from limes.api.shapes import commitments as shapes
from limes.core.catalog import Ref
from limes.core.commitments.plan import Plan
from limes.core.commitments.rules import Rate


def render_plan(plan: Plan) -> shapes.Plan:
    """POST .../commitments/plan. Of other projects' commitments only AZ, amount and end are shown."""
    document: shapes.Plan = {
        "confirmable_now": plan.confirmable_now,
        "blocked_by": [
            {"availability_zone": one.az, "amount": one.amount, "expires_at": unix(one.expires_at)}
            for one in plan.blockers
        ],
    }
    if plan.unplaced:
        document["unplaced_usage"] = plan.unplaced
    if plan.confirmable_at is None:
        document["missing_capacity"] = plan.missing
    else:
        document["confirmable_at"] = unix(plan.confirmable_at)
    return document


def render_utilisation(found: Utilisation) -> shapes.Utilisation:
    """One resource in one AZ. Of each day the averages, and the smallest and largest usage."""
    document: shapes.Utilisation = {
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
    if found.unit.is_measured:
        document["unit"] = found.unit.value
    return document


def render_rates(rates: dict[Ref, Rate]) -> shapes.ConversionsAnswer:
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
