"""Answers about commitments. A commitment itself is in `limes.core.commitments.document`, as events show it, too."""

from math import ceil
from typing import Annotated

from pydantic import Field

from limes.actions.commitments.create import Verdict
from limes.actions.commitments.store import CommitmentView
from limes.actions.commitments.utilisation import Utilisation as Found
from limes.actions.commitments.utilisation import ZoneSummary as Summary
from limes.actions.commitments.utilisation import date_of
from limes.core.catalog import Ref
from limes.core.commitments import plan
from limes.core.commitments.commitment import Status
from limes.core.commitments.document import Commitment, EventCommitment
from limes.core.commitments.rules import Rate
from limes.validation.shape import Amount, PositiveAmount, Shape, Time, Unit, seconds

Message = Annotated[str, Field(description="what is wrong")]


class CommitmentAnswer(Shape):
    """One commitment."""

    commitment: Commitment
    warnings: list[str] = []


class CommitmentsAnswer(Shape):
    """Commitments, in the order of their numbers."""

    commitments: list[Commitment]


def render_commitment(view: CommitmentView, *, with_token: bool = True) -> Commitment:
    """The transfer token is shown to those who may give the commitment away."""
    deadlines = view.deadlines
    return Commitment.of(
        view.commitment,
        view.ref,
        view.unit,
        with_token=with_token,
        renewable_from=seconds(deadlines.renewable_from),
        deletable_until=seconds(deadlines.deletable_until),
    )


class CommitmentEvent(Shape):
    """A change of a commitment."""

    number: PositiveAmount
    at: Time
    event: str
    commitment: EventCommitment


class CommitmentEventsAnswer(Shape):
    """Changes in their order; `next` is what to ask for next as `since`."""

    events: list[CommitmentEvent]
    next: Annotated[int, Field(ge=0)]


class CanConfirmAnswer(Shape):
    """Whether the commitment could be made and confirmed at once; if not, why, and what would work."""

    result: bool
    reason: str | None = None
    confirmable_now: Annotated[int, Field(ge=0, description="the largest amount that could be")] | None = None
    confirmable_at: Annotated[int, Field(ge=0, description="when all of it could be, UNIX timestamp")] | None = None
    warnings: list[str] = []


def render_verdict(verdict: Verdict, warnings: list[str]) -> CanConfirmAnswer:
    planned = verdict.plan
    at = None if planned is None else planned.confirmable_at
    return CanConfirmAnswer(
        result=verdict.is_possible,
        reason=verdict.reason or None,
        confirmable_now=None if planned is None else planned.confirmable_now,
        confirmable_at=None if at is None else ceil(at),
        warnings=warnings,
    )


class Blocker(Shape):
    """A commitment that takes the capacity, until it ends."""

    availability_zone: str
    amount: PositiveAmount
    expires_at: Time


class Plan(Shape):
    """When the commitment could be confirmed, or how much capacity is missing for ever."""

    confirmable_now: Annotated[int, Field(ge=0, description="how much of the amount")]
    blocked_by: list[Blocker]
    unplaced_usage: (
        Annotated[int, Field(ge=1, description="used in unknown zones; shown where that leaves less than the zone has")]
        | None
    ) = None
    missing_capacity: Amount | None = None
    confirmable_at: Time | None = None


class PlanAnswer(Shape):
    """What is known today."""

    plan: Plan
    warnings: list[str] = []


def render_plan(found: plan.Plan) -> Plan:
    """Of other projects' commitments only AZ, amount and end are shown."""
    blockers = [
        Blocker(availability_zone=each.az, amount=each.amount, expires_at=int(each.expires_at))
        for each in found.blockers
    ]
    return Plan(
        confirmable_now=found.confirmable_now,
        blocked_by=blockers,
        unplaced_usage=found.unplaced or None,
        missing_capacity=found.missing if found.confirmable_at is None else None,
        confirmable_at=seconds(found.confirmable_at),
    )


class UtilisationDay(Shape):
    """Averages of a day, and the smallest and largest usage that was seen."""

    date: str
    committed: Amount
    used: Amount
    unused: Amount
    min_used: Amount
    max_used: Amount


class Utilisation(Shape):
    """How commitments of a resource in one availability zone fit its usage."""

    service_type: str
    resource_name: str
    availability_zone: str
    recommended_amount: Amount
    days: list[UtilisationDay]
    unit: Unit | None = None


class UtilisationAnswer(Shape):
    """By resource and availability zone."""

    utilisation: list[Utilisation]


def render_utilisation(utilisation: Found) -> Utilisation:
    days = [
        UtilisationDay(
            date=date_of(day.day).isoformat(),
            committed=day.committed,
            used=day.usage,
            unused=day.unused,
            min_used=day.usage_min,
            max_used=day.usage_max,
        )
        for day in utilisation.days
    ]
    return Utilisation(
        service_type=utilisation.ref[0],
        resource_name=utilisation.ref[1],
        availability_zone=utilisation.az,
        recommended_amount=utilisation.recommended,
        days=days,
        unit=utilisation.unit.value or None,
    )


class ZoneSummary(Shape):
    """What projects have committed to, of one resource in one availability zone. Amounts are in the unit."""

    service_type: str
    resource_name: str
    availability_zone: str
    committed: Annotated[int, Field(ge=0, description="confirmed")]
    used: Annotated[int, Field(ge=0, description="of what is confirmed: each project uses its own only")]
    unused: Annotated[int, Field(ge=0, description="of what is confirmed")]
    usage: Annotated[int, Field(ge=0, description="of all projects, with commitments or without")]
    expiring: Annotated[int, Field(ge=0, description="of what is confirmed: ends within `days`, and was not renewed")]
    pending: Amount
    planned: Amount
    commitments: Annotated[int, Field(ge=1, description="how many these are")]
    projects: Annotated[int, Field(ge=0, description="how many have confirmed ones")]
    unit: Unit | None = None
    coverage: Annotated[float, Field(ge=0, le=1, description="share of usage that commitments cover")] | None = None
    waste: Annotated[float, Field(ge=0, le=1, description="share of the confirmed that is not used")] | None = None


class CommitmentSummaryAnswer(Shape):
    """By resource and availability zone. What nobody has committed to is left out."""

    commitment_summary: list[ZoneSummary]


def render_summary(summary: Summary) -> ZoneSummary:
    coverage, waste = summary.coverage, summary.waste
    return ZoneSummary(
        service_type=summary.ref[0],
        resource_name=summary.ref[1],
        availability_zone=summary.az,
        committed=summary.confirmed,
        used=summary.used,
        unused=summary.confirmed - summary.used,
        usage=summary.usage,
        expiring=summary.expiring,
        pending=summary.amounts.get(Status.PENDING, 0),
        planned=summary.amounts.get(Status.PLANNED, 0),
        commitments=summary.number,
        projects=summary.projects,
        unit=summary.unit.value or None,
        coverage=None if coverage is None else round(coverage, 4),
        waste=None if waste is None else round(waste, 4),
    )


class ConversionRate(Shape):
    """How much of this resource becomes how much of that one."""

    target_service: str
    target_resource: str
    source_amount: PositiveAmount
    target_amount: PositiveAmount


class ConversionsAnswer(Shape):
    """What commitments of a resource can be converted to."""

    conversions: list[ConversionRate]


def render_rates(rates: dict[Ref, Rate]) -> ConversionsAnswer:
    conversions = [
        ConversionRate(
            target_service=service, target_resource=resource, source_amount=rate.source, target_amount=rate.target
        )
        for (service, resource), rate in rates.items()
    ]
    return ConversionsAnswer(conversions=conversions)
