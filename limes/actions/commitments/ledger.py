"""What all use cases of commitments share: locks, figures, changes with their events, and settling.

Settling a resource means to expire commitments that have ended, and to confirm those that there is capacity for.
Invariants: whoever changes commitments to a resource, or decides on its capacity, holds the lock on the resource's row.
Each change is written in one transaction with its event, and events come last (`limes.db.queries.commitment_events`
says why).
"""

import logging
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from limes.actions.change_log import ChangeLog, scope_of
from limes.actions.compute_quota import autogrow_rule
from limes.actions.context import Limes
from limes.actions.grant_needed import grant_needed
from limes.actions.lookup import not_ready
from limes.audit.cadf import Scope
from limes.audit.events import CommitmentStep
from limes.audit.initiator import Initiator
from limes.core.catalog import Catalog, Ref
from limes.core.commitments import reshaping
from limes.core.commitments.claims import Tally
from limes.core.commitments.commitment import Commitment, Status, advance, confirm, describe
from limes.core.commitments.deadlines import NO_DEADLINES, Deadlines
from limes.core.commitments.request import check_duration, committable_resource
from limes.core.commitments.reshaping import Reshaped, without_renewal
from limes.core.quota import is_forbidden
from limes.core.units import Unit
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_balance, commitment_events
from limes.db.queries import commitments as queries
from limes.db.queries import project_quotas as quota_queries
from limes.db.queries import projects as project_queries
from limes.db.queries.autogrow import mark_due
from limes.db.queries.capacity import lock_resources
from limes.errors import Conflict, NotFound, NotReady, Unprocessable
from limes.system import Clock, IdSource

log = logging.getLogger(__name__)

RENEWAL_ERRORS = (Conflict, NotFound, NotReady, Unprocessable)
"""Why a commitment cannot be renewed."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that has happened to a commitment."""

    event: str
    commitment: Commitment
    """As it is afterwards."""
    related: tuple[str, ...] = ()
    """UUIDs of the commitments that it was made of, or that have taken its place."""


@dataclass(frozen=True, slots=True)
class Described:
    """A commitment with what is needed to show it."""

    commitment: Commitment
    ref: Ref
    unit: Unit
    warnings: tuple[str, ...] = ()
    """What the caller should know."""
    deadlines: Deadlines = NO_DEADLINES
    """Only known in the list of a project."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """All methods are to be called inside a transaction of the caller."""

    engine: Engine
    catalog: Catalog
    clock: Clock
    ids: IdSource
    change_log: ChangeLog

    def by(self, initiator: Initiator) -> "Ledger":
        """Returns the same ledger for changes that `initiator` makes."""
        return replace(self, change_log=self.change_log.by(initiator))

    def now(self) -> float:
        """Returns the present, in seconds since the epoch."""
        return self.clock.now().timestamp()

    # -- reading -----------------------------------------------------------------------------------------------------

    def refs(self, resources: Iterable[int]) -> dict[int, Ref]:
        """Returns these resources by id, whether they are configured or were."""
        return catalog_queries.refs_by_id(self.engine, sorted(set(resources)))

    def tally(self, ref: Ref, resource_id: int, azs: Collection[str], projects: Collection[int], now: float) -> Tally:
        """Returns the figures that decide on capacity of a resource in these AZs, for these projects."""
        behavior = self.catalog.behavior(ref)
        return Tally(commitment_balance.read_balance(self.engine, resource_id, behavior, azs, projects, now))

    def ref_of(self, commitment: Commitment) -> Ref:
        """Returns the commitment's resource. Raises `NotFound` if that is no longer configured: it can only end
        then."""
        ref = self.refs([commitment.resource_id])[commitment.resource_id]
        if self.catalog.find(ref) is None:
            raise NotFound(f"resource {'/'.join(ref)} is not configured any more")
        return ref

    def require_committable(self, project_id: int, resource_id: int, ref: Ref) -> None:
        """Raises `NotReady` if the project was never scraped for the resource, and `Unprocessable` if the backend does
        not let the project have it."""
        row = quota_queries.project_quotas_by_resource(self.engine, project_id, [resource_id]).get(resource_id)
        if row is None:
            raise not_ready(self.engine, project_id, [ref])
        if is_forbidden(row.max_backend_quota):
            raise Unprocessable(
                f"the backend does not let this project have {'/'.join(ref)}, so there are no commitments to it"
            )

    def without_forbidden(self, resource_id: int, commitments: Sequence[Commitment]) -> list[Commitment]:
        """Leaves out unconfirmed commitments of projects that the backend does not let have the resource."""
        projects = {each.project_id for each in commitments if not each.is_confirmed}
        forbidden = quota_queries.forbidden_projects(self.engine, resource_id, projects) if projects else ()
        return [each for each in commitments if each.is_confirmed or each.project_id not in forbidden]

    def add_description(self, commitment: Commitment) -> Described:
        """Returns the commitment with its resource's name and unit. Raises `NotFound` if that is no longer
        configured."""
        ref = self.ref_of(commitment)
        return Described(commitment, ref, self.unit_of(ref))

    def unit_of(self, ref: Ref) -> Unit:
        """Returns the unit of a resource; that of counted ones if it is not configured any more."""
        resource = self.catalog.find(ref)
        return resource.unit if resource else Unit.COUNT

    def add_descriptions(self, commitments: Iterable[Commitment]) -> list[Described]:
        """Returns the same for many. Commitments to resources that are not configured any more are left out."""
        commitments = list(commitments)
        refs = self.refs(commitment.resource_id for commitment in commitments)
        with_refs = ((commitment, refs.get(commitment.resource_id)) for commitment in commitments)
        return [
            Described(commitment, ref, resource.unit)
            for commitment, ref in with_refs
            if ref is not None and (resource := self.catalog.find(ref)) is not None
        ]

    # -- changing ----------------------------------------------------------------------------------------------------

    def lock(self, resources: Iterable[int], now: float) -> list[Change]:
        """Locks these resources against others who change commitments to them, and settles them."""
        ids = sorted(set(resources))
        if ids:
            lock_resources(self.engine, ids)
        return [change for id_ in ids for change in self.settle(id_, now)]

    def lock_commitment(self, project_id: int, id_: int, now: float) -> tuple[Commitment, list[Change]]:
        """Returns a live commitment of the project, with its resource locked and settled. Raises `NotFound`."""
        commitment = queries.find(self.engine, id_)
        if commitment is None or commitment.project_id != project_id:
            raise NotFound("no such commitment")
        changes = self.lock([commitment.resource_id], now)
        return self.read_again(commitment), changes

    def read_again(self, commitment: Commitment) -> Commitment:
        """Reads the commitment after its resource was locked. Raises `NotFound` if it has ended or changed projects."""
        present = queries.find(self.engine, commitment.id)
        if present is None or not present.is_live or present.project_id != commitment.project_id:
            raise NotFound("no such commitment")
        return present

    def store(self, commitment: Commitment) -> Commitment:
        """Stores a new commitment, and returns it with its number."""
        return replace(commitment, id=queries.insert(self.engine, commitment))

    def store_reshaped(self, reshaped: Reshaped) -> tuple[list[Commitment], list[Change]]:
        """Stores superseded commitments and those that take their place. Returns the latter."""
        for old in reshaped.old:
            queries.update(self.engine, old)
        new = [self.store(commitment) for commitment in reshaped.new]
        before, after = tuple(each.uuid for each in reshaped.old), tuple(each.uuid for each in new)
        changes = [Change("superseded", each, after) for each in reshaped.old]
        changes += [Change("created", each, before) for each in new]
        return new, changes

    def renew(self, commitment: Commitment, now: float, window: float) -> Change:
        """Stores a commitment that begins when this one ends, and returns that as a change.

        Takes over whether it is renewed by itself. Raises `Conflict`, `NotFound`, `NotReady` and `Unprocessable`; then
        nothing is written.
        """
        renewed = reshaping.renew(commitment, now, self.ids.uuid(), window)
        queries.require_not_renewed(self.engine, commitment)
        ref = self.ref_of(commitment)
        check_duration(commitment.duration, committable_resource(ref, self.catalog)[1])
        self.require_committable(commitment.project_id, commitment.resource_id, ref)
        stored = self.store(renewed)
        if commitment.auto_renews:
            queries.update(self.engine, without_renewal(commitment))
        return Change("created", stored, (commitment.uuid,))

    def settle(self, resource_id: int, now: float) -> list[Change]:
        """Expires and confirms commitments to a locked resource, first come first served.

        Returns the changes, which are still to be recorded. One statement where there is nothing to do.
        """
        changes = []
        pending: list[Commitment] = []
        for commitment in queries.unsettled(self.engine, resource_id, now):
            advanced = advance(commitment, now)
            if advanced.status is Status.EXPIRED and commitment.auto_renews:
                renewals = self._renew_late(commitment, now)
                changes += renewals
                pending += [renewal.commitment for renewal in renewals]
                advanced = without_renewal(advanced)
            if advanced != commitment:
                queries.update(self.engine, advanced)
                changes.append(Change(advanced.status.value, advanced))
            if advanced.status is Status.PENDING:
                pending.append(advanced)
        if pending:
            changes += self._confirm_pending(resource_id, pending, now)
        return changes

    def _renew_late(self, commitment: Commitment, now: float) -> list[Change]:
        """Renews one that has ended, because no collector ran when it was due."""
        try:
            renewal = self.renew(commitment, now, math.inf)
        except RENEWAL_ERRORS as error:
            log.warning("commitment %d has ended and was not renewed: %s", commitment.id, error)
            return []
        pending = advance(renewal.commitment, now)
        queries.update(self.engine, pending)
        return [replace(renewal, commitment=pending)]

    def _confirm_pending(self, resource_id: int, pending: Sequence[Commitment], now: float) -> list[Change]:
        ref = self.refs([resource_id])[resource_id]
        if self.catalog.find(ref) is None:
            return []
        earliest = self.catalog.behavior(ref).commitment_min_confirm_date
        if earliest is not None and earliest > now:
            return []
        changes = []
        waiting = self.without_forbidden(resource_id, pending)
        azs, projects = {each.az for each in waiting}, {each.project_id for each in waiting}
        for commitment in self.tally(ref, resource_id, azs, projects, now).confirm_in_turn(waiting):
            confirmed = confirm(commitment, now)
            queries.update(self.engine, confirmed)
            changes.append(Change("confirmed", confirmed))
        return changes

    def record(self, changes: Sequence[Change], now: float) -> None:
        """Writes the events of the changes, and has quota follow them. Comes last in a transaction."""
        if not changes:
            return
        refs = self.refs(change.commitment.resource_id for change in changes)
        self._follow(changes, refs, now)
        owners = project_queries.projects_by_id(self.engine, {change.commitment.project_id for change in changes})
        rows = []
        for change in changes:
            commitment, ref = change.commitment, refs[change.commitment.resource_id]
            owner = owners[commitment.project_id]
            document = describe(commitment, ref, self.unit_of(ref))
            document |= {"project_id": owner.uuid, "domain_id": owner.domain_uuid}
            if change.related:
                document["related"] = list(change.related)
            rows.append(
                commitment_events.EventRow(change.event, commitment.uuid, owner.uuid, orjson.dumps(document).decode())
            )
            log.info(
                "commitment %s of project %s: %s (%d %s/%s in %s)",
                commitment.uuid,
                owner.uuid,
                change.event,
                commitment.amount,
                *ref,
                commitment.az,
            )
        self._audit(rows, {owner.uuid: scope_of(owner) for owner in owners.values()})
        commitment_events.append(self.engine, rows, lambda: max(now, self.now()))

    def _follow(self, changes: Sequence[Change], refs: Mapping[int, Ref], now: float) -> None:
        """Where quota follows commitments: grants what is needed now, and has the rest computed."""
        growing = {id_ for id_, ref in refs.items() if autogrow_rule(self.catalog, ref)}
        if not growing:
            return
        mark_due(self.engine, growing, now, lock=False)
        places = {(one.commitment.project_id, one.commitment.resource_id) for one in changes}
        grant_needed(
            self.engine, self.catalog, self.change_log, [place for place in places if place[1] in growing], now
        )

    def _audit(self, rows: Sequence[commitment_events.EventRow], scopes: Mapping[str, Scope]) -> None:
        """Writes audit events. A commitment's last event says what it was before. `scopes` are by project UUID."""
        if not self.change_log.has_sinks:
            return
        known = commitment_events.latest_documents(self.engine, {row.commitment_uuid for row in rows})
        before = {uuid: orjson.loads(document) for uuid, document in known.items()}
        steps = []
        for row in rows:
            after = orjson.loads(row.document)
            steps.append(
                CommitmentStep(
                    row.event, row.commitment_uuid, scopes[row.project_uuid], before.get(row.commitment_uuid), after
                )
            )
            before[row.commitment_uuid] = after
        self.change_log.record_commitments(steps)


def open_ledger(limes: Limes) -> Ledger:
    """Returns the ledger of the context."""
    return Ledger(limes.engine, limes.catalog, limes.clock, limes.ids, limes.change_log)


@dataclass(frozen=True, slots=True)
class LedgerUser:
    """Use cases that are transactions of a ledger's engine."""

    ledger: Ledger

    @property
    def engine(self) -> Engine:
        """For `limes.db.transactions`."""
        return self.ledger.engine
