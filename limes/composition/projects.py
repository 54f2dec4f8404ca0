"""Which projects exist, for those who have ids of projects and want to know which of them are gone."""

from collections.abc import Collection
from urllib.parse import quote

import requests
from keystoneauth1 import exceptions as ksa_errors

from limes.auth.session import CloudSession, describe
from limes.backends import DiscoveryBackend, calls
from limes.composition.cluster import build_cluster
from limes.composition.identity import open_cloud
from limes.errors import BackendError
from limes.placement.audit import FindGone
from limes.settings import Settings


def open_find_gone(settings: Settings) -> FindGone:
    """Tells by the configured discovery which projects are gone. Nothing is asked yet. Raises `ConfigError`.

    `discovery.except_domains` and `only_domains` say what Limes manages, not what exists, so they do not count here.
    With Keystone, each project that is missing from its lists is asked for by its id as well: with too few rights, the
    lists would only be shorter.
    """
    cloud = open_cloud(settings)
    backend = build_cluster(settings, cloud).backends.discovery
    confirm = settings.identity.method == "keystone"

    def find_gone(ids: Collection[str]) -> Collection[str]:
        missing = set(ids) - _existing(backend)
        return {one for one in missing if not confirm or _is_gone(cloud, one)}

    return find_gone


def _existing(backend: DiscoveryBackend) -> set[str]:
    """All ids of projects, and those of domains, which can own things as well. Raises `BackendError`."""
    domains = calls.list_domains(backend, None, None)
    projects = {project.id for domain in domains for project in calls.list_projects(backend, domain)}
    if not projects:
        raise BackendError("discovery finds no project at all, so it cannot be right that projects are gone")
    return projects | {domain.id for domain in domains}


def _is_gone(cloud: CloudSession, project_id: str) -> bool:
    """Whether Keystone itself, and nothing on the way to it, says that there is none. Raises `BackendError`."""
    path = f"/projects/{quote(project_id, safe='')}"
    try:
        answer = cloud.adapter("identity", min_version=(3, 0)).get(path, raise_exc=False)
    except (ksa_errors.ClientException, BackendError) as error:
        raise BackendError(f"while looking for the project {project_id}: {describe(error)}") from None
    if answer.status_code == 200:
        return False
    if _error_code(answer) == 404:
        return True
    raise BackendError(f"while looking for the project {project_id}: Keystone answers HTTP {answer.status_code}")


def _error_code(answer: requests.Response) -> int | None:
    try:
        return int(answer.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return None
