"""A project's own webhook: where notifications about it are sent to besides, as its admins want it.

Invariant: who sets or removes it locks the project's row first, and writes the history in the same transaction. The
secret is shown to the one who has set the webhook, in that answer only; it is in no log and no history.
"""

from collections.abc import Collection
from typing import NamedTuple

from limes.app.context import Limes
from limes.audit.events import Reason
from limes.db import query
from limes.db.compiled import any_of, lock_but_not_key
from limes.db.transactions import atomic, snapshot
from limes.kernel.errors import NotFound
from limes.notifications import targets
from limes.notifications.models import ProjectWebhook
from limes.projects.models import Project
from limes.projects.queries import ProjectRow
from limes.projects.scope import Place, find_project
from limes.quota.models import QuotaHistory

WHAT = "webhook"
"""In the history, where quotas have `limes.audit.events.What`."""


class Webhook(NamedTuple):
    """Without the secret, so that nothing can show it by mistake."""

    url: str
    set_at: float
    author_id: str
    author_name: str
    delivered_at: float | None
    failed_at: float | None
    error: str


def require_feature(limes: Limes) -> None:
    """Raises `NotFound` where operators allow no webhooks."""
    if not limes.settings.notifications.project_webhooks.allowed_hosts:
        raise NotFound("projects of this Limes have no webhooks: its operators have allowed no hosts for them")


@snapshot
def show_webhook(limes: Limes, place: Place) -> Webhook | None:
    """Raises `NotFound`."""
    return _webhook(limes.engine, find_project(limes.engine, *place).id)


def set_webhook(limes: Limes, place: Place, url: str, resolve: targets.Resolve) -> tuple[Webhook, str]:
    """Returns the webhook, and its new secret. Raises `NotFound`, and `Unprocessable` for a URL that is not allowed."""
    section = limes.settings.notifications.project_webhooks
    target = targets.read_target(url, section)
    targets.checked_addresses(target, section, resolve)  # no transaction waits for a name server
    return _replace(limes, place, url, target.host)


@atomic
def _replace(limes: Limes, place: Place, url: str, host: str) -> tuple[Webhook, str]:
    project = _locked(limes, place)
    before = _webhook(limes.engine, project.id)
    secret, author = limes.ids.token(), limes.initiator
    new = Webhook(url, limes.now(), author.id, author.name, None, None, "")
    _delete(limes.engine, project.id)
    _insert(limes.engine, [(project.id, secret, url, new.set_at, author.id, author.name, "")])
    _record(limes, project, int(before is not None), 1, host)
    return new, secret


@atomic
def remove_webhook(limes: Limes, place: Place) -> None:
    """Raises `NotFound`, also if there is none."""
    project = _locked(limes, place)
    if not _delete(limes.engine, project.id):
        raise NotFound("this project has no webhook")
    _record(limes, project, 1, 0, "")


def _locked(limes: Limes, place: Place) -> ProjectRow:
    project = find_project(limes.engine, *place)
    if not _lock_project(limes.engine, project.id):
        raise NotFound("no such project")
    return project


def _record(limes: Limes, project: ProjectRow, old: int, new: int, host: str) -> None:
    """Only the host: the rest of the URL of a chat is often a secret."""
    author = limes.initiator
    place = (project.domain_uuid, project.uuid, "", "")
    who = (author.id, author.name, author.request_id)
    _add_history(limes.engine, [(limes.now(), *place, WHAT, old, new, Reason.REQUEST.value, host, *who)])


# -- SQL ---------------------------------------------------------------------------------------------------------------

_HOOK, _HISTORY = ProjectWebhook, QuotaHistory
_SHOWN = tuple(getattr(_HOOK, name) for name in Webhook._fields)
_add_history = query.Insert(
    tuple[float, str, str, str, str, str, int, int, str, str, str, str, str],
    _HISTORY,
    *(_HISTORY.at, _HISTORY.domain_uuid, _HISTORY.project_uuid, _HISTORY.service_type, _HISTORY.resource_name),
    *(_HISTORY.what, _HISTORY.old, _HISTORY.new, _HISTORY.reason, _HISTORY.detail),
    *(_HISTORY.initiator_id, _HISTORY.initiator_name, _HISTORY.request_id),
)


_insert = query.Insert(
    tuple[int, str, str, float, str, str, str],
    _HOOK,
    *(_HOOK.project, _HOOK.secret, _HOOK.url, _HOOK.set_at, _HOOK.author_id, _HOOK.author_name, _HOOK.error),
)


@query.exists
def _lock_project(project_id: int) -> query.Node:
    return lock_but_not_key(Project.select(Project.id).where(Project.id == project_id))


@query.first(Webhook)
def _webhook(project_id: int) -> query.Node:
    return _HOOK.select(*_SHOWN).where(_HOOK.project == project_id)


@query.writes
def _delete(project_id: int) -> query.Node:
    return _HOOK.delete().where(_HOOK.project == project_id)


# -- for deliveries ----------------------------------------------------------------------------------------------------


class Receiver(NamedTuple):
    project_uuid: str
    project_id: int
    url: str
    secret: str
    set_at: float


@query.keyed(str, "project_uuid", Receiver, skip_empty="uuids")
def receivers(uuids: Collection[str]) -> query.Node:
    found = _HOOK.select(Project.uuid, _HOOK.project, _HOOK.url, _HOOK.secret, _HOOK.set_at)
    return found.join(Project).where(any_of(Project.uuid, uuids))


@query.writes
def note_success(project_id: int, set_at: float, at: float) -> query.Node:
    """Of the webhook that was there when the delivery began."""
    is_same = (_HOOK.project == project_id, _HOOK.set_at == set_at)
    return _HOOK.update(delivered_at=at, failed_at=None, error="").where(*is_same)


@query.writes
def note_failure(project_id: int, set_at: float, at: float, error: str) -> query.Node:
    is_same = (_HOOK.project == project_id, _HOOK.set_at == set_at)
    return _HOOK.update(failed_at=at, error=error).where(*is_same)
