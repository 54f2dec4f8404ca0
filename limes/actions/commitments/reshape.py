"""Making new commitments of old ones: merge, renew, change the duration, convert to another resource."""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.actions.commitments.ledger import Change, Described, LedgerUser
from limes.actions.commitments.preview import add_warnings
from limes.actions.lookup import find_project
from limes.audit.initiator import Initiator
from limes.core.catalog import Ref
from limes.core.commitments import reshaping
from limes.core.commitments.commitment import Commitment
from limes.core.commitments.duration import canonical_duration
from limes.core.commitments.request import (
    check_amount,
    check_az,
    check_duration,
    check_earliest,
    committable_resource,
)
from limes.core.commitments.rules import CommitmentRules, Rate, conversion_rates
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitments as queries
from limes.db.transactions import atomic
from limes.errors import Conflict, NotFound, Unprocessable


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a commitment, or a part of it, is to be converted to."""

    target: Ref
    source_amount: int
    target_amount: int


@dataclass(frozen=True, slots=True)
class ReshapeCommitments(LedgerUser):
    """The use cases. All of them raise `NotFound`, `Conflict` and `Unprocessable`, and change all or nothing."""

    rules: CommitmentRules

    @atomic
    def merge(self, domain_uuid: str, project_uuid: str, numbers: Sequence[int], initiator: Initiator) -> Described:
        """Merges several into one, which ends when the last of them would."""
        ledger = self.ledger.by(initiator)
        now = ledger.now()
        project = find_project(ledger.engine, domain_uuid, project_uuid)
        named = [queries.find(ledger.engine, number) for number in dict.fromkeys(numbers)]
        own = [each for each in named if each is not None and each.project_id == project.id]
        if len(own) < len(named):
            raise NotFound("no such commitment")
        changes = ledger.lock({each.resource_id for each in own}, now)
        own = [ledger.read_again(each) for each in own]
        merged = reshaping.merge(own, now, ledger.ids.uuid())
        for each in own:  # the merged one could be renewed, too, or not at all
            queries.require_not_renewed(ledger.engine, each, ", so it cannot be merged")
        successors, more_changes = ledger.store_reshaped(merged)
        ledger.record([*changes, *more_changes], now)
        return ledger.add_description(successors[0])

    @atomic
    def renew(self, domain_uuid: str, project_uuid: str, id_: int, initiator: Initiator) -> Described:
        """Creates a commitment that begins when this one ends."""
        ledger = self.ledger.by(initiator)
        now = ledger.now()
        project = find_project(ledger.engine, domain_uuid, project_uuid)
        commitment, changes = ledger.lock_commitment(project.id, id_, now)
        renewal = ledger.renew(commitment, now, self.rules.renewal_window)
        ledger.record([*changes, renewal], now)
        return add_warnings(ledger, ledger.add_description(renewal.commitment))

    @atomic
    def change_duration(
        self, domain_uuid: str, project_uuid: str, id_: int, duration: str, initiator: Initiator
    ) -> Described:
        """Makes it last longer, counted from the same start. Not once it was renewed: both would hold at the same time,
        and to move the renewal would change what others were told of it."""
        ledger, wanted = self.ledger.by(initiator), canonical_duration(duration)
        now = ledger.now()
        project = find_project(ledger.engine, domain_uuid, project_uuid)
        commitment, changes = ledger.lock_commitment(project.id, id_, now)
        ref = ledger.ref_of(commitment)
        check_duration(wanted, committable_resource(ref, ledger.catalog)[1])
        ledger.require_committable(project.id, commitment.resource_id, ref)
        changed = reshaping.change_duration(commitment, wanted, now)
        if changed != commitment:
            queries.require_not_renewed(ledger.engine, commitment, ": change the duration of that one")
            queries.update(ledger.engine, changed)
            changes.append(Change("duration_changed", changed))
        ledger.record(changes, now)
        return ledger.add_description(changed)

    def conversions(self, source: Ref) -> dict[Ref, Rate]:
        """Returns what commitments to this resource can become. Raises `Unprocessable` if it allows no commitments."""
        committable_resource(source, self.ledger.catalog)
        rates = conversion_rates(self.rules.conversions, source)
        return {target: rate for target, rate in sorted(rates.items()) if self._is_committable(target)}

    def _is_committable(self, ref: Ref) -> bool:
        return bool(self.ledger.catalog.find(ref) and self.ledger.catalog.behavior(ref).commitment_durations)

    @atomic
    def convert(
        self, domain_uuid: str, project_uuid: str, id_: int, wanted: Conversion, initiator: Initiator
    ) -> Described:
        """Converts it, or a part of it, to another resource. A confirmed one stays so, and needs capacity there."""
        ledger = self.ledger.by(initiator)
        now = ledger.now()
        project = find_project(ledger.engine, domain_uuid, project_uuid)
        before = queries.find(ledger.engine, id_)
        if before is None or before.project_id != project.id:
            raise NotFound("no such commitment")
        ids = catalog_queries.resource_ids(ledger.engine)
        if wanted.target not in ids:
            raise Unprocessable("no such resource")
        target_id = ids[wanted.target]
        changes = ledger.lock([before.resource_id, target_id], now)
        commitment = ledger.read_again(before)
        self._check(commitment, ledger.ref_of(commitment), wanted, now)
        ledger.require_committable(project.id, target_id, wanted.target)
        uuids = (ledger.ids.uuid(), ledger.ids.uuid())
        converted = reshaping.convert(commitment, wanted.source_amount, target_id, wanted.target_amount, now, uuids)
        if commitment.is_confirmed:
            tally = ledger.tally(wanted.target, target_id, {commitment.az}, {project.id}, now)
            if not tally.allows(commitment.az, project.id, wanted.target_amount):
                raise Conflict("not enough capacity available to confirm the converted commitment")
        successors, more_changes = ledger.store_reshaped(converted)
        changes += [*more_changes, *ledger.settle(commitment.resource_id, now), *ledger.settle(target_id, now)]
        ledger.record(changes, now)
        return add_warnings(
            ledger, ledger.add_description(queries.find(ledger.engine, successors[0].id) or successors[0])
        )

    def _check(self, commitment: Commitment, source: Ref, wanted: Conversion, now: float) -> None:
        """Raises `Unprocessable` if the target does not accept it, or the amounts do not fit the rate."""
        rate = conversion_rates(self.rules.conversions, source).get(wanted.target)
        if rate is None:
            raise Unprocessable(f"commitments of {'/'.join(source)} cannot be converted to {'/'.join(wanted.target)}")
        resource, behavior = committable_resource(wanted.target, self.ledger.catalog)
        check_az(commitment.az, behavior, self.ledger.catalog)
        check_duration(commitment.duration, behavior)
        check_earliest(now if commitment.is_confirmed else commitment.starts_at, behavior)
        check_amount(wanted.source_amount, resource)
        check_amount(wanted.target_amount, resource)
        required = rate.apply(wanted.source_amount)
        if wanted.target_amount != required:
            raise Unprocessable(f"target_amount must be {required} for a source_amount of {wanted.source_amount}")
        check_amount(required, resource)
