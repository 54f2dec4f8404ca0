"""Approves a project's request by the rules of the configuration, in the transaction in which it is made.

Invariant: a rule with `every` approves a resource of a project once in that time, even if several requests are made at
once. It holds because who makes a request locks the project's row first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limes.actions.quota_changes import EVERYTHING, QuotaOutcome
from limes.actions.quota_requests.desk import Desk
from limes.actions.quota_requests.grant import GrantQuota, Rights
from limes.audit.initiator import of_job
from limes.core.catalog import Ref
from limes.core.history import What
from limes.core.quota_requests import AutoApprovalRule, EventKind, RequestStatus, Wish, first_match
from limes.core.temporary_quota import Term
from limes.db.queries import quota_requests as queries
from limes.db.queries.catalog import resource_ids
from limes.db.queries.projects import ProjectRow
from limes.db.queries.quota_request_lists import approvals_by_rules
from limes.db.queries.quota_requests import AmountRow


@dataclass(frozen=True, slots=True)
class ApproveByRules:
    """The use case. To be called inside the transaction, with the project's row locked."""

    desk: Desk

    def run(
        self, project: ProjectRow, request_id: int, rows: Sequence[AmountRow], term: Term
    ) -> tuple[ProjectRow, QuotaOutcome] | None:
        """Returns what was changed; None if the request stays open."""
        rules = self._matching(project, rows)
        if rules is None:
            return None
        said = ", ".join(f"{'/'.join(ref)} by rule {rule.name}" for ref, rule in sorted(rules.items()))
        author = of_job("auto-approval")
        granted = {row.ref: row.wanted for row in rows}
        rights = Rights(lambda _: EVERYTHING)
        outcome = GrantQuota(self.desk, term).to_project(project, request_id, rows, granted, rights, author)
        if outcome.refusals:
            reasons = "; ".join(f"{'/'.join(ref)}: {each.message}" for ref, each in sorted(outcome.refusals.items()))
            text = f"would be approved ({said}), but {reasons}"
            self.desk.record(project, [request_id], EventKind.COMMENT, text, author)
            return None
        queries.write_granted(self.desk.engine, request_id, granted)
        queries.write_rules(self.desk.engine, request_id, {ref: rule.name for ref, rule in rules.items()})
        named = {"/".join(ref): rule.name for ref, rule in rules.items()}
        self.desk.close(project, [request_id], RequestStatus.APPROVED, f"approved {said}", author, rules=named)
        return project, outcome

    def _matching(self, project: ProjectRow, rows: Sequence[AmountRow]) -> Mapping[Ref, AutoApprovalRule] | None:
        if not self.desk.rules or any(row.what == What.MIN_QUOTA.value for row in rows):
            return None  # only people with the right `project:grant_quota` grant what grows by itself
        all_ids = resource_ids(self.desk.engine)
        figures = self.desk.set_project_quota.figures(project, {row.ref: all_ids[row.ref] for row in rows})
        approved_at = approvals_by_rules(self.desk.engine, project.id)
        found: dict[Ref, AutoApprovalRule] = {}
        for row in rows:
            wish = Wish(
                row.ref, project.scope, row.present, row.wanted, figures[row.ref].usage, approved_at.get(row.ref, {})
            )
            rule = first_match(self.desk.rules, wish, self.desk.now())
            if rule is None:
                return None
            found[row.ref] = rule
        return found
