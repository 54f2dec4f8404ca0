"""The Limes half's tables as peewee models: the truth about the schema (a test compares it with the migrations).

Queries are written on them (`limes.db.queries`).

- Amounts are integers in the resource's unit. `backend_quota` is -1 where the backend says "unlimited"; it is turned
  into a value of its own type as soon as it is read.
- Times are seconds since the epoch, UTC.
- `az` is the name of an availability zone, or `any` (not bound to one), or `unknown` (not a configured one).
- A foreign key that is the first column of another index has none of its own (`index=False`).
"""

from limes.db.base import BaseModel, bind
from limes.db.models.autogrow import ProjectAZQuota, UsageChanges
from limes.db.models.catalog import AZResource, Capacitor, Resource, Service
from limes.db.models.commitments import (
    Commitment,
    CommitmentEvent,
    CommitmentEventCounter,
    CommitmentKey,
    CommitmentUse,
)
from limes.db.models.domains import Domain, DomainResource
from limes.db.models.growth import (
    GrowthDay,
    GrowthHour,
    GrowthMonth,
    GrowthSeries,
    GrowthState,
    GrowthTrend,
    QuotaTime,
)
from limes.db.models.history import QuotaHistory
from limes.db.models.jobs import Job
from limes.db.models.lifetimes import LifetimeProject, SubresourceLifetime
from limes.db.models.mails import Mail, MailItem, MailUnsubscribed
from limes.db.models.metering import (
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
from limes.db.models.notifications import NotificationCursor, NotificationState
from limes.db.models.outbox import OutboxEvent
from limes.db.models.projects import Project, ProjectAZResource, ProjectResource, ProjectService
from limes.db.models.quota_requests import QuotaRequest, QuotaRequestAmount, QuotaRequestEvent
from limes.db.models.temporary_quotas import TemporaryQuota

__all__ = [
    "LOCK_ORDER",
    "MODELS",
    "AZResource",
    "Capacitor",
    "ClosedDay",
    "Commitment",
    "CommitmentEvent",
    "CommitmentEventCounter",
    "CommitmentKey",
    "CommitmentUse",
    "Domain",
    "DomainResource",
    "GrowthDay",
    "GrowthHour",
    "GrowthMonth",
    "GrowthSeries",
    "GrowthState",
    "GrowthTrend",
    "Job",
    "LifetimeProject",
    "Mail",
    "MailItem",
    "MailUnsubscribed",
    "NotificationCursor",
    "NotificationState",
    "OutboxEvent",
    "Project",
    "ProjectAZQuota",
    "ProjectAZResource",
    "ProjectResource",
    "ProjectService",
    "QuotaHistory",
    "QuotaRequest",
    "QuotaRequestAmount",
    "QuotaRequestEvent",
    "QuotaTime",
    "Resource",
    "Service",
    "SubresourceLifetime",
    "TemporaryQuota",
    "UsageChanges",
    "CommittedTime",
    "MeteredProject",
    "MeteredUnit",
    "MeteringState",
    "UsageCorrection",
    "UsageDay",
    "UsageGap",
    "UsageMonth",
    "UsageStep",
    "bind",
]

MODELS: tuple[type[BaseModel], ...] = (
    Service,
    Capacitor,
    Resource,
    AZResource,
    Domain,
    DomainResource,
    Project,
    ProjectService,
    ProjectResource,
    ProjectAZResource,
    ProjectAZQuota,
    UsageChanges,
    Commitment,
    CommitmentEvent,
    CommitmentEventCounter,
    CommitmentKey,
    CommitmentUse,
    Job,
    QuotaHistory,
    QuotaRequest,
    QuotaRequestAmount,
    QuotaRequestEvent,
    TemporaryQuota,
    OutboxEvent,
    NotificationState,
    NotificationCursor,
    MailItem,
    Mail,
    MailUnsubscribed,
    MeteringState,
    ClosedDay,
    MeteredProject,
    MeteredUnit,
    UsageStep,
    UsageGap,
    CommittedTime,
    UsageDay,
    UsageMonth,
    UsageCorrection,
    LifetimeProject,
    SubresourceLifetime,
    GrowthState,
    GrowthSeries,
    GrowthHour,
    GrowthDay,
    GrowthMonth,
    GrowthTrend,
    QuotaTime,
)
"""Those that others refer to come first."""

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
