"""Fills an empty Placement with sample providers, and an empty Limes with sample quotas, through their public APIs."""

import time
from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial
from typing import Any

import requests

from limes.app.commands.serve.supervisor import Supervisor
from limes.app.settings import Settings, read_yaml
from limes.kernel.errors import BackendError, StartupError
from limes.kernel.outgoing import GuardedSession

_MICROVERSION = "placement 1.38"
_PATIENCE = 60.0
"""Seconds until the collector has found and scraped the sample's projects."""


class _Api:
    """One of our own APIs, with the token that the sample names for our own requests."""

    def __init__(self, listen: str, token: str) -> None:
        self._base = f"http://{listen}"
        self._session = GuardedSession()
        self._session.trust_env = False
        self._session.headers.update({"X-Auth-Token": token, "OpenStack-API-Version": _MICROVERSION})

    def call(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Raises `StartupError` if there is no answer."""
        try:
            return self._session.request(method, self._base + path, json=body, timeout=30)
        except (requests.RequestException, BackendError) as error:
            raise StartupError(f"sample data: {method} {path}: {type(error).__name__}") from None

    def must(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.call(method, path, body)
        if not answer.ok:
            raise StartupError(f"sample data: {method} {path}: {answer.status_code} {answer.text.strip()[:500]}")
        return answer.json() if answer.content else None


class SampleData:
    """The sample. A second start keeps the data, and goes on with what the first one did not finish."""

    def __init__(self, settings: Settings, supervisor: Supervisor) -> None:
        """Raises `LimesError` if there is no such file, or no token to load it with."""
        assert settings.serve.sample_data is not None
        token = settings.identity.sample.own_token
        if token is None:
            raise StartupError("serve.sample_data needs identity.method: sample, and identity.sample.own_token")
        self._document = read_yaml(settings.serve.sample_data)
        self._placement = _Api(settings.placement.listen, token)
        self._limes = _Api(settings.api.listen, token)
        self._supervisor = supervisor

    def load_placement(self) -> None:
        """Loads providers and allocations, before the collector looks for them, if there are no providers yet."""
        if self._placement.must("GET", "/resource_providers")["resource_providers"]:
            return
        print("Loading the sample data ...", flush=True)
        for provider in self._document["providers"]:
            head = {key: provider[key] for key in ("name", "uuid", "parent_provider_uuid") if key in provider}
            generation = self._placement.must("POST", "/resource_providers", head)["generation"]
            for key in ("inventories", "aggregates", "traits"):
                if key in provider:
                    body = {"resource_provider_generation": generation, key: provider[key]}
                    answer = self._placement.must("PUT", f"/resource_providers/{provider['uuid']}/{key}", body)
                    generation = answer["resource_provider_generation"]
        for consumer, allocation in self._document["allocations"].items():
            self._placement.must("PUT", f"/allocations/{consumer}", allocation)

    def load_quotas(self) -> None:
        """Loads quotas once the collector has scraped the projects, and waits until it has asked for the capacity.
        Quota that follows usage is left out. If the last quota is there, all were loaded before."""
        self._limes.must("POST", "/v1/domains/discover")
        wanted = self._document["quotas"]
        # the collector may be about to find the projects of a domain that is known already
        self._until(lambda: wanted.keys() <= _ids(self._limes).keys(), "domains and projects")
        services = self._limes.must("GET", "/v1/clusters/current")["cluster"]["services"]
        following = _refs(services, lambda resource: resource.get("quota_distribution_model") == "autogrow")
        quota_requests = _quota_requests(wanted, _ids(self._limes), following)
        if not quota_requests:
            return
        path, body = quota_requests[-1]
        if _resources(body) & self._with_quota(path):
            return
        for path, body in quota_requests:
            if not _resources(body) <= self._with_quota(path):
                self._until(partial(self._is_accepted, path, body), path)
        self._until(self._knows_capacity, "capacity")

    def _with_quota(self, path: str) -> set[tuple[str, str]]:
        (document,) = self._limes.must("GET", path).values()
        return _refs(document["services"], lambda resource: bool(resource.get("quota")))

    def _is_accepted(self, path: str, body: Any) -> bool:
        """Returns whether a PUT succeeds; 423 means that its project waits for its first scrape."""
        answer = self._limes.call("PUT", path, body)
        if not answer.ok and answer.status_code != 423:
            raise StartupError(f"sample data: PUT {path}: {answer.status_code} {answer.text.strip()}")
        return answer.ok

    def _knows_capacity(self) -> bool:
        """Returns whether all capacitors were asked. Not every resource has to have one."""
        capacitors = self._limes.must("GET", "/v1/admin/scrape-status")["scrape_status"]["capacitors"]
        return all("checked_at" in capacitor for capacitor in capacitors)

    def _until(self, check: Callable[[], bool], goal: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not self._supervisor.stopped and not check():
            self._supervisor.require_alive()
            if time.monotonic() > deadline:
                raise StartupError(f"sample data: the collector is not done after {_PATIENCE:.0f} seconds: {goal}")
            time.sleep(0.3)


def _ids(limes: _Api) -> dict[str, str]:
    """Returns UUIDs by name: `domain` and `domain/project`."""
    ids = {}
    for domain in limes.must("GET", "/v1/domains?service=")["domains"]:
        ids[domain["name"]] = domain["id"]
        for project in limes.must("GET", f"/v1/domains/{domain['id']}/projects?service=")["projects"]:
            ids[f"{domain['name']}/{project['name']}"] = project["id"]
    return ids


def _resources(body: Mapping[str, Any]) -> set[tuple[str, str]]:
    (document,) = body.values()
    return _refs(document["services"], lambda resource: True)


def _refs(services: Iterable[Any], is_meant: Callable[[Any], bool]) -> set[tuple[str, str]]:
    return {(service["type"], one["name"]) for service in services for one in service["resources"] if is_meant(one)}


def _quota_requests(
    quotas: Mapping[str, Mapping[str, Mapping[str, int]]],
    ids: Mapping[str, str],
    except_for: Container[tuple[str, str]],
) -> list[tuple[str, dict[str, Any]]]:
    """Returns PUT paths and bodies; domains come before projects, as their names have no slash."""
    quota_requests = []
    for name in sorted(quotas, key=lambda name: ("/" in name, name)):
        domain, slash, _ = name.partition("/")
        path = f"/v1/domains/{ids[domain]}" + (f"/projects/{ids[name]}" if slash else "")
        services = []
        for service, resources in quotas[name].items():
            settable = [(key, value) for key, value in resources.items() if (service, key) not in except_for]
            if settable:
                rendered = [{"name": key, "quota": value} for key, value in settable]
                services.append({"type": service, "resources": rendered})
        if services:
            quota_requests.append((path, {"project" if slash else "domain": {"services": services}}))
    return quota_requests
