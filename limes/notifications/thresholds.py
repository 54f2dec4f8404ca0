"""Own thresholds: a user is told by mail when a project uses more than a certain share of a quota.

It is told once, as `quota_used` is (`limes.reports.notify`), and to this user only. Keystone says where to, and whether
the user still has a role on the project or its domain: if not, the threshold is forgotten.
"""

from collections.abc import Collection
from typing import NamedTuple

from peewee import Case

from limes.app.context import Limes
from limes.db import query
from limes.db.compiled import any_of
from limes.db.transactions import atomic, snapshot
from limes.kernel import errors
from limes.notifications import rules
from limes.notifications.alerts import UsageThresholds
from limes.notifications.models import OwnThreshold
from limes.notifications.recipients import MailPreferences
from limes.projects import scope
from limes.projects.models import Domain, Project, ProjectResource

MyThreshold = tuple[int | None, str | None]
"""The percentage, or None without a threshold; and where mails go to, or None if nowhere."""


def show_threshold(limes: Limes, place: scope.Place, user_id: str, mails: MailPreferences | None) -> MyThreshold:
    """Raises `NotFound`, and `Unavailable` if Keystone does not answer."""
    percent = _read(limes, place, user_id)
    return percent, mails.address_of(user_id) if mails else None


def change_threshold(
    limes: Limes, place: scope.Place, user_id: str, percent: int | None, mails: MailPreferences | None
) -> MyThreshold:
    """Sets or removes the threshold of a user. Raises `NotFound`, `Unprocessable` for what is no percentage, `Conflict`
    if no mail could be sent, and `Unavailable`."""
    _read(limes, place, user_id)
    if percent is None:
        _change(limes, place, user_id, None)
        return show_threshold(limes, place, user_id, mails)
    if not 1 <= percent <= 100:
        raise errors.Unprocessable(f"a threshold is a percentage of the quota, from 1 to 100, and not {percent}")
    if mails is None or rules.OWN_THRESHOLD not in mails.kinds:
        raise errors.Conflict("this Limes sends no such mails to users")
    address = mails.address_of(user_id)
    if address is None:
        raise errors.Conflict("no mail address of this user is known, so no mails are sent")
    if not mails.belongs_to(user_id, place):
        raise errors.Conflict("this user has no role on the project or its domain, so no mails about it are sent")
    _change(limes, place, user_id, percent)
    return percent, address


@snapshot
def _read(limes: Limes, place: scope.Place, user_id: str) -> int | None:
    return _percent(limes.engine, user_id, scope.find_project(limes.engine, *place).id)


@atomic
def _change(limes: Limes, place: scope.Place, user_id: str, percent: int | None) -> None:
    project_id = scope.find_project(limes.engine, *place).id
    if percent is None:
        _remove(limes.engine, user_id, project_id)
    else:
        _set(limes.engine, user_id, project_id, percent)


# -- SQL ---------------------------------------------------------------------------------------------------------------

_OWN = OwnThreshold


@query.first_value(int)
def _percent(user_id: str, project_id: int) -> query.Node:
    return _OWN.select(_OWN.percent).where(_OWN.user_id == user_id, _OWN.project == project_id)


@query.writes
def _set(user_id: str, project_id: int, percent: int) -> query.Node:
    insert = _OWN.insert(user_id=user_id, project=project_id, percent=percent)
    return insert.on_conflict(conflict_target=[_OWN.user_id, _OWN.project], preserve=[_OWN.percent])


@query.writes
def _remove(user_id: str, project_id: int) -> query.Node:
    return _OWN.delete().where(_OWN.user_id == user_id, _OWN.project == project_id)


class ExceededRow(NamedTuple):
    """A quota of which more is used than somebody wants to know of, or nearly as much."""

    project: scope.PlacedRow
    user_id: str
    percent: int
    resource_id: int
    quota: int
    usage: int

    @property
    def is_above(self) -> bool:
        return self.usage * 100 > self.quota * self.percent

    def is_near(self, hysteresis: int) -> bool:
        return self.usage * 100 > self.quota * UsageThresholds(self.percent).nearly(hysteresis)


@scope.placed(ExceededRow, str, int, int, int, int)
def exceeded(resources: Collection[int], hysteresis: int) -> query.Node:
    """What exceeds own thresholds, also by less than the hysteresis, which `ExceededRow` decides. Computed as floats:
    amounts may be very large."""
    row = ProjectResource
    least = Case(None, [(_OWN.percent > hysteresis, _OWN.percent - hysteresis)], 1)
    is_wanted = (any_of(row.resource, resources), row.quota.is_null(False), row.usage * 100.0 > row.quota * 1.0 * least)
    columns = (*scope.PLACE, _OWN.user_id, _OWN.percent, row.resource, row.quota, row.usage)
    found = _OWN.select(*columns).join(Project).join(Domain).join_from(Project, row, on=(row.project == Project.id))
    return found.where(*is_wanted).order_by(_OWN.user_id, Project.uuid, row.resource)
