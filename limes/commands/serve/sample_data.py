"""Fills an empty Placement with sample providers, and an empty Limes with sample quotas, through their public APIs."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import requests

from limes.commands.serve.supervisor import Supervisor
from limes.errors import StartupError
from limes.settings import Settings, read_yaml

_MICROVERSION = "placement 1.38"
_PATIENCE = 60.0
"""Seconds until the collector has found and scraped the sample's projects."""


class _Api:
    """One of our own APIs, with the token that the sample names for our own requests."""

    def __init__(self, listen: str, token: str) -> None:
        self._base = f"http://{listen}"
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers.update({"X-Auth-Token": token, "OpenStack-API-Version": _MICROVERSION})

    def call(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Makes a request. Raises `StartupError` if there is no answer."""
        try:
            return self._session.request(method, self._base + path, json=body, timeout=30)
        except requests.RequestException as error:
            raise StartupError(f"sample data: {method} {path}: {type(error).__name__}") from None

    def must(self, method: str, path: str, body: Any = None) -> Any:
        """Makes a request that has to succeed, and answers its document."""
        answer = self.call(method, path, body)
        if not answer.ok:
            raise StartupError(f"sample data: {method} {path}: {answer.status_code} {answer.text.strip()[:500]}")
        return answer.json() if answer.content else None


def load_sample_data(settings: Settings, supervisor: Supervisor) -> None:
    """Loads the sample if Placement has no providers yet: a second start keeps what there is."""
    assert settings.serve.sample_data is not None
    token = settings.identity.sample.own_token
    if token is None:
        raise StartupError("serve.sample_data needs identity.method: sample, and identity.sample.own_token")
    document = read_yaml(settings.serve.sample_data)
    placement = _Api(settings.placement.listen, token)
    if placement.must("GET", "/resource_providers")["resource_providers"]:
        return
    print("Loading the sample data ...", flush=True)
    for provider in document["providers"]:
        _load_provider(placement, provider)
    for consumer, allocation in document["allocations"].items():
        placement.must("PUT", f"/allocations/{consumer}", allocation)
    limes = _Api(settings.api.listen, token)
    limes.must("POST", "/v1/domains/discover")
    for path, body in _quota_requests(document["quotas"], _ids(limes)):
        _retry(lambda path=path, body=body: limes.call("PUT", path, body), supervisor)  # type: ignore[misc]


def _load_provider(placement: _Api, provider: Mapping[str, Any]) -> None:
    uuid = provider["uuid"]
    path = f"/resource_providers/{uuid}"
    head = {key: provider[key] for key in ("name", "uuid", "parent_provider_uuid") if key in provider}
    generation = placement.must("POST", "/resource_providers", head)["generation"]
    for key in ("inventories", "aggregates", "traits"):
        if key in provider:
            body = {"resource_provider_generation": generation, key: provider[key]}
            generation = placement.must("PUT", f"{path}/{key}", body)["resource_provider_generation"]


def _ids(limes: _Api) -> dict[str, str]:
    """UUIDs by name: `domain` and `domain/project`."""
    ids = {}
    for domain in limes.must("GET", "/v1/domains?service=")["domains"]:
        ids[domain["name"]] = domain["id"]
        for project in limes.must("GET", f"/v1/domains/{domain['id']}/projects?service=")["projects"]:
            ids[f"{domain['name']}/{project['name']}"] = project["id"]
    return ids


def _quota_requests(
    quotas: Mapping[str, Mapping[str, Mapping[str, int]]], ids: Mapping[str, str]
) -> list[tuple[str, dict[str, Any]]]:
    """PUT paths and bodies; domains come before projects, as their names have no slash."""
    found = []
    for name in sorted(quotas, key=lambda name: ("/" in name, name)):
        domain, slash, _ = name.partition("/")
        path = f"/v1/domains/{ids[domain]}" + (f"/projects/{ids[name]}" if slash else "")
        services = [
            {"type": service, "resources": [{"name": key, "quota": value} for key, value in resources.items()]}
            for service, resources in quotas[name].items()
        ]
        found.append((path, {"project" if slash else "domain": {"services": services}}))
    return found


def _retry(request: Callable[[], requests.Response], supervisor: Supervisor) -> None:
    """Repeats a request while its project waits for its first scrape (423)."""
    deadline = time.monotonic() + _PATIENCE
    while not supervisor.stopped:
        answer = request()
        if answer.ok:
            return
        if answer.status_code != 423 or time.monotonic() > deadline:
            raise StartupError(f"sample data: {answer.request.path_url}: {answer.status_code} {answer.text.strip()}")
        supervisor.require_alive()
        time.sleep(0.5)
