"""Who may do what, and what the others get: 401, 403, 404, 503. Permission comes before existence."""

import pytest

from limes.app.routes import ROUTES as TABLE
from limes.kernel.errors import BackendError
from limes.web.operation import operations_of, public_paths
from tests.api.world import BERLIN, FRANCE, GERMANY, IDENTITIES, PARIS, World
from tests.support.rows import all_rows, changes

NO_DOMAIN = "no such domain (if it was just created, try to POST /domains/discover)\n"

DOMAIN, PROJECT = f"/v1/domains/{GERMANY}", f"/v1/domains/{GERMANY}/projects/{BERLIN}"

CLOUD = {"cloud-admin", "cloud-viewer", "billing"}
DOMAIN_VIEWERS = CLOUD | {"germany-admin", "germany-viewer"}
PROJECT_VIEWERS = DOMAIN_VIEWERS | {"berlin-admin", "berlin-member", "berlin-reader"}
PROJECT_MEMBERS = {"cloud-admin", "germany-admin", "berlin-admin", "berlin-member"}
PROJECT_EDITORS = {"cloud-admin", "germany-admin", "berlin-admin"}
EVERYBODY = set(IDENTITIES)
PUBLIC_PATHS = public_paths(TABLE)
CHALLENGE = 'Keystone uri="http://127.0.0.1:5000/v3"'

# what the cloud, each domain and each project have -> the status
ON_EACH_LEVEL = {
    "alerts": 200,
    "changes": 200,
    "commitment-summary": 200,
    "expiring-commitments": 200,
    "forecast": 200,
    "quota-requests": 200,
    "subresources": 200,
    "usage-history": 200,
    "usage-reports": 400,
}
LEVELS = [("/v1", CLOUD), (DOMAIN, DOMAIN_VIEWERS), (PROJECT, PROJECT_VIEWERS)]

# route -> who gets in, and the status that they get
ROUTES = [
    *(("GET", f"{path}/{what}", who, status) for path, who in LEVELS for what, status in ON_EACH_LEVEL.items()),
    ("GET", "/v1/clusters/current", EVERYBODY, 200),
    ("GET", "/v1/identity", EVERYBODY, 200),
    ("GET", "/v1/rights", EVERYBODY, 200),
    ("GET", "/v1/mail-settings", EVERYBODY, 200),
    ("PUT", "/v1/mail-settings", EVERYBODY, 400),
    ("GET", "/v1/inbox", EVERYBODY, 200),
    ("PUT", "/v1/inbox", EVERYBODY, 400),
    ("GET", "/v1/resources", EVERYBODY, 200),
    ("GET", "/v1/domains", CLOUD, 200),
    ("POST", "/v1/domains/discover", {"cloud-admin"}, 204),
    ("GET", DOMAIN, DOMAIN_VIEWERS, 200),
    ("PUT", DOMAIN, DOMAIN_VIEWERS, 202),
    ("POST", f"{DOMAIN}/simulate-put", DOMAIN_VIEWERS, 200),
    ("GET", f"{DOMAIN}/projects", DOMAIN_VIEWERS, 200),
    ("POST", f"{DOMAIN}/projects/discover", {"cloud-admin", "germany-admin"}, 204),
    ("GET", PROJECT, PROJECT_VIEWERS, 200),
    ("PUT", PROJECT, PROJECT_VIEWERS, 202),
    ("POST", f"{PROJECT}/simulate-put", PROJECT_VIEWERS, 200),
    ("POST", f"{PROJECT}/sync", {"cloud-admin", "germany-admin", "berlin-admin"}, 202),
    ("PUT", f"{DOMAIN}/max-quota", {"cloud-admin", "germany-admin"}, 202),
    ("PUT", f"{DOMAIN}/forbid-autogrowth", {"cloud-admin", "germany-admin"}, 202),
    ("PUT", f"{PROJECT}/max-quota", PROJECT_EDITORS, 202),
    ("PUT", f"{PROJECT}/min-quota", {"cloud-admin"}, 202),
    ("PUT", f"{PROJECT}/forbid-autogrowth", PROJECT_EDITORS, 202),
    ("GET", f"{DOMAIN}/history", DOMAIN_VIEWERS, 200),
    ("GET", f"{DOMAIN}/explain", DOMAIN_VIEWERS, 200),
    ("GET", f"{PROJECT}/history", PROJECT_VIEWERS, 200),
    ("GET", f"{PROJECT}/explain", PROJECT_VIEWERS, 200),
    ("GET", f"{PROJECT}/labels", PROJECT_VIEWERS, 200),
    ("PUT", f"{PROJECT}/labels", PROJECT_EDITORS, 400),
    ("GET", f"{PROJECT}/my-threshold", PROJECT_VIEWERS, 200),
    ("PUT", f"{PROJECT}/my-threshold", PROJECT_VIEWERS, 400),
    *((method, f"{PROJECT}/webhook", PROJECT_EDITORS, 404) for method in ("GET", "PUT", "DELETE")),
    ("GET", f"{PROJECT}/commitments", PROJECT_VIEWERS, 200),
    ("POST", f"{PROJECT}/commitments/new", PROJECT_EDITORS, 400),
    ("POST", f"{PROJECT}/commitments/can-confirm", PROJECT_EDITORS, 400),
    ("GET", f"{PROJECT}/commitments/utilisation", PROJECT_VIEWERS, 200),
    ("POST", f"{PROJECT}/commitments/plan", PROJECT_EDITORS, 400),
    ("POST", f"{PROJECT}/commitments/merge", PROJECT_EDITORS, 400),
    ("PUT", f"{PROJECT}/commitments/4711", PROJECT_EDITORS, 400),
    ("POST", f"{PROJECT}/commitments/4711/renew", PROJECT_EDITORS, 404),
    ("POST", f"{PROJECT}/commitments/4711/update-duration", PROJECT_EDITORS, 400),
    ("POST", f"{PROJECT}/commitments/4711/convert", PROJECT_EDITORS, 400),
    ("GET", "/v1/commitment-conversion/compute/cores", EVERYBODY, 422),
    ("DELETE", f"{PROJECT}/commitments/4711", {"cloud-admin"}, 404),
    ("POST", f"{PROJECT}/commitments/4711/start-transfer", PROJECT_EDITORS, 400),
    ("POST", f"{PROJECT}/transfer-commitment/4711", PROJECT_EDITORS, 400),
    ("GET", "/v1/projects", CLOUD, 200),
    ("GET", "/v1/commitments", CLOUD, 200),
    ("GET", "/v1/commitments/by-token", EVERYBODY, 400),
    ("GET", "/v1/public-commitments", EVERYBODY, 200),
    ("POST", f"{DOMAIN}/quota-requests", {"cloud-admin", "germany-admin"}, 400),
    ("GET", f"{DOMAIN}/quota-requests/4711", DOMAIN_VIEWERS, 404),
    ("GET", f"{DOMAIN}/quota-requests/4711/deciders", DOMAIN_VIEWERS, 404),
    ("GET", f"{DOMAIN}/deciders", DOMAIN_VIEWERS, 200),
    ("GET", f"{PROJECT}/quota-requests/4711/deciders", PROJECT_VIEWERS, 404),
    ("GET", f"{PROJECT}/deciders", PROJECT_VIEWERS, 200),
    ("POST", f"{DOMAIN}/quota-requests/4711/approve", {"cloud-admin"}, 404),
    ("POST", f"{DOMAIN}/quota-requests/4711/reject", {"cloud-admin"}, 400),
    ("POST", f"{DOMAIN}/quota-requests/4711/withdraw", {"cloud-admin", "germany-admin"}, 404),
    ("POST", f"{DOMAIN}/quota-requests/4711/comments", {"cloud-admin", "germany-admin"}, 400),
    ("POST", f"{PROJECT}/quota-requests", PROJECT_MEMBERS, 400),
    ("GET", f"{PROJECT}/quota-requests/4711", PROJECT_VIEWERS, 404),
    ("POST", f"{PROJECT}/quota-requests/4711/approve", {"cloud-admin", "germany-admin"}, 404),
    ("POST", f"{PROJECT}/quota-requests/4711/reject", PROJECT_EDITORS, 400),
    ("POST", f"{PROJECT}/quota-requests/4711/confirm", PROJECT_EDITORS, 404),
    ("POST", f"{PROJECT}/quota-requests/4711/withdraw", PROJECT_MEMBERS, 404),
    ("POST", f"{PROJECT}/quota-requests/4711/comments", PROJECT_MEMBERS, 400),
    ("POST", f"{PROJECT}/quota-requests/4711/pass-on", {"cloud-admin", "germany-admin"}, 404),
    ("GET", "/v1/inconsistencies", CLOUD, 200),
    ("GET", "/v1/admin/scrape-errors", CLOUD, 200),
    ("GET", "/v1/admin/scrape-status", CLOUD, 200),
    ("GET", f"{DOMAIN}/scrape-status", DOMAIN_VIEWERS, 200),
    ("GET", "/v1/projects/fullest", CLOUD, 200),
    ("GET", f"{DOMAIN}/projects/fullest", DOMAIN_VIEWERS, 200),
]


@pytest.mark.parametrize("token", IDENTITIES)
def test_matrix(world: World, token: str) -> None:
    before = all_rows(world.engine)
    got = {(method, path): world.request(method, path, token, json={}) for method, path, _, _ in ROUTES}
    assert {route: result.status_code for route, result in got.items()} == {
        (method, path): status if token in allowed else 403 for method, path, allowed, status in ROUTES
    }
    refused = {result.text for result in got.values() if result.status_code == 403}
    assert all(text.startswith("Forbidden: this needs the role ") for text in refused), "who may is named"
    assert changes(before, all_rows(world.engine)) == {}


@pytest.mark.parametrize(
    ("token", "status", "text", "header", "value"),
    [
        *((token, 401, "Unauthorized\n", "www-authenticate", CHALLENGE) for token in (None, "expired")),
        ("keystone-is-down", 503, "the identity service does not answer\n", "retry-after", "5"),
    ],
)
def test_without_an_identity(world: World, token: str | None, status: int, text: str, header: str, value: str) -> None:
    before = all_rows(world.engine)
    for method, path, _, _ in ROUTES:
        result = world.request(method, path, token, json={})
        assert (method, path, result.status_code, result.text) == (method, path, status, text)
        assert result.headers[header] == value
    assert changes(before, all_rows(world.engine)) == {}


def test_every_route_is_in_the_matrix(world: World) -> None:
    def template(path: str) -> str:
        return (
            path.replace(GERMANY, "{domain_id}")
            .replace(BERLIN, "{project_id}")
            .replace("4711", "{id}")
            .replace("compute/cores", "{service_type}/{resource_name}")
        )

    listed = {(method, template(path)) for method, path, _, _ in ROUTES}
    table = {(method, path) for method, path, _ in operations_of(TABLE)}
    assert {route for route in table if route[1] not in PUBLIC_PATHS} == listed
    assert len(listed) == len(ROUTES)


def test_public_paths_need_no_token(world: World) -> None:
    expected = dict.fromkeys(PUBLIC_PATHS, 200)
    expected |= {"/": 300, "/v1/notifications/unsubscribe": 400}  # the latter wants what is signed in a mail's link
    for token in (None, "expired", "keystone-is-down", "nobody"):
        assert {path: world.request("GET", path, token).status_code for path in PUBLIC_PATHS} == expected


def test_domains_and_projects_that_do_not_exist(world: World) -> None:
    """On every path with them, and before most bodies are looked at. A project of another domain is none either."""
    new_project = f"no such project (if it was just created, try to POST /domains/{GERMANY}/projects/discover)\n"
    others = [
        (DOMAIN, GERMANY, "nowhere", NO_DOMAIN),
        (PROJECT, BERLIN, "nowhere", new_project),
        (PROJECT, BERLIN, PARIS, "no such project\n"),
        (PROJECT, GERMANY, FRANCE, "no such project\n"),
    ]
    read_before = {"reject": {"reason": "no"}, "comments": {"comment": "hm"}}
    expected, got = {}, {}
    for method, path, _, _ in ROUTES:
        verb = path.rpartition("/")[2]
        for part, known, other, text in others:
            if part in path and verb not in ("discover", "sync"):  # these ask Keystone
                elsewhere = path.replace(known, other)
                result = world.request(method, elsewhere, json=read_before.get(verb, {}))
                expected[method, elsewhere], got[method, elsewhere] = (404, text), (result.status_code, result.text)
    assert got == expected


@pytest.mark.parametrize("path", ["/v1", "/v1/domains/", "/v1/clusters", "/v1/clusters/other"])
def test_what_does_not_exist(world: World, path: str) -> None:
    result = world.request("GET", path, json={})
    assert (result.status_code, result.text) == (404, "404 page not found\n")


@pytest.mark.parametrize("path", ["/v1/domains/nowhere", f"{DOMAIN}/projects/nowhere"])
def test_permission_comes_first_then_existence_and_the_body_last(world: World, path: str) -> None:
    assert world.request("GET", path, "france-admin").status_code == 403
    for method, target in (("PUT", path), ("POST", f"{path}/simulate-put")):
        statuses = [
            world.request(method, target, token, body=b"{").status_code for token in ("france-admin", "cloud-admin")
        ]
        assert statuses == [403, 404]


def test_methods(world: World) -> None:
    result = world.request("DELETE", DOMAIN)
    assert (result.status_code, result.text) == (405, "Method Not Allowed\n")
    assert set(result.headers["allow"].split(", ")) >= {"GET", "PUT"}


def test_other_clusters(world: World) -> None:
    result = world.request("GET", "/v1/domains", headers={"X-Limes-Cluster-Id": "west"})
    assert (result.status_code, result.text) == (
        400,
        "multi-cluster support is removed: the X-Limes-Cluster-Id header is not allowed anymore\n",
    )
    for fine in ("current", ""):
        assert world.request("GET", "/v1/domains", headers={"X-Limes-Cluster-Id": fine}).status_code == 200


def test_discovery_answers(world: World) -> None:
    world.new_domains = ["uuid-new"]
    result = world.request("POST", "/v1/domains/discover")
    assert (result.status_code, result.json) == (202, {"new_domains": [{"id": "uuid-new"}]})
    world.new_projects = ["uuid-a", "uuid-b"]
    result = world.request("POST", f"{DOMAIN}/projects/discover")
    assert (result.status_code, result.json) == (202, {"new_projects": [{"id": "uuid-a"}, {"id": "uuid-b"}]})


def test_sync(world: World) -> None:
    result = world.request("POST", f"{PROJECT}/sync", "berlin-admin")
    assert (result.status_code, result.text, world.synced) == (202, "", [(GERMANY, BERLIN)])
    result = world.request("POST", f"{DOMAIN}/projects/nowhere/sync")
    assert (result.status_code, result.text) == (404, "no such project\n")


class NobodyAnswers(list):
    def __bool__(self) -> bool:
        raise BackendError("while listing domains: no answer")


@pytest.mark.parametrize("path", ["/v1/domains/discover", f"{DOMAIN}/projects/discover"])
def test_a_keystone_that_cannot_be_asked(world: World, caplog: pytest.LogCaptureFixture, path: str) -> None:
    world.new_domains = world.new_projects = NobodyAnswers()
    result = world.request("POST", path)
    assert (result.status_code, result.text) == (500, "while listing domains: no answer\n")
    assert f"POST {path}: while listing domains: no answer" in caplog.text


def test_too_large_a_body(world: World) -> None:
    result = world.request("PUT", DOMAIN, body=b" " * (1024 * 1024 + 1))
    assert (result.status_code, result.text) == (413, "request body is too large: the limit is 1048576 bytes\n")


def test_a_request_id_is_always_ours(world: World) -> None:
    given = "req-11111111-2222-3333-4444-555555555555"
    result = world.request("GET", "/v1/domains", headers={"X-Openstack-Request-Id": given})
    assert result.headers["x-openstack-request-id"] != given
