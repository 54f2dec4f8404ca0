"""A Placement API in one process for tests, and what it wrote, in words: rows name providers and classes, not ids."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from falcon import testing

from limes.auth.without_keystone import NoAuthAuthenticator
from limes.db.engine import Engine
from limes.kernel.system import Clock, SystemIds
from limes.placement.app import create_app
from limes.placement.call import PlacementCollaborators
from limes.placement.index import ProviderIndex
from limes.placement.routes import open_policy
from limes.placement.settings import PlacementSettings
from tests.support.clock import FrozenClock
from tests.support.rows import Rows, changes

_ROWS = {
    "providers": """
        SELECT p.name, p.generation, parent.name, root.name FROM placement_providers p
        LEFT JOIN placement_providers parent ON parent.id = p.parent_id
        JOIN placement_providers root ON root.id = p.root_id""",
    "inventories": """
        SELECT p.name, c.name, i.total, i.reserved, i.min_unit, i.max_unit, i.step_size, i.allocation_ratio
        FROM placement_inventories i JOIN placement_providers p ON p.id = i.provider_id
        JOIN placement_resource_classes c ON c.id = i.class_id""",
    "provider_traits": """
        SELECT p.name, t.name FROM placement_provider_traits pt
        JOIN placement_providers p ON p.id = pt.provider_id JOIN placement_traits t ON t.id = pt.trait_id""",
    "provider_aggregates": """
        SELECT p.name, a.aggregate_uuid FROM placement_provider_aggregates a
        JOIN placement_providers p ON p.id = a.provider_id""",
    "consumers": "SELECT uuid, generation, project_id, user_id, consumer_type FROM placement_consumers",
    "allocations": """
        SELECT co.uuid, p.name, c.name, a.used FROM placement_allocations a
        JOIN placement_consumers co ON co.id = a.consumer_id
        JOIN placement_providers p ON p.id = a.provider_id
        JOIN placement_resource_classes c ON c.id = a.class_id""",
    "classes": "SELECT name FROM placement_resource_classes",
    "traits": "SELECT name FROM placement_traits",
    "quotas": """
        SELECT q.project_id, c.name, q.max_used FROM placement_project_quotas q
        JOIN placement_resource_classes c ON c.id = q.class_id""",
}


def all_rows(engine: Engine) -> Rows:
    """All rows, by kind."""
    with engine.connection():
        return {kind: Counter(engine.rows(sql)) for kind, sql in _ROWS.items()}


def uuid_of(name: str) -> str:
    """A readable UUID for a name of letters and digits: `uuid_of("a1")` ends with the name's bytes."""
    digits = name.encode().hex()[-12:]
    return f"00000000-0000-4000-8000-{digits:0>12}"


def stamps(engine: Engine) -> dict[str, int]:
    """The change stamp of each provider, by name."""
    with engine.connection():
        return dict(engine.rows("SELECT name, changed FROM placement_providers"))


class Builder:
    """Fills a Placement, by the names of providers and consumers. Subclasses give `call` and `ok`."""

    call: Callable[..., Any]
    ok: Callable[..., Any]

    def provider(self, name: str, parent: str | None = None, **inventories: int) -> str:
        """A provider with these totals, and its UUID."""
        body: dict[str, Any] = {"name": name, "uuid": uuid_of(name)}
        if parent:
            body["parent_provider_uuid"] = uuid_of(parent)
        self.ok("POST", "/resource_providers", body)
        if inventories:
            self.inventories(name, **inventories)
        return uuid_of(name)

    def generation(self, name: str) -> int:
        """The present generation of a provider."""
        return int(self.ok("GET", f"/resource_providers/{uuid_of(name)}")["generation"])

    def inventories(self, name: str, **totals: int) -> None:
        """Makes these totals all the inventory of a provider."""
        self.put(name, inventories={resource_class: {"total": total} for resource_class, total in totals.items()})

    def put(self, name: str, **parts: Any) -> None:
        """Replaces what a provider has of `inventories`, `traits` or `aggregates`."""
        for part, value in parts.items():
            body = {"resource_provider_generation": self.generation(name), part: value}
            self.ok("PUT", f"/resource_providers/{uuid_of(name)}/{part}", body)

    def allocate(self, consumer: str, generation: int | None, **resources: dict[str, int]) -> Any:
        """PUT of a consumer's allocations, by provider name."""
        return self.call("PUT", f"/allocations/{uuid_of(consumer)}", claim(generation, **resources))


class World(Builder):
    """The API on one database. Requests are made as an administrator at the newest microversion, if not said otherwise."""

    def __init__(
        self, engine: Engine, policy_file: Path | None = None, clock: Clock | None = None, **settings: Any
    ) -> None:
        self.engine = engine
        self.clock = FrozenClock()
        self.index = ProviderIndex(engine, self.clock)
        self.settings = PlacementSettings.model_validate(settings)
        policy = open_policy(policy_file, enforce_new_defaults=self.settings.enforce_new_defaults)
        self.app = create_app(
            PlacementCollaborators(
                engine=engine,
                index=self.index,
                authenticator=NoAuthAuthenticator(self.settings.listen),
                policy=policy,
                clock=clock or self.clock,
                ids=SystemIds(),
                settings=self.settings,
            )
        )

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        version: str = "1.39",
        token: str | None = "admin",
        **more: str,
    ) -> testing.Result:
        """One request; `more` are headers, with underscores for dashes."""
        headers = {"openstack-api-version": f"placement {version}"}
        if token is not None:
            headers["x-auth-token"] = token
        if body is not None:
            headers["content-type"] = "application/json"
        headers |= {name.replace("_", "-"): value for name, value in more.items()}
        data = body if isinstance(body, bytes | None) else json.dumps(body)
        path, _, query = path.partition("?")
        # not by falcon's client: its validator insists on a type for answers without a body
        env = testing.create_environ(
            path, query, method=method, body=data or b"", headers=headers, host="placement.example"
        )
        start = testing.StartResponseMock()
        chunks = list(self.app(env, start))
        return testing.Result(chunks, start.status, start.headers)

    def ok(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """One request that has to succeed; answers its document."""
        result = self.call(method, path, body, **more)
        assert result.status_code < 300, result.text
        return result.json if result.content else None

    def refused(self, status: int, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """One request that has to be refused, and to leave no trace; answers its error."""
        before = all_rows(self.engine)
        result = self.call(method, path, body, **more)
        assert result.status_code == status, result.text
        assert changes(before, all_rows(self.engine)) == {}
        error: dict[str, Any] = result.json["errors"][0]
        assert error["status"] == status
        return error

    def changed_by(
        self, method: str, path: str, body: Any = None, **more: Any
    ) -> dict[str, tuple[list[Any], list[Any]]]:
        """One request that has to succeed; answers what it changed in the database."""
        before = all_rows(self.engine)
        self.ok(method, path, body, **more)
        return changes(before, all_rows(self.engine))


def claim(
    generation: int | None, project: str = "project", user: str = "user", kind: str = "INSTANCE", **resources: Any
) -> dict[str, Any]:
    """A consumer's part of a body at 1.38 and later, by provider name."""
    return {
        "allocations": {uuid_of(name): {"resources": amounts} for name, amounts in resources.items()},
        "project_id": project,
        "user_id": user,
        "consumer_generation": generation,
        "consumer_type": kind,
    }
