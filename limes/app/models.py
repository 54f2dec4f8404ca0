"""The Limes half's tables as peewee models: the truth about the schema (a test compares it with the migrations).

Queries are written on them (`queries` in each feature).

- Amounts are integers in the resource's unit. `backend_quota` is -1 where the backend says "unlimited"; it is turned
  into a value of its own type as soon as it is read.
- Times are seconds since the epoch, UTC.
- `az` is the name of an availability zone, or `any` (not bound to one), or `unknown` (not a configured one).
- A foreign key that is the first column of another index has none of its own (`index=False`).
"""

import peewee

from limes.audit.models import OutboxEvent
from limes.autogrow.models import ProjectAZQuota, UsageChanges
from limes.catalog.models import AZResource, Capacitor, Job, Resource, Service
from limes.commitments.models import Commitment, CommitmentEvent, CommitmentEventCounter, CommitmentKey, CommitmentUse
from limes.db.base import BaseModel, bind
from limes.growth.models import GrowthDay, GrowthHour, GrowthMonth, GrowthSeries, GrowthState, GrowthTrend, QuotaTime
from limes.lifetimes.models import LifetimeProject, SubresourceLifetime
from limes.metering.models import (
    ClosedDay,
    CommittedTime,
    MeteredProject,
    MeteredUnit,
    MeteringState,
    UsageCorrection,
    UsageDay,
    UsageGap,
    UsageMonth,
    UsageStep,
)
from limes.notifications.models import Mail, MailItem, MailUnsubscribed, NotificationCursor, NotificationState
from limes.projects.models import Domain, DomainResource, Project, ProjectAZResource, ProjectResource, ProjectService
from limes.quota.models import QuotaHistory, TemporaryQuota
from limes.requests.models import QuotaRequest, QuotaRequestAmount, QuotaRequestEvent

_ALL = [one for one in globals().values() if isinstance(one, type) and one is not BaseModel]
MODELS: tuple[type[BaseModel], ...] = tuple(peewee.sort_models(_ALL))  # type: ignore[attr-defined]  # no types of it
"""All of the above. Those that others refer to come first."""

LOCK_ORDER: tuple[type[BaseModel], ...] = (
    CommitmentKey,
    Domain,
    Project,
    QuotaRequest,
    Resource,
    Service,
    Capacitor,
    DomainResource,
    ProjectResource,
    ProjectService,
    CommitmentEventCounter,
)
"""In which order a transaction locks rows of these tables, so that no two wait for each other; of one table, in the
order of ids. Rows of other tables are written under one of these locks, or by one job alone. On PostgreSQL the tests
compare each transaction with this."""
