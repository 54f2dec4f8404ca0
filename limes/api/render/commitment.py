"""Answers about commitments, except the commitments themselves."""

from math import ceil

from limes.actions.commitments.preview import Verdict
from limes.actions.commitments.utilisation import Utilisation, date_of
from limes.actions.reports.commitment_summary import ZoneSummary
from limes.api.render.common import unix
from limes.api.shapes import commitment as shapes
from limes.core.catalog import Ref
from limes.core.commitments.commitment import Status
from limes.core.commitments.deadlines import Deadlines
from limes.core.commitments.plan import Plan
from limes.core.commitments.rules import Rate


def render_verdict(verdict: Verdict) -> shapes.CanConfirmAnswer:
    """POST .../commitments/can-confirm."""
    document: shapes.CanConfirmAnswer = {"result": verdict.is_possible}
    if verdict.reason:
        document["reason"] = verdict.reason
    if verdict.plan is not None:
        document["confirmable_now"] = verdict.plan.confirmable_now
        if verdict.plan.confirmable_at is not None:
            document["confirmable_at"] = ceil(verdict.plan.confirmable_at)
    return document


def render_plan(plan: Plan) -> shapes.Plan:
    """POST .../commitments/plan. Of other projects' commitments only AZ, amount and end are shown."""
    document: shapes.Plan = {
        "confirmable_now": plan.confirmable_now,
        "blocked_by": [
            {"availability_zone": blocker.az, "amount": blocker.amount, "expires_at": unix(blocker.expires_at)}
            for blocker in plan.blockers
        ],
    }
    if plan.unplaced:
        document["unplaced_usage"] = plan.unplaced
    if plan.confirmable_at is None:
        document["missing_capacity"] = plan.missing
    else:
        document["confirmable_at"] = unix(plan.confirmable_at)
    return document


def render_deadlines(deadlines: Deadlines) -> dict[str, int]:
    """Fields of a commitment in the list of its project."""
    times = {"renewable_from": deadlines.renewable_from, "deletable_until": deadlines.deletable_until}
    return {name: unix(time) for name, time in times.items() if time is not None}


def render_utilisation(utilisation: Utilisation) -> shapes.Utilisation:
    """Renders one resource in one AZ: for each day the averages, and the smallest and largest usage."""
    document: shapes.Utilisation = {
        "service_type": utilisation.ref[0],
        "resource_name": utilisation.ref[1],
        "availability_zone": utilisation.az,
        "recommended_amount": utilisation.recommended,
        "days": [
            {
                "date": date_of(day.day).isoformat(),
                "committed": day.committed,
                "used": day.usage,
                "unused": day.unused,
                "min_used": day.usage_min,
                "max_used": day.usage_max,
            }
            for day in utilisation.days
        ],
    }
    if utilisation.unit.is_measured:
        document["unit"] = utilisation.unit.value
    return document


def render_summary(summary: ZoneSummary) -> shapes.ZoneSummary:
    """Renders one resource in one AZ."""
    document: shapes.ZoneSummary = {
        "service_type": summary.ref[0],
        "resource_name": summary.ref[1],
        "availability_zone": summary.az,
        "committed": summary.confirmed,
        "used": summary.used,
        "unused": summary.confirmed - summary.used,
        "usage": summary.usage,
        "expiring": summary.expiring,
        "pending": summary.amounts.get(Status.PENDING, 0),
        "planned": summary.amounts.get(Status.PLANNED, 0),
        "commitments": summary.number,
        "projects": summary.projects,
    }
    if summary.unit.is_measured:
        document["unit"] = summary.unit.value
    if summary.coverage is not None:
        document["coverage"] = round(summary.coverage, 4)
    if summary.waste is not None:
        document["waste"] = round(summary.waste, 4)
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
