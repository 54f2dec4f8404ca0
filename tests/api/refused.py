"""Requests that are refused at the end of the way in `tests.api.tour`, of each kind."""

from collections.abc import Iterator
from typing import Any

from limes.app.routes import ROUTES
from limes.web.operation import operations_of
from tests.api.tour import COMMITMENTS, CONVERSION, DAY, DOMAIN, MAIL_SETTINGS, PROJECT, Tour
from tests.api.world import DRESDEN, FRANCE, PARIS
from tests.autogrow.growing import bounds
from tests.commitments.commitments import CORES
from tests.quota.quotas import body

_NO_DOMAIN, _NO_PROJECT = {"domain_id": "no-such"}, {"project_id": "no-such"}
_UNSCRAPED = {"domain_id": FRANCE, "project_id": PARIS}
_DRESDEN = {"project_id": DRESDEN}
_CAPACITY = {"service_type": "volume", "resource_name": "capacity"}


def refuse(tour: Tour) -> None:
    """Everything that is refused."""
    for refusals in (_by_policy, _by_path, _of_queries, _of_bodies, _of_quotas, _of_requests, _of_commitments):
        for method, path, document, options in refusals(tour):
            tour.ask("refusals", method, path, document, **options)


Refusals = Iterator[tuple[str, str, Any, dict[str, Any]]]


def _by_policy(tour: Tour) -> Refusals:
    """403 and 401: each route for who may do nothing; what an identity provider says is the same everywhere."""
    for method, path, operation in operations_of(ROUTES):
        if operation.rule is not None:
            yield method, path, {}, {"token": "nobody", "id": 4711}
    for token in (None, "expired", "keystone-is-down"):
        yield "GET", "/v1/domains", None, {"token": token}
    yield "GET", "/v1/domains", None, {"headers": {"X-Limes-Cluster-Id": "west"}}


def _by_path(tour: Tour) -> Refusals:
    """404 and 405: each route below a domain or project that does not exist."""
    for method, path, _ in operations_of(ROUTES):
        query = "from=2026-01-01" if path.endswith("/usage-reports") else ""
        for template, ids in ((DOMAIN, _NO_DOMAIN), (PROJECT, _NO_PROJECT), (f"{PROJECT}/", _UNSCRAPED)):
            if path.startswith(template) and "{id}" not in path:
                yield method, path, {}, {**ids, "query": query}
        if "{id}" in path:
            for number in ("4711", "x"):
                yield method, path, {}, {"id": number}
    for method, path in (("GET", "/v1/nowhere"), ("GET", "/v1/domains/"), ("DELETE", DOMAIN), ("PATCH", "/v1/domains")):
        yield method, path, None, {}
    for resource in ("cpus", "gpus"):
        yield "GET", "/v1/commitment-conversion/{service_type}/{resource_name}", None, {"resource_name": resource}
    yield "GET", "/v1/commitments/by-token", None, {"headers": {"Transfer-Token": "no-such"}}
    yield "GET", "/v1/commitments/by-token", None, {}


def _of_queries(tour: Tour) -> Refusals:
    """400: each query parameter with a value that it does not take."""
    tried = set()
    for method, path, operation in operations_of(ROUTES):
        for parameter in operation.parameters if method == "GET" and not operation.public else ():
            if parameter.place == "query" and parameter not in tried:
                tried.add(parameter)
                needed = "from=2026-01-01&" if path.endswith("/usage-reports") and parameter.name != "from" else ""
                yield method, path, None, {"id": 1, "query": f"{needed}{parameter.name}=%00x"}
        if operation.csv:
            yield method, path, None, {"query": "from=2026-01-01&colour=green"}
    for path, query in (
        ("/v1/rights", f"project_id={DRESDEN}"),
        ("/v1/domains", "marker=x"),
        ("/v1/domains", "limit=1&limit=2"),
        ("/v1/projects", "limit=x"),
        ("/v1/usage-reports", ""),
        ("/v1/usage-reports", "from=2026-01-02&until=2026-01-01"),
        ("/v1/usage-reports", "from=2026-01-02T01:02:03Z&granularity=day"),
        ("/v1/usage-reports", "from=2026-01-01&availability_zone=az-one"),
        ("/v1/usage-reports", "from=2026-01-01&as_of=2099-01-01"),
        ("/v1/usage-history", "from=2099-01-01"),
        ("/v1/usage-history", "from=2026-01-02&until=2026-01-01"),
        ("/v1/usage-history", "from=2020-01-01&granularity=hour"),
        ("/v1/subresources", "from=2020-01-01"),
        ("/v1/subresources", "from=2026-01-09&until=2026-01-08"),
        ("/v1/commitments", "changed_since=2026-01-09&changed_until=2026-01-08"),
        ("/v1/commitments", "status=lost"),
        (f"{DOMAIN}/projects", "label=env&label=Env:prod"),
        ("/v1/quota-requests", "status=lost"),
        ("/v1/quota-requests", "level=cloud"),
        ("/v1/quota-requests", "passed_on=perhaps"),
    ):
        yield "GET", path, None, {"query": query}


def _of_bodies(tour: Tour) -> Refusals:
    """400: documents that are none of theirs, and headers."""
    for method, path, operation in operations_of(ROUTES):
        if operation.body is not None:
            for document in ([], {"domain": 5, "project": 5, "commitment": 5, "mail_settings": 5, "quota_request": 5}):
                yield method, path, document, {"id": 1}
    for method, path in (("PUT", PROJECT), ("PUT", DOMAIN), ("POST", f"{DOMAIN}/simulate-put")):
        yield method, path, {}, {"headers": {"If-Match": "no tag"}}
        yield method, path, {}, {"headers": {"If-Match": '"of-yesterday"'}}
    for value in ("", "ö"):
        yield "POST", f"{COMMITMENTS}/new", {"commitment": CORES}, {"headers": {"Idempotency-Key": value}}
    both = {"bursting": {"enabled": True}, "quota_set": "medium"}
    yield "PUT", PROJECT, {"project": both}, {}
    yield "PUT", PROJECT, {"project": {"quota_set": "no-such"}}, {}
    yield "PUT", PROJECT, {"project": {"services": [{"type": "compute", "until": 5, "resources": []}]}}, {}
    for labels in ([], {"env": 1}, {"Env": "prod", "": ""}, {"env": "\n"}):
        yield "PUT", f"{PROJECT}/labels", {"labels": labels}, {}
    for settings in (
        {"kinds": [{"kind": "no-such", "sent": False}]},
        {"kinds": [{"kind": "quota_used", "sent": False}, {"kind": "quota_used", "sent": True}]},
    ):
        yield "PUT", MAIL_SETTINGS, {"mail_settings": settings}, {}
    yield "PUT", MAIL_SETTINGS, {"mail_settings": {"sent": False}}, {"token": "nobody"}
    yield "PUT", f"{PROJECT}/my-threshold", {"my_threshold": {"percent": 0}}, {}
    yield "PUT", f"{PROJECT}/webhook", {"webhook": {"url": "https://evil.example/"}}, {}
    yield "DELETE", f"{PROJECT}/webhook", None, {}
    yield "PUT", f"{PROJECT}/my-threshold", {"my_threshold": {"percent": 70}}, {"token": "billing"}
    for method in ("GET", "POST"):
        yield method, "/v1/notifications/unsubscribe", None, {"query": "token=no.such", "token": None}


def _of_quotas(tour: Tour) -> Refusals:
    """403, 409 and 422: set as text, and simulated as a document."""
    wanted: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("project", {"compute": {"cores": 2, "ram": 1, "gpus": 5, "cpus": 5}, "network": {"ports": 1}}, {}),
        ("project", {"compute": {"cores": 900}}, {}),
        ("project", {"compute": {"cores": 900}}, {"token": "germany-admin"}),
        ("project", {"compute": {"cores": 2**63}, "volume": {"capacity": (3, "furlongs")}}, {}),
        ("project", {"volume": {"capacity": (2**62, "EiB")}}, {}),
        ("project", {"volume": {"capacity": (1, "MiB")}}, {}),
        ("project", {"volume": {"capacity": 7}}, {}),
        ("project", {"volume": {"capacity": 1}}, {}),
        ("project", {"compute": {"cores": 40}}, {"token": "berlin-admin"}),
        ("project", {"compute": {"cores": 26}}, {"token": "berlin-member"}),
        ("project", {"compute": {"cores": 3}}, {"token": "berlin-reader"}),
        ("project", {"compute": {"cores": 20}}, _DRESDEN),
        ("domain", {"compute": {"cores": 2, "ram": 1, "gpus": 5, "cpus": 5}, "network": {"ports": 1}}, {}),
        ("domain", {"compute": {"cores": 900}}, {}),
        ("domain", {"compute": {"cores": 150}}, {"token": "germany-admin"}),
        ("domain", {"compute": {"cores": (3, "MiB")}}, {}),
    ]
    for level, quotas, options in wanted:
        path = PROJECT if level == "project" else DOMAIN
        for method, full in (("PUT", path), ("POST", f"{path}/simulate-put")):
            yield method, full, body(level, **quotas), options
    for until, starts in ((1, None), (tour.now + DAY, tour.now + 2 * DAY), (None, tour.now + DAY), (2**50, None)):
        resource = {"name": "cores", "quota": 31, "until": until, "from": starts}
        document = {"project": {"services": [{"type": "compute", "resources": [resource]}]}}
        yield "PUT", PROJECT, document, {}
        yield "POST", f"{PROJECT}/simulate-put", document, {}
    for path in (PROJECT, DOMAIN):
        for resource, amount, more in (
            ("cores", 5, {}),
            ("cpus", 5, {}),
            ("gpus", 5, {}),
            ("ram", 5, {}),
            ("ram", 5, {"unit": "furlongs"}),
            ("ram", 2**63, {}),
        ):
            for what in ("max-quota", "min-quota"):
                if (path, what) != (DOMAIN, "min-quota"):
                    name = what.replace("-", "_")
                    yield "PUT", f"{path}/{what}", bounds(path, name, amount, resource=resource, **more), {}
        yield "PUT", f"{path}/forbid-autogrowth", bounds(path, "forbid_autogrowth", True), {}
    yield "PUT", PROJECT, {"project": {"bursting": {"enabled": True}}}, {}
    yield "PUT", PROJECT, {"project": {"bursting": {"enabled": False}}}, {"token": "berlin-member"}


def _of_requests(tour: Tour) -> Refusals:
    """Requests for more quota that make no sense, or are decided already (1 is), or refused by quotas."""
    for path in (PROJECT, DOMAIN):
        for services, more in (
            ({}, {}),
            ({"compute": {"cores": 1}}, {}),
            ({"compute": {"cpus": 1, "gpus": 7, "cores": 2**63}, "network": {"ports": 5}}, {}),
            ({"compute": {"cores": (700, "MiB")}}, {}),
            ({"compute": {"cores": 70}}, {"until": 5}),
            ({"compute": {"cores": 70}}, {"until": tour.now + DAY, "from": tour.now + 2 * DAY}),
            ({"compute": {"cores": 70}}, {"quota_set": "no-such"}),
        ):
            wanted = {"reason": "launch", "services": body("any", **services)["any"]["services"], **more}
            yield "POST", f"{path}/quota-requests", {"quota_request": wanted}, {}
        number = 1 if path == PROJECT else 5
        for verb, document in (("approve", {}), ("reject", {"reason": "no"}), ("withdraw", {}), ("pass-on", {})):
            if (path, verb) != (DOMAIN, "pass-on"):
                yield "POST", f"{path}/quota-requests/{{id}}/{verb}", document, {"id": number}
    approvals: tuple[tuple[str, Any], ...] = (("approve", {}), ("approve", {"services": [{"type": "network"}]}))
    for verb, document in (("confirm", {}), ("pass-on", {}), *approvals):
        yield "POST", f"{PROJECT}/quota-requests/{{id}}/{verb}", document, {"id": tour.open_request}
    texts: tuple[str, ...] = ("", "\u0007", "x" * 5000)
    for text in texts:
        yield "POST", f"{PROJECT}/quota-requests/{{id}}/comments", {"comment": text}, {"id": tour.open_request}
        yield "POST", f"{PROJECT}/quota-requests/{{id}}/reject", {"reason": text}, {"id": tour.open_request}


def _of_commitments(tour: Tour) -> Refusals:
    """Commitments that cannot be made or changed."""
    for fields in (
        {"resource_name": "cpus"},
        {"service_type": "network"},
        {"resource_name": "gpus"},
        {"availability_zone": ""},
        {"availability_zone": "any"},
        {"availability_zone": "az-nine"},
        {"resource_name": "ram"},
        {"duration": "3 years"},
        {"duration": "soon"},
        {"duration": "0 days"},
        {"duration": "2000 years"},
        {"amount": 0},
        {"amount": 2**63},
        {"amount": 5000},
        {"confirm_by": 5},
        {"confirm_by": 2**40},
    ):
        for what in ("new", "can-confirm", "plan"):
            yield "POST", f"{COMMITMENTS}/{what}", {"commitment": {**CORES, **fields}}, {}
    yield "POST", f"{COMMITMENTS}/new", {"commitment": CORES}, {"headers": {"Idempotency-Key": "once"}}
    kept, planned, gone = tour.commitments["merged"], tour.commitments["planned"], tour.commitments["first"]
    one = f"{COMMITMENTS}/{{id}}"
    for number in (kept, planned, gone):
        yield "POST", f"{one}/renew", None, {"id": number}
        for duration in ("1 hour", "3 years", "soon"):
            yield "POST", f"{one}/update-duration", {"duration": duration}, {"id": number}
        for changed in (
            {"target_resource": "ram"},
            {"source_amount": 4711},
            {"target_amount": 77},
            {"source_amount": 0},
        ):
            yield "POST", f"{one}/convert", {"commitment": {**CONVERSION, **changed}}, {"id": number}
        for amount, status in ((0, "public"), (4711, "public"), (1, "sold")):
            offered = {"commitment": {"amount": amount, "transfer_status": status}}
            yield "POST", f"{one}/start-transfer", offered, {"id": number}
        yield "POST", f"{PROJECT}/transfer-commitment/{{id}}", None, {**_DRESDEN, "id": number}
        token = {"headers": {"Transfer-Token": "no-such"}}
        yield "POST", f"{PROJECT}/transfer-commitment/{{id}}", None, {**_DRESDEN, "id": number, **token}
        yield "POST", f"{COMMITMENTS}/merge", {"commitment_ids": [kept, number]}, {}
    for numbers in ([], [kept], [kept, 4711]):
        yield "POST", f"{COMMITMENTS}/merge", {"commitment_ids": numbers}, {}
    yield "PUT", one, {"commitment": {"auto_renew": True}}, {"id": gone}
    yield "DELETE", one, None, {"id": gone}
    yield "DELETE", one, None, {"id": kept, "token": "berlin-admin"}
