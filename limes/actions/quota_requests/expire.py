"""Closes requests that nobody can or will decide on: their time has passed, or they have been open for very long.

Invariant: as all decisions, it locks the request and looks at its state under the lock. So it may run in several
collectors at once, and while somebody decides.
"""

import logging
from dataclasses import dataclass
from functools import partial

from limes.actions.quota_requests.decide import DecideOnRequest
from limes.actions.quota_requests.desk import Desk, Place
from limes.audit.initiator import of_job
from limes.core.quota_requests import RequestStatus
from limes.core.temporary_quota import when
from limes.db.queries import quota_request_lists as lists
from limes.db.queries.quota_request_lists import RequestRow
from limes.errors import LimesError, NotFound

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ExpireRequests:
    """The job. Requests expire `expire_after` seconds after they were made; 0: only when their time has passed."""

    desk: Desk
    expire_after: float

    def run(self) -> int:
        """Closes what has expired, each in a transaction of its own. Returns how many there were."""
        engine, now = self.desk.engine, self.desk.now()
        made_before = now - self.expire_after if self.expire_after else -1.0
        expired = engine.snapshot(lambda: lists.expired(engine, now, made_before))
        closed = 0
        for row in expired:
            try:
                closed += engine.atomic(partial(self._expire, row, now))
            except NotFound:
                log.info("quota request %s: its project or domain is gone", row.id)
            except LimesError as error:
                log.warning("quota request %s could not be closed: %s", row.id, error)
        return closed

    def _expire(self, row: RequestRow, now: float) -> int:
        place = Place(row.domain_uuid, row.project_uuid or "")
        locked = self.desk.lock(place, row.id, must_be_open=False)
        if locked.request.status != RequestStatus.OPEN.value:
            return 0
        job = of_job("expire-requests")
        is_over = row.until is not None and row.until <= now
        text = f"it was for the time until {when(row.until or 0)}" if is_over else "nobody has decided"
        DecideOnRequest(self.desk).close(locked, RequestStatus.EXPIRED, text, job)
        return 1
