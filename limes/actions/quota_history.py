"""The history of the quotas of a project, or of a domain."""

from collections.abc import Collection, Sequence
from functools import partial

from limes.actions.context import Limes
from limes.actions.lookup import Place, find
from limes.core.catalog import Ref
from limes.db.queries import history as queries
from limes.db.queries.history import NumberedChange
from limes.db.transactions import snapshot

_BATCH = 1000


@snapshot
def list_changes(
    limes: Limes, place: Place, refs: Collection[Ref] | None, before: int, limit: int
) -> Sequence[NumberedChange]:
    """Returns at most `limit` changes with a number below `before`, the newest first. Raises `NotFound`. `refs` None
    means everything, including resources that are not configured any more. Changes of a whole project are shown with
    any `refs`; those of a domain are without those of its projects."""
    find(limes.engine, place)
    if refs is not None and not refs:
        return []
    return queries.page(limes.engine, place.domain_uuid, place.project_uuid, refs, before, limit)


def forget_history(limes: Limes) -> None:
    """Deletes history that is older than its retention. Several may run this at once."""
    before = limes.now() - limes.settings.audit.history_retention
    while limes.engine.atomic(partial(queries.forget_before, limes.engine, before, _BATCH)) == _BATCH:
        pass
