"""One way through every route, in a cloud where everything has happened, also with each parameter that a route takes.

`test_every_route` goes it on both databases, and compares the answers with recorded ones.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from limes.app.routes import ROUTES, SECTIONS
from limes.catalog.catalog import DistributionRule
from limes.commitments.rules import CommitmentRules
from limes.notifications.targets import ProjectWebhookSettings
from limes.quota.rules import QuotaSet
from limes.reports.handlers import DETAIL
from limes.web.operation import operations_of
from tests.api.answers import Answers
from tests.api.world import BERLIN, DRESDEN, GERMANY, World
from tests.autogrow.growing import RULE, bounds
from tests.commitments.commitments import BEHAVIORS, CORES
from tests.growth.test_growth import sample
from tests.lifetimes.lifetimes import DAY, fill_lifetimes
from tests.metering.test_reports import close, use
from tests.notifications.test_project_webhooks import Names
from tests.notifications.test_unsubscribe import unsubscribe_path
from tests.quota.quotas import body

DOMAIN = "/v1/domains/{domain_id}"
PROJECT = f"{DOMAIN}/projects/{{project_id}}"
COMMITMENTS = f"{PROJECT}/commitments"
MAIL_SETTINGS = "/v1/mail-settings"
CONVERSION = {"target_service": "volume", "target_resource": "capacity", "source_amount": 3, "target_amount": 2}
AGENT = {"User-Agent": "tour"}
PER_AZ = {"X-Limes-V2-API-Preview": "per-az"}
GROWING_RAM = DistributionRule(re.compile("compute/ram"), "autogrow", autogrow=RULE)

NEEDED = {"/usage-reports": "from=2026-01-09&granularity=day", "/unsubscribe": unsubscribe_path().partition("?")[2]}
"""What a GET cannot do without, by the end of its path."""

VALUES = {
    "service": "compute",
    "resource": "cores",
    "area": "storage",
    "domain_id": GERMANY,
    "project_id": BERLIN,
    "availability_zone": "az-one",
    "id": "a",
    "from": "2026-01-01",
    "until": "2026-01-10",
    "as_of": "2026-01-12",
    "changed_since": "2026-01-01",
    "changed_until": "2026-01-09",
    "granularity": "day",
    "per_az": "true",
    "status": "open",
    "level": "project",
    "person": "u3",
    "kind": "quota",
    "cause": "request",
    "passed_on": "true",
    "days": "7",
    "above": "10",
    "since": "1",
    "limit": "2",
    "label": "env:prod",
    "detail": "",
    "fields": "committed",
    "history": "",
}
"""A value for each query parameter, besides tokens, and markers, which `test_pagination` has."""

GIVEN = {
    ("/explain", "resource"): "resource=ram&resource=cores",
    ("/rights", "project_id"): f"domain_id={GERMANY}&project_id={BERLIN}",
    ("/changes", "until"): "until=2026-01-01T00:00:01Z",
    ("/usage-reports", "availability_zone"): "from=2026-01-01&per_az=true&availability_zone=az-one",
    ("/usage-reports", "as_of"): "from=2026-01-09&until=2026-01-10&granularity=day&as_of=2026-01-12",
    ("/usage-reports", "from"): "from=2026-01-10&granularity=day",
    ("/usage-reports", "granularity"): "from=2026-01-01&granularity=total",
    ("/v1/commitments", "status"): "status=confirmed",
}
"""What is asked where one parameter goes with others, or means something else: by the end of the path."""


SECTION_OF = {path: section for section, paths in SECTIONS.items() for path in paths} | {"/v1/openapi.json": "openapi"}


class Tour:
    """Asks, and notes which routes have answered well."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.visited: set[tuple[str, str]] = set()
        self.answers = Answers()
        self.commitments: dict[str, int] = {}
        self.open_request = 0

    @property
    def now(self) -> int:
        return int(self.world.clock.now().timestamp())

    def go(self, method: str, template: str, document: Any = None, query: str = "", **options: Any) -> Any:
        """Asks, about berlin unless `options` say otherwise. Answers the document."""
        result = self.ask(SECTION_OF[template], method, template, document, query, **options)
        assert result.status_code in (200, 201, 202, 204, 300, 304), f"{method} {template}?{query}: {result.text}"
        self.visited.add((method, template))
        return result.json if result.headers.get("content-type", "").startswith("application/json") else result.text

    def ask(self, group: str, method: str, template: str, document: Any = None, query: str = "", **options: Any) -> Any:
        """Asks, and records the answer."""
        headers, token = options.pop("headers", {}), options.pop("token", "cloud-admin")
        names = {"domain_id": GERMANY, "project_id": BERLIN, "service_type": "compute", "resource_name": "cores"}
        path = template.format(**(names | options))
        body = {} if document is None else {"json": document}
        result = self.world.request(method, path, token, query_string=query, headers=AGENT | headers, **body)
        said = [f"{name}={value}" for name, value in headers.items()]
        said += [] if token == "cloud-admin" else [f"as {token}"]
        said += [] if document is None else [json.dumps(document)]
        self.answers.note(group, " ".join([method, path + (f"?{query}" if query else ""), *said])[:400], result)
        return result

    def commit(self, key: str = "", **fields: Any) -> int:
        """Makes a commitment."""
        headers = {"Idempotency-Key": key} if key else {}
        wanted = {"commitment": {**CORES, "duration": "1 year", **fields}}
        made = self.go("POST", f"{COMMITMENTS}/new", wanted, headers=headers)
        return int(made["commitment"]["id"])

    def request_quota(self, level: str, cores: int, token: str = "cloud-admin") -> int:
        """Requests quota of cores."""
        services = body("any", compute={"cores": cores})["any"]["services"]
        document = {"quota_request": {"reason": "launch", "services": services}}
        made = self.go("POST", f"{level}/quota-requests", document, token=token)
        return int(made["quota_request"]["id"])


@pytest.fixture
def tour(make: Callable[..., World]) -> Tour:
    """Ten days of metering, samples and lifetimes; a scrape has failed, and another quota is enforced than was set."""
    world = make(
        behaviors=BEHAVIORS,
        distributions=[GROWING_RAM],
        burst_multiplier=0.5,
        commitment_rules=CommitmentRules(
            conversions=({("compute", "cores"): 4, ("volume", "capacity"): 6},),
            renewal_window=400.0 * DAY,
            self_delete_grace=1800,
        ),
        quota_sets={"medium": QuotaSet("medium", "some users", {("compute", "cores"): 25})},
        sinks=("test",),
        notify_sinks=("test",),
        webhooks=ProjectWebhookSettings(allowed_hosts=("chat.example.com",)),
        resolver=Names(["93.184.216.34"]),
    )
    world.new_domains, world.new_projects = ["uuid-new"], ["uuid-newer"]
    world.run(
        "INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
        " SELECT id, 'az-one', 20, '[]' FROM resources WHERE name = 'capacity'"
    )
    fill_lifetimes(world)
    for _ in range(11):
        close(world)
        sample(world)
        world.clock.advance(DAY)
    use(world, 7)
    failed = world.clock.now().timestamp() - 5000
    world.run(
        "UPDATE project_services SET scrape_error = 'no answer', scrape_failures = 5, failing_since = %s, checked_at = %s"
        " WHERE project_id = 2",
        [failed, failed],
    )
    world.run("UPDATE project_services SET push_error = 'it is full', push_failures = 2 WHERE project_id = 1")
    return Tour(world)


def buy(tour: Tour) -> None:
    """All that is done with commitments."""
    first, second, third = (tour.commit(amount=amount) for amount in (3, 4, 6))
    planned = tour.commit(confirm_by=tour.now + 30 * DAY, key="once")
    wanted = {"commitment": {**CORES, "duration": "1 year", "amount": 5}}
    tour.go("POST", f"{COMMITMENTS}/can-confirm", wanted)
    tour.go("POST", f"{COMMITMENTS}/plan", wanted)
    merged = tour.go("POST", f"{COMMITMENTS}/merge", {"commitment_ids": [first, second]})["commitment"]["id"]
    one = f"{COMMITMENTS}/{{id}}"
    tour.go("PUT", one, {"commitment": {"auto_renew": True}}, id=merged)
    tour.go("POST", f"{one}/update-duration", {"duration": "1 year"}, id=merged)
    tour.go("GET", "/v1/commitment-conversion/{service_type}/{resource_name}")
    tour.go("POST", f"{one}/convert", {"commitment": CONVERSION}, id=third)
    tour.go("POST", f"{one}/renew", {}, id=merged)
    for status in ("unlisted", "public"):
        offered = {"commitment": {"amount": 2, "transfer_status": status}}
        marked = tour.go("POST", f"{one}/start-transfer", offered, id=tour.commit(amount=2))["commitment"]
        if status == "unlisted":
            token = {"Transfer-Token": marked["transfer_token"]}
            tour.go("GET", "/v1/commitments/by-token", headers=token)
            taken = f"{PROJECT}/transfer-commitment/{{id}}"
            tour.go("POST", taken, project_id=DRESDEN, id=marked["id"], headers=token)
    tour.go("DELETE", one, id=tour.commit(amount=1))
    tour.commitments = {"first": first, "merged": merged, "planned": planned}


def set_quotas(tour: Tour) -> None:
    """All that is set directly."""
    for level, path, cores in (("domain", DOMAIN, 120), ("project", PROJECT, 24)):
        document = body(level, compute={"cores": cores})
        tour.go("POST", f"{path}/simulate-put", document)
        tour.go("PUT", path, document)
        for what, field, value in (
            ("max-quota", "max_quota", 4000),
            ("min-quota", "min_quota", 100),
            ("forbid-autogrowth", "forbid_autogrowth", True),
        ):
            if what in path or (level, what) != ("domain", "min-quota"):
                tour.go("PUT", f"{path}/{what}", bounds(path, field, value, resource="ram"))
    for level, path, quota in (("project", PROJECT, 30), ("domain", DOMAIN, 140)):
        temporary = {"name": "cores", "quota": quota, "until": tour.now + 8 * DAY}
        tour.go("PUT", path, {level: {"services": [{"type": "compute", "resources": [temporary]}]}})
    planned = {"name": "cores", "quota": 35, "from": tour.now + 2 * DAY, "until": tour.now + 20 * DAY}
    wanted = {"project": {"services": [{"type": "compute", "resources": [planned]}]}}
    tour.go("PUT", PROJECT, wanted, project_id=DRESDEN)
    tour.go("PUT", PROJECT, {"project": {"bursting": {"enabled": True}}}, project_id=DRESDEN)


def request_quotas(tour: Tour) -> None:
    """All that is done with requests for quota; some stay open."""
    for level in (PROJECT, DOMAIN):
        one = f"{level}/quota-requests/{{id}}"
        for verb, document in (
            ("reject", {"reason": "no"}),
            ("withdraw", {"comment": "oh"}),
            ("comments", {"comment": "hm"}),
            ("approve", {}),
        ):
            number = tour.request_quota(level, 60 if level == PROJECT else 200)
            tour.go("GET", f"{one}/deciders", id=number)
            tour.go("POST", f"{one}/{verb}", document, id=number)
            tour.go("GET", one, id=number)
            tour.go("GET", one, query="limit=1", id=number)
            tour.go("GET", one, query="marker=2", id=number)
    proposed = f"{PROJECT}/quota-requests/{{id}}"
    for verb in ("withdraw", "confirm"):
        number = tour.request_quota(PROJECT, 70, "berlin-member")
        tour.go("POST", f"{proposed}/{verb}", {}, id=number)
        tour.go("GET", proposed, id=number)
    tour.go("POST", f"{PROJECT}/quota-requests/{{id}}/pass-on", {}, id=tour.request_quota(PROJECT, 900))
    tour.open_request = tour.request_quota(PROJECT, 800)


def do_the_rest(tour: Tour) -> None:
    """Labels, settings of mail, and jobs that somebody asks for."""
    tour.go("PUT", f"{PROJECT}/labels", {"labels": {"owner": "web team", "env": "prod"}})
    tour.go("PUT", MAIL_SETTINGS, {"mail_settings": {"kinds": [{"kind": "quota_used", "sent": False}]}})
    asked = {"quota_request": {"reason": "more", "services": body("any", compute={"cores": 70})["any"]["services"]}}
    number = tour.go("POST", f"{PROJECT}/quota-requests", asked, token="berlin-admin")["quota_request"]["id"]
    tour.go("POST", f"{PROJECT}/quota-requests/{{id}}/comments", {"comment": "why?"}, id=number)
    tour.go("POST", f"{PROJECT}/quota-requests/{{id}}/reject", {"reason": "no"}, id=number)
    tour.go("GET", "/v1/inbox", query="limit=1", token="berlin-admin")
    tour.go("PUT", "/v1/inbox", {"seen_at": tour.now}, token="berlin-admin")
    tour.go("PUT", f"{PROJECT}/my-threshold", {"my_threshold": {"percent": 70}})
    tour.go("PUT", f"{PROJECT}/webhook", {"webhook": {"url": "https://chat.example.com/hooks/1"}})
    tour.go("GET", f"{PROJECT}/webhook")
    tour.go("DELETE", f"{PROJECT}/webhook")
    tour.go("POST", "/v1/notifications/unsubscribe", query=NEEDED["/unsubscribe"])
    for path in ("/v1/domains/discover", f"{DOMAIN}/projects/discover", f"{PROJECT}/sync"):
        tour.go("POST", path)


def look_everywhere(tour: Tour) -> None:
    """Each GET without parameters, and with each one that it takes; each page of what has pages; as CSV where it can."""
    for method, path, operation in operations_of(ROUTES):
        if method != "GET" or (method, path) in tour.visited:
            continue
        needed = next((query for end, query in NEEDED.items() if path.endswith(end)), "")
        tour.go("GET", path, query=needed)
        tour.go("GET", path, query=needed, headers=PER_AZ)
        if operation.csv:
            tour.go("GET", path, query=needed, headers={"Accept": "text/csv"})
        for parameter in operation.parameters:
            name = parameter.name
            if parameter.place == "query" and name not in ("marker", "token"):
                simply = "&".join(filter(None, [needed, f"{name}={VALUES[name]}"]))
                special = [query for (end, what), query in GIVEN.items() if path.endswith(end) and what == name]
                document = tour.go("GET", path, query=special[0] if special else simply)
                for _ in range(3):
                    if not (more := re.search(r"'rel': 'next', 'href': '[^?]*[?]([^']*)'", str(document))):
                        break
                    document = tour.go("GET", path, query=more[1])
        if DETAIL in operation.parameters:
            tour.go("GET", path, query="detail", headers=PER_AZ)


def look_as_others(tour: Tour) -> None:
    """Each GET by those who may see less: of the cloud, of a domain, of a project."""
    for method, path, operation in operations_of(ROUTES):
        if method == "GET" and not operation.public:
            needed = next((query for end, query in NEEDED.items() if path.endswith(end)), "")
            for token in ("cloud-viewer", "billing", "germany-viewer", "berlin-reader"):
                tour.ask("others", method, path, None, needed, id=1, token=token)


def ask_for_changes(tour: Tour) -> None:
    """With the tag of what is there already, and of the same after a PUT."""
    for path in (DOMAIN, PROJECT):
        tag = tour.ask(SECTION_OF[path], "GET", path, None, "resource=cores").headers["etag"]
        for value in (tag, f'W/{tag}, "other"', "*", '"other"'):
            tour.go("GET", path, query="resource=cores", headers={"If-None-Match": value})
        tour.go("PUT", path, body("domain" if path == DOMAIN else "project"), headers={"If-Match": tag})


def wait(tour: Tour) -> None:
    """Temporary quota is about to end, and ends; requests expire, months are closed, and all reports are there once more."""
    for days in (6, 94):
        tour.world.clock.advance(days * DAY)
        tour.world.settle_temporary()
        tour.world.expire()
        for path in ("/v1/alerts", PROJECT, DOMAIN, f"{PROJECT}/explain", f"{DOMAIN}/explain"):
            tour.ask("later", "GET", path)
    close(tour.world)
    for query in ("from=2026-01-01", "from=2026-02-01&until=2026-03-01&per_az", "from=2026-01-01&granularity=total"):
        for headers in ({}, {"Accept": "text/csv"}):
            tour.ask("later", "GET", f"{DOMAIN}/usage-reports", query=query, headers=headers)
    for method, path, operation in operations_of(ROUTES):
        if method == "GET" and not operation.public and not path.endswith(("by-token", "/usage-reports")):
            tour.ask("later", method, path, id=tour.open_request)
