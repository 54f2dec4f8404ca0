"""Requests for more quota: asking, deciding, and what the history says of it."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.app.routes import RULES
from limes.auth.policy import Policy, Rule
from limes.requests import queries
from limes.requests.queries import EventRow
from tests.api.world import World
from tests.quota.quotas import request_quotas
from tests.requests.quota_requests import PATHS, act, ask, asked, quota, show, status
from tests.support.rows import all_rows, changes


def conversation(world: World, path: str) -> list[str]:
    """The texts of a whole conversation, page by page."""
    texts: list[str] = []
    while path:
        page = world.get(path)
        some = [event["text"] for event in page["quota_request"]["conversation"]]
        assert len(some) <= 100
        texts = some + texts
        path = next((link["href"] for link in page["conversation_links"]), "")
    return texts


@pytest.mark.sql
@pytest.mark.parametrize("limit", [13, 99, 100])
def test_a_long_conversation_comes_in_pages(world: World, limit: int) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    url, texts = f"{PATHS['berlin']}/quota-requests/{id_}", ["", *(f"comment {number}" for number in range(198))]
    rows = [EventRow(id_, 1000.0, "comment", text, "u6", "") for text in texts[1:]]
    world.engine.atomic(lambda: queries.add_events(world.engine, rows))
    assert conversation(world, f"{url}?limit={limit}") == conversation(world, url) == texts
    assert world.get(f"{url}?limit={limit}")["conversation_total"] == 199
    answer = act(world, "berlin", id_, "comments", "berlin-admin", comment="the last one").json
    assert [event["text"] for event in answer["quota_request"]["conversation"]] == [*texts, "the last one"][-20:]
    assert conversation(world, answer["conversation_links"][0]["href"])[-1] == texts[-20]


@pytest.mark.sql
def test_so_many_requests_in_a_day(make: Callable[..., World]) -> None:
    world = make(requests_per_day=3)
    for cores in (40, 41, 42):
        asked(world, "berlin", compute={"cores": cores})
        world.clock.advance(3600)
    before = all_rows(world.engine)
    result = ask(world, "berlin", compute={"cores": 43})
    assert (result.status_code, result.text) == (
        409,
        "this project has made 3 quota requests within 24 hours, which is as many as are allowed: wait, or ask for all"
        " resources in one request\n",
    )
    assert changes(before, all_rows(world.engine)) == {}
    asked(world, "dresden", "dresden-admin", compute={"cores": 40})
    asked(world, "germany", "germany-admin", compute={"cores": 150})
    world.clock.advance(21 * 3600)
    asked(world, "berlin", compute={"cores": 44})


def test_so_many_requests_in_a_domain(make: Callable[..., World]) -> None:
    """Of all its projects and of itself."""
    world = make(requests_in_domain=3)
    asked(world, "berlin", compute={"cores": 40})
    world.clock.advance(3600)
    asked(world, "dresden", "dresden-admin", compute={"cores": 40})
    asked(world, "germany", "germany-admin", compute={"cores": 150})
    before = all_rows(world.engine)
    for where, who in (("berlin", "berlin-admin"), ("germany", "germany-admin")):
        result = ask(world, where, who, compute={"ram": 2000})
        assert (result.status_code, result.text) == (
            409,
            "this domain and its projects have made 3 quota requests within 24 hours, which is as many as are allowed:"
            " wait, or ask for all resources in one request\n",
        )
    assert changes(before, all_rows(world.engine)) == {}
    world.clock.advance(23 * 3600)
    asked(world, "berlin", compute={"ram": 2000})
    assert ask(world, "berlin", compute={"cores": 41}).status_code == 409


def test_what_is_passed_on_counts_for_the_domain(make: Callable[..., World]) -> None:
    world = make(requests_per_day=2)
    below = asked(world, "berlin", compute={"cores": 90})
    for expected in (201, 201, 409):
        result = act(world, "berlin", below, "pass-on", "germany-admin")
        assert result.status_code == expected, result.text
        if expected == 201:
            act(world, "germany", result.json["quota_request"]["id"], "withdraw", "germany-admin")
    assert "this domain has made 2 quota requests" in result.text
    assert ask(world, "germany", "germany-admin", compute={"cores": 150}).status_code == 409


def test_a_conversation_has_an_end(world: World) -> None:
    """Decisions are still possible then."""
    id_ = asked(world, "berlin", compute={"cores": 40})
    rows = [EventRow(id_, 1000.0, "comment", "x" * 2000, "u6", "")] * 199
    world.engine.atomic(lambda: queries.add_events(world.engine, rows))
    result = act(world, "berlin", id_, "comments", "berlin-admin", comment="one more")
    assert (result.status_code, result.text) == (
        409,
        f"the conversation about quota request {id_} has 200 entries already: no more comments are possible\n",
    )
    result = act(world, "berlin", id_, "approve", "germany-admin", comment="enough")
    assert result.status_code == 200
    assert len(result.content) < 50_000


def test_what_is_answered(world: World) -> None:
    result = ask(world, "berlin", compute={"cores": 40, "ram": (2, "GiB")})
    assert result.status_code == 201
    request = result.json["quota_request"]
    assert request["resources"] == [
        {"service": "compute", "resource": "cores", "what": "quota", "present_quota": 20, "wanted_quota": 40},
        {
            "service": "compute",
            "resource": "ram",
            "what": "quota",
            "unit": "MiB",
            "present_quota": 1024,
            "wanted_quota": 2048,
        },
    ]
    assert (request["status"], request["reason"], request["project"]["name"]) == ("open", "launch", "berlin")
    assert [event["kind"] for event in request["conversation"]] == ["opened"]
    assert show(world, "berlin", request["id"], "berlin-reader") == request


@pytest.mark.sql
def test_approval_is_a_change_of_quota_that_names_the_request(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    result = act(world, "berlin", id_, "approve", "germany-admin", comment="have fun")
    assert result.status_code == 200, result.text
    assert result.json["quota_request"]["status"] == "approved"
    assert result.json["quota_request"]["resources"][0]["granted_quota"] == 40
    assert quota(world, "berlin") == 40
    assert world.pushed == [(1, ("compute",))]
    (change,) = world.get(f"{PATHS['berlin']}/history")["history"]
    assert (change["old"], change["new"], change["reason"]) == (20, 40, "request")
    assert (change["detail"], change["initiator"]["id"]) == (f"quota request {id_}", "u3")
    last = show(world, "berlin", id_)["conversation"][-1]
    assert (last["kind"], last["text"], last["author"]["id"]) == ("approved", "have fun", "u3")


def test_a_part_may_be_granted(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40, "ram": 2048})
    lower = [{"type": "compute", "resources": [{"name": "cores", "quota": 25}]}]
    result = act(world, "berlin", id_, "approve", "germany-admin", services=lower)
    assert result.json["quota_request"]["status"] == "partly_approved"
    assert (quota(world, "berlin"), quota(world, "berlin", resource="ram")) == (25, 2048)


def test_what_does_not_fit_any_more_stays_open_and_the_answer_says_what_would(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 80})
    before = all_rows(world.engine)
    result = act(world, "berlin", id_, "approve", "germany-admin")
    assert (result.status_code, result.text) == (
        409,
        "cannot change compute/cores quota: domain quota exceeded (maximum acceptable project quota is 70)\n",
    )
    assert changes(before, all_rows(world.engine)) == {}
    assert status(world, "berlin", id_) == "open"


def test_approval_never_lowers(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 30, "ram": 2048})
    assert request_quotas(world, PATHS["berlin"], {"cores": 50}).status_code == 202
    assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 200
    assert (quota(world, "berlin"), quota(world, "berlin", resource="ram")) == (50, 2048)
    assert status(world, "berlin", id_) == "approved"


@pytest.mark.sql
@pytest.mark.parametrize("first", ["approve", "reject", "withdraw"])
@pytest.mark.parametrize("second", ["approve", "reject", "withdraw"])
def test_a_closed_request_stays_closed(world: World, first: str, second: str) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    fields = {"reject": {"reason": "no"}}
    assert act(world, "berlin", id_, first, "cloud-admin", **fields.get(first, {})).status_code == 200
    before = all_rows(world.engine)
    result = act(world, "berlin", id_, second, "cloud-admin", **fields.get(second, {}))
    state = {"approve": "approved", "reject": "rejected", "withdraw": "withdrawn"}[first]
    assert (result.status_code, result.text) == (409, f"quota request {id_} is {state}, not open\n")
    assert changes(before, all_rows(world.engine)) == {}


def test_a_conversation(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    text = "<script>alert(1)</script>\n*why*?"
    assert act(world, "berlin", id_, "comments", "germany-admin", comment=text).status_code == 201
    act(world, "berlin", id_, "reject", "germany-admin", reason="too many")
    assert act(world, "berlin", id_, "comments", "berlin-admin", comment="oh").status_code == 201
    events = show(world, "berlin", id_)["conversation"]
    assert [(event["kind"], event["text"], event["author"]["id"]) for event in events] == [
        ("opened", "", "u6"),
        ("comment", text, "u3"),
        ("rejected", "too many", "u3"),
        ("comment", "oh", "u6"),
    ]


@pytest.mark.sql
def test_a_newer_request_replaces_one_for_the_same_resources(world: World) -> None:
    first = asked(world, "berlin", compute={"cores": 40})
    second = asked(world, "berlin", compute={"cores": 45, "ram": 2048})
    assert (status(world, "berlin", first), status(world, "berlin", second)) == ("superseded", "open")
    result = ask(world, "berlin", compute={"cores": 50})
    assert result.status_code == 409
    assert result.text.startswith(
        f"quota request {second} is open and asks for compute/cores already, and for compute/"
    )
    assert asked(world, "dresden", "dresden-admin", compute={"cores": 50})


SERVICES = [{"type": "compute", "resources": [{"name": "cores", "quota": 40}]}]


@pytest.mark.parametrize(
    ("quotas", "text"),
    [
        ({"compute": {"cores": 20}}, "20 is not more than it has now, which is 20"),
        ({"compute": {"cores": 19}}, "19 is not more than it has now"),
        ({"compute": {"shoes": 40}}, "cannot ask for compute/shoes quota: no such resource"),
        ({"shoes": {"cores": 40}}, "cannot ask for shoes/cores quota: no such service"),
        ({"compute": {"gpus": 40}}, "resource does not track quota"),
        ({"compute": {"ram": (1, "km")}}, "cannot ask for compute/ram quota: "),
        ({"compute": {}}, "the request names no resource"),
    ],
)
def test_what_cannot_be_asked_for(world: World, quotas: Any, text: str) -> None:
    before = all_rows(world.engine)
    result = ask(world, "berlin", **quotas)
    assert result.status_code == 422
    assert text in result.text
    assert changes(before, all_rows(world.engine)) == {}


def written(reason: Any = "x", *, cores: Any = 40, **more: Any) -> dict[str, Any]:
    """A request as a document, with more beside its quota."""
    resource = {"name": "cores", "quota": cores, **more}
    return {"quota_request": {"services": [{"type": "compute", "resources": [resource]}], "reason": reason}}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"quota_request": {"services": SERVICES}},
        {"quota_request": {"services": SERVICES, "reason": "x", "until": "soon"}},
        {"quota_request": {"services": [{**SERVICES[0], "until": 1}], "reason": "x"}},
        {**written(), "from": 1},
        *(written(reason) for reason in (" ", "x" * 2001, "a\0b")),
        written(until=1),
        written(cores=-1),
    ],
)
def test_documents_that_are_refused(world: World, document: Any) -> None:
    before = all_rows(world.engine)
    result = world.request("POST", f"{PATHS['berlin']}/quota-requests", json=document)
    assert result.status_code == 400, result.text
    assert changes(before, all_rows(world.engine)) == {}


def test_a_project_that_was_never_scraped(world: World) -> None:
    assert ask(world, "paris", "france-admin", compute={"cores": 1}).status_code == 423


@pytest.mark.parametrize(
    ("lower", "text"),
    [
        ({"name": "cores", "quota": 41}, "41 is more than was asked for, which is 40"),
        ({"name": "ram", "quota": 2048}, "the request asks for compute/cores only"),
        ({"name": "cores", "quota": 20}, "nothing would be granted: to refuse a request, reject it with a reason"),
    ],
)
def test_what_cannot_be_granted(world: World, lower: Any, text: str) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    result = act(world, "berlin", id_, "approve", "cloud-admin", services=[{"type": "compute", "resources": [lower]}])
    assert result.status_code == 422
    assert text in result.text
    assert (quota(world, "berlin"), status(world, "berlin", id_)) == (20, "open")


def test_requests_are_found_in_their_own_place_only(world: World) -> None:
    id_ = asked(world, "berlin", compute={"cores": 40})
    for where in ("dresden", "germany"):
        for verb in ("approve", "withdraw"):
            result = act(world, where, id_, verb, "cloud-admin")
            assert (result.status_code, result.text) == (404, f"no such quota request: {id_}\n")
        assert world.request("GET", f"{PATHS[where]}/quota-requests/{id_}").status_code == 404
    for number in ("x", "99999999999999999999", "-1"):
        assert world.request("GET", f"{PATHS['berlin']}/quota-requests/{number}").status_code == 404


def test_who_may_decide_but_not_raise(make: Callable[..., World]) -> None:
    rules = [Rule("project:raise", "!", "") if rule.name == "project:raise" else rule for rule in RULES]
    world = make(policy=Policy(rules))
    id_ = asked(world, "berlin", compute={"cores": 40})
    result = act(world, "berlin", id_, "approve", "germany-admin")
    assert (result.status_code, status(world, "berlin", id_)) == (403, "open")


# -- lists -------------------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_lists(world: World) -> None:
    one = asked(world, "berlin", compute={"cores": 40})
    two = asked(world, "dresden", "dresden-admin", compute={"ram": 40})
    three = asked(world, "germany", "germany-admin", compute={"cores": 200})
    act(world, "berlin", one, "withdraw", "berlin-admin")

    def ids(where: str, query: str = "") -> list[int]:
        path = f"{PATHS[where]}/quota-requests" if where else "/v1/quota-requests"
        return [request["id"] for request in world.get(f"{path}?{query}")["quota_requests"]]

    assert ids("") == ids("germany") == [three, two, one]
    assert (ids("berlin"), ids("dresden")) == ([one], [two])
    assert ids("germany", "level=domain") == [three]
    assert ids("", "level=project") == [two, one]
    assert ids("", "status=open") == [three, two]
    assert ids("", "status=open&status=withdrawn&level=project") == [two, one]
    assert ids("", "resource=ram") == [two]
    assert ids("", "service=volume") == []
    first = world.get("/v1/quota-requests?limit=2")
    assert [request["id"] for request in first["quota_requests"]] == [three, two]
    (link,) = first["quota_request_links"]
    second = world.get(link["href"])
    assert [request["id"] for request in second["quota_requests"]] == [one]
    assert second["quota_request_links"] == []
    assert (first["total"], second["total"], world.get("/v1/quota-requests?level=domain")["total"]) == (3, 3, 1)
    for bad in ("status=maybe", "level=cloud", "passed_on=perhaps"):
        assert world.request("GET", "/v1/quota-requests", query_string=bad).status_code == 400
