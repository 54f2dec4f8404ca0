"""Answers about commitments. A commitment itself is in `limes.commitments.document`, as events show it, too."""

from math import ceil
from typing import Annotated

from pydantic import Field

from limes.catalog.catalog import Ref
from limes.commitments import create, document, plan, reading, rules, store
from limes.kernel.validation.shape import Amount, PositiveAmount, Shape, Time, seconds

Message = Annotated[str, Field(description="what is wrong")]


class CommitmentAnswer(Shape):
    """One commitment."""

    commitment: document.Commitment
    warnings: list[str] = []


class CommitmentsAnswer(Shape):
    """Commitments, in the order of their numbers."""

    commitments: list[document.Commitment]


def render_commitment(view: store.CommitmentView, *, with_token: bool = True) -> document.Commitment:
    """The transfer token is shown to those who may give the commitment away."""
    deadlines = view.deadlines
    return document.Commitment.of(
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
    commitment: document.EventCommitment


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


def render_verdict(verdict: create.Verdict, warnings: list[str]) -> CanConfirmAnswer:
    shown = CanConfirmAnswer(result=verdict.is_possible, reason=verdict.reason or None, warnings=warnings)
    if verdict.plan is not None:
        at, shown.confirmable_now = verdict.plan.confirmable_at, verdict.plan.confirmable_now
        shown.confirmable_at = None if at is None else ceil(at)
    return shown


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


class UtilisationAnswer(Shape):
    """By resource and availability zone."""

    utilisation: list[reading.Utilisation]


class CommitmentSummaryAnswer(Shape):
    """By resource and availability zone. Resources without commitments are left out."""

    commitment_summary: list[reading.ZoneSummary]


class ConversionRate(Shape):
    """How much of this resource becomes how much of that one."""

    target_service: str
    target_resource: str
    source_amount: PositiveAmount
    target_amount: PositiveAmount


class ConversionsAnswer(Shape):
    """What commitments of a resource can be converted to."""

    conversions: list[ConversionRate]


def render_rates(rates: dict[Ref, rules.Rate]) -> ConversionsAnswer:
    conversions = [
        ConversionRate(
            target_service=service, target_resource=resource, source_amount=rate.source, target_amount=rate.target
        )
        for (service, resource), rate in rates.items()
    ]
    return ConversionsAnswer(conversions=conversions)
