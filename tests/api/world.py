"""A small cloud in a database, and the Limes API on it: 2 domains, 3 projects, 2 services, 2 AZs.

germany   cores 100, ram 4096   berlin   cores 20 (uses 5)   ram 1024 (uses 512)   capacity 10 (uses 3)
                                dresden  cores 30 (uses 31)  ram 0
france    cores 50              paris    was never scraped
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import falcon.testing

from limes.api.call import ApiCollaborators
from limes.app.api import create_app
from limes.app.context import Limes
from limes.app.routes import RULES
from limes.audit.events import of_job
from limes.auth.context import Identity
from limes.auth.policy import Policy
from limes.backends.loader import Backends
from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.collector import discover
from limes.collector import handlers as discovery_handlers
from limes.collector.sync_catalog import sync_catalog
from limes.commitments.rules import CommitmentRules
from limes.db.engine import Engine
from limes.kernel.errors import NotFound, Unauthorized, Unavailable
from limes.kernel.units import Unit
from limes.notifications.alerts import AlertRules
from limes.notifications.mail.mailer import Unsubscribe
from limes.notifications.mail.templates import KINDS
from limes.notifications.recipients import MailPreferences, Subscriptions
from limes.notifications.targets import ProjectWebhookSettings, Resolver
from limes.quota.constraints import NO_OVERRIDES, ConstraintSet, QuotaOverrides
from limes.quota.rules import LowPrivRules, QuotaSet
from limes.quota.settle_temporary import settle_temporary_quotas
from limes.requests.decide import expire_requests
from limes.requests.deciders import Directory, People, SamplePeople
from limes.requests.rules import AutoApprovalRule
from limes.web.operational import Mount
from tests.api.contract import check_answer
from tests.support.clock import FrozenClock
from tests.support.limes import NoCapacity, make_limes, make_settings, with_values

UNSUBSCRIBE_LINKS = Unsubscribe("https://limes.example.com/", "sixteen-characters")
GERMANY, FRANCE = "uuid-for-germany", "uuid-for-france"
BERLIN, DRESDEN, PARIS = "uuid-for-berlin", "uuid-for-dresden", "uuid-for-paris"

POLICY = Policy(RULES)
"""The shipped rules. They read no file, so all tests can share them."""

SERVICES = [
    ServiceDef(
        "compute",
        "compute",
        {
            "cores": ResourceDef("cores"),
            "ram": ResourceDef("ram", Unit.MIB),
            "gpus": ResourceDef("gpus", contained_in="cores", tracks_quota=False),
        },
    ),
    ServiceDef("volume", "storage", {"capacity": ResourceDef("capacity", Unit.GIB, category="block")}),
]

IDENTITIES = {
    "cloud-admin": Identity("u1", "Cloud Admin", project_id="p0", roles=("cloud_resource_admin",)),
    "cloud-viewer": Identity("u2", "Cloud Viewer", project_id="p0", roles=("cloud_resource_viewer",)),
    "billing": Identity("u11", "Billing", project_id="p0", roles=("cloud_billing_viewer",)),
    "germany-admin": Identity("u3", domain_id=GERMANY, domain_name="germany", roles=("resource_admin",)),
    "germany-viewer": Identity("u4", domain_id=GERMANY, domain_name="germany", roles=("resource_viewer",)),
    "france-admin": Identity("u5", domain_id=FRANCE, domain_name="france", roles=("resource_admin",)),
    "berlin-admin": Identity("u6", project_id=BERLIN, project_domain_id=GERMANY, roles=("admin", "member")),
    "berlin-member": Identity("u7", project_id=BERLIN, project_domain_id=GERMANY, roles=("member",)),
    "berlin-reader": Identity("u10", project_id=BERLIN, project_domain_id=GERMANY, roles=("reader",)),
    "dresden-admin": Identity("u8", project_id=DRESDEN, project_domain_id=GERMANY, roles=("admin",)),
    "nobody": Identity("u9", project_id=BERLIN, project_domain_id=GERMANY, roles=()),
}


_NO_TYPE = "application/x-none"


def _typed(app: Any) -> Any:
    """The app, for falcon's test client: it insists on a type of every body but that of 204, even of one that is empty."""

    def typed(environ: Any, start_response: Any) -> Any:
        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            bare = status[:3] not in ("204", "304") and all(name.lower() != "content-type" for name, _ in headers)
            return start_response(status, [*headers, *([("content-type", _NO_TYPE)] if bare else [])], *rest)

        return app(environ, start)

    return typed


class Tokens:
    """Knows the tokens above; `keystone-is-down` finds no Keystone."""

    def authenticate(self, environ: Mapping[str, Any]) -> Identity:
        token = environ.get("HTTP_X_AUTH_TOKEN", "")
        if token == "keystone-is-down":
            raise Unavailable("the identity service does not answer")
        if token not in IDENTITIES:
            raise Unauthorized("the token is none of these")
        return IDENTITIES[token]

    def challenge(self) -> str:
        return 'Keystone uri="http://127.0.0.1:5000/v3"'


class Discovery:
    """Answers handlers that look into Keystone as a world says; other clouds as in production."""

    def discover_domains(self, limes: Limes) -> Sequence[str]:
        world = limes.backends.discovery
        return world.new_domains if isinstance(world, World) else discover.discover_domains(limes)

    def discover_projects(self, limes: Limes, domain_uuid: str) -> Sequence[str]:
        world = limes.backends.discovery
        return world.new_projects if isinstance(world, World) else discover.discover_projects(limes, domain_uuid)

    def request_sync(self, limes: Limes, domain_uuid: str, project_uuid: str) -> None:
        world = limes.backends.discovery
        if not isinstance(world, World):
            discover.request_sync(limes, domain_uuid, project_uuid)
        elif project_uuid == "nowhere":
            raise NotFound("no such project")
        else:
            world.synced.append((domain_uuid, project_uuid))


discovery_handlers.discovery = Discovery()


class Addresses:
    """What Keystone knows: everybody but `nobody` has an address, and everybody but `billing` a role everywhere."""

    def with_roles(self, scope: str, uuid: str, roles: Collection[str]) -> list[str]:
        return []

    def has_role(self, user_id: str, scope: str, uuid: str) -> bool:
        return (scope, user_id) != ("domain", IDENTITIES["billing"].user_id) and user_id != IDENTITIES[
            "billing"
        ].user_id

    def address_of(self, user_id: str) -> str | None:
        return None if user_id == IDENTITIES["nobody"].user_id else f"{user_id.title()}@example.com"


def all_mails(engine: Engine, clock: FrozenClock) -> MailPreferences:
    """Lets users choose among all kinds of mail."""
    return MailPreferences(engine, clock, KINDS, Addresses())


@dataclass
class World:
    """The API, and what it was asked to do elsewhere."""

    engine: Engine
    clock: FrozenClock
    client: falcon.testing.TestClient
    app: falcon.App[Any, Any]
    limes: Limes
    pushed: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    push_errors: list[str] = field(default_factory=list)
    new_domains: list[str] = field(default_factory=list)
    new_projects: list[str] = field(default_factory=list)
    synced: list[tuple[str, str]] = field(default_factory=list)

    def settle_temporary(self) -> int:
        """A job of the collector."""
        return settle_temporary_quotas(self.limes.as_initiator(of_job("temporary-quotas")))

    def expire(self) -> int:
        """A job of the collector."""
        return expire_requests(self.limes.as_initiator(of_job("expire-requests")))

    def push(self, limes: Limes, project_id: int, services: Sequence[str]) -> Sequence[str]:
        self.pushed.append((project_id, tuple(services)))
        return self.push_errors

    def request(self, method: str, path: str, token: str | None = "cloud-admin", **kwargs: Any) -> Any:
        """Makes a request. A `json` goes into the body."""
        headers = kwargs.pop("headers", {}) | ({"X-Auth-Token": token} if token else {})
        result = self.client.simulate_request(method, path, headers=headers, **kwargs)
        if result.headers.get("content-type") == _NO_TYPE:
            del result.headers["content-type"]
        check_answer(method, path, result)
        return result

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Changes the database behind the API's back."""
        self.engine.atomic(lambda: self.engine.execute(sql, values))

    def get(self, path: str, token: str = "cloud-admin") -> Any:
        """The document that a GET answers."""
        result = self.request("GET", path.partition("?")[0], token, query_string=path.partition("?")[2])
        assert result.status_code == 200, result.text
        return result.json


def make_world(
    engine: Engine,
    *,
    lowpriv: LowPrivRules | None = None,
    constraints: ConstraintSet | None = None,
    overrides: QuotaOverrides = NO_OVERRIDES,
    auto_approval: Sequence[AutoApprovalRule] = (),
    requests_per_day: int = 100,
    requests_in_domain: int = 1000,
    commitment_rules: CommitmentRules | None = None,
    sinks: tuple[str, ...] = (),
    notify_sinks: tuple[str, ...] = (),
    stale_after: float = math.inf,
    alerts: AlertRules | None = None,
    quota_sets: Mapping[str, QuotaSet] | None = None,
    fill: bool = True,
    mail_settings: Callable[[Engine, FrozenClock], MailPreferences | None] = all_mails,
    webhooks: ProjectWebhookSettings | None = None,
    resolver: Resolver | None = None,
    mounts: tuple[Mount, ...] = (),
    policy: Policy | None = None,
    people: People | None = None,
    allowed_origins: tuple[str, ...] = ("*",),
    catalog_url: str = "https://limes.example.com",
    compression: bool = True,
    **catalog_options: Any,
) -> World:
    """Fills a migrated database and puts the API on it. Without `fill` the database has been filled before."""
    clock = FrozenClock()
    catalog = Catalog(["az-one", "az-two"], SERVICES, **catalog_options)
    settings = make_settings(
        commitments=commitment_rules or CommitmentRules(),
        alerts=alerts or AlertRules(),
        quota_requests={"at_most_per_day": requests_per_day, "at_most_per_day_in_domain": requests_in_domain},
        api={"cors": {"allowed_origins": allowed_origins}, "clients": {"compression": compression}},
        catalog_url=catalog_url,
    )
    values = {"audit.sinks": sinks, "notifications.sinks": notify_sinks, "collector.stale_after": stale_after}
    values["notifications.project_webhooks"] = webhooks or ProjectWebhookSettings()
    world = World(engine, clock, None, None, None)  # type: ignore[arg-type]  # they are put in below
    world.limes = limes = make_limes(
        engine,
        catalog,
        with_values(settings, values),
        constraints=constraints or ConstraintSet(),
        lowpriv=lowpriv or LowPrivRules(),
        overrides=lambda: overrides,
        auto_approval=auto_approval,
        quota_sets=quota_sets or {},
        clock=clock,
        push_quota=world.push,
        backends=Backends({}, {"inventory": NoCapacity()}, world),
    )
    deps = ApiCollaborators(
        limes=limes,
        authenticator=Tokens(),
        policy=policy or POLICY,
        mounts=mounts,
        parts={
            Subscriptions: Subscriptions(engine, clock, UNSUBSCRIBE_LINKS),
            MailPreferences: mail_settings(engine, clock),
            Directory: Directory(people or SamplePeople(IDENTITIES.values())),
            Resolver: resolver,
        },
    )
    world.app = create_app(deps)
    world.client = falcon.testing.TestClient(_typed(world.app))
    if fill:
        sync_catalog(limes)
        engine.atomic(lambda: fill_cloud(engine))
    return world


def insert(engine: Engine, table: str, **values: Any) -> None:
    """Puts a row into a table."""
    places = ", ".join(["%s"] * len(values))
    engine.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", list(values.values()))


def fill_cloud(engine: Engine) -> None:
    """Puts the cloud of this module's docstring into a database that knows its services and resources."""
    ids = {name: id_ for id_, name in engine.rows("SELECT id, name FROM resources")}
    services = {type_: id_ for id_, type_ in engine.rows("SELECT id, type FROM services")}
    for id_, uuid, name in ((1, GERMANY, "germany"), (2, FRANCE, "france")):
        insert(engine, "domains", id=id_, uuid=uuid, name=name)
    for id_, uuid, name, domain in ((1, BERLIN, "berlin", 1), (2, DRESDEN, "dresden", 1), (3, PARIS, "paris", 2)):
        parent = GERMANY if domain == 1 else FRANCE
        row = {"id": id_, "uuid": uuid, "name": name, "parent_uuid": parent, "domain_id": domain}
        insert(engine, "projects", **row, has_bursting=False)
        scrape = {"scraped_at": None if name == "paris" else 1000.5 + 10 * id_, "next_scrape_at": 2000}
        fine = {"is_stale": False, "scrape_error": "", "push_failures": 0, "push_error": ""}
        for service in services.values():
            insert(engine, "project_services", project_id=id_, service_id=service, **scrape, **fine)
    for domain, resource, quota in ((1, "cores", 100), (1, "ram", 4096), (1, "capacity", 0), (2, "cores", 50)):
        insert(engine, "domain_resources", domain_id=domain, resource_id=ids[resource], quota=quota)
    for project, resource, quota, backend, azs in (
        (1, "cores", 20, 20, [("az-one", 2, None), ("az-two", 3, None)]),
        (1, "ram", 1024, 2048, [("any", 512, 128)]),
        (1, "gpus", None, None, [("az-one", 1, None)]),
        (1, "capacity", 10, -1, [("any", 3, None)]),
        (2, "cores", 30, 30, [("az-one", 31, None)]),
        (2, "ram", 0, 0, []),
    ):
        place = {"project_id": project, "resource_id": ids[resource]}
        insert(engine, "project_resources", **place, quota=quota, backend_quota=backend, usage=0)
        subresources = '[{"id": "gpu-1"}]' if resource == "gpus" else ""
        for az, usage, physical in azs:
            figures = {"usage": usage, "physical_usage": physical, "subresources": subresources}
            insert(engine, "project_az_resources", **place, az=az, **figures)
    of_resource = "FROM project_az_resources az WHERE az.project_id = pr.project_id AND az.resource_id = pr.resource_id"
    engine.execute(
        f"UPDATE project_resources AS pr SET usage = (SELECT COALESCE(SUM(az.usage), 0) {of_resource}),"
        " physical_usage = (SELECT CASE WHEN MAX(az.physical_usage) IS NOT NULL"
        f" THEN SUM(COALESCE(az.physical_usage, az.usage)) END {of_resource})"
    )
    engine.execute("UPDATE capacitors SET scraped_at = 900 WHERE name = 'inventory'")
    for resource, az, raw, usage in (
        ("cores", "az-one", 100, 33),
        ("cores", "az-two", 101, 0),
        ("ram", "any", 8192, None),
    ):
        figures = {"raw_capacity": raw, "usage": usage}
        figures["subcapacities"] = f'[{{"az": "{az}"}}]' if resource == "cores" else "[]"
        insert(engine, "az_resources", resource_id=ids[resource], az=az, **figures)
    if engine.dialect == "postgresql":
        for table in ("domains", "projects"):
            engine.rows(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), 100)")
