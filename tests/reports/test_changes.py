"""The change log: everything that changes quotas, commitments and requests, in one list by time."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from limes.app.routes import RULES
from limes.auth.policy import Policy
from limes.commitments.reading import sample_utilisation
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, World
from tests.commitments.commitments import BEHAVIORS, PATHS, commit
from tests.quota.quotas import DOMAIN, PROJECT, request_quotas
from tests.requests.quota_requests import act, asked
from tests.support.statements import count_statements

DAY = 86400
START = 1767225600


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    return make(behaviors=BEHAVIORS)


def changes(world: World, query: str = "", path: str = "/v1", token: str = "cloud-admin") -> list[Any]:
    found: list[Any] = world.get(f"{path}/changes{query}", token)["changes"]
    return found


def kinds(found: list[Any]) -> list[str]:
    return [change["kind"] for change in found]


def refusal(world: World, query: str, path: str = "/v1", token: str = "cloud-admin") -> str:
    result = world.request("GET", f"{path}/changes?{query}", token)
    assert result.status_code == 400, result.text
    return str(result.text)


def busy_day(world: World) -> None:
    """A quota, a domain's quota, a request and its approval, a commitment and its end, each a minute after the last."""
    request_quotas(world, PROJECT, {"cores": 25})
    world.clock.advance(60)
    request_quotas(world, DOMAIN, {"cores": 150})
    world.clock.advance(60)
    number = asked(world, "berlin", compute={"cores": 40})
    world.clock.advance(60)
    assert act(world, "berlin", number, "approve", "germany-admin").status_code == 200
    world.clock.advance(60)
    made = commit(world, "berlin", amount=7, duration="1 year", confirm_by=START + 30 * DAY)
    world.clock.advance(60)
    assert world.request("DELETE", f"{PATHS['berlin']}/commitments/{made['id']}").status_code == 204


SENTENCES = [
    "u1 deleted a commitment to 7 compute/cores in az-one of project germany/berlin.",
    "u1 made a commitment to 7 compute/cores in az-one for 1 year from 2026-01-31T00:00:00Z on, for project"
    " germany/berlin.",
    "u3 approved request 1 of project germany/berlin: 40 compute/cores.",
    "u3 raised the quota of compute/cores of project germany/berlin from 25 to 40.",
    "u6 requested 40 compute/cores for project germany/berlin.",
    "u1 raised the quota of compute/cores of domain germany from 100 to 150.",
    "u1 raised the quota of compute/cores of project germany/berlin from 20 to 25.",
]


def sentences(found: list[Any]) -> list[str]:
    return [change["sentence"].replace("Cloud Admin", "u1") for change in found]


@pytest.mark.sql
def test_all_changes_are_in_one_list(world: World) -> None:
    busy_day(world)
    found = changes(world)
    assert sorted(sentences(found)) == sorted(SENTENCES)
    times = [change["at"] for change in found]
    assert times == sorted(times, reverse=True)
    assert {(change["domain"]["name"], change.get("project", {}).get("name")) for change in found} == {
        ("germany", "berlin"),
        ("germany", None),
    }
    approved = next(change for change in found if change["kind"] == "request" and change["event"] == "approved")
    assert (approved["quota_request"], approved["cause"], approved["initiator"]["id"]) == (1, "request", "u3")
    assert approved["amounts"] == [
        {"service": "compute", "resource": "cores", "what": "quota", "present": 25, "wanted": 40, "granted": 40}
    ]
    assert world.get("/v1/changes")["changes_links"] == []


@pytest.mark.sql
def test_what_a_commitment_was_before(world: World) -> None:
    made = commit(world, "berlin", amount=7, duration="1 year")
    world.clock.advance(60)
    path = f"{PATHS['berlin']}/commitments/{made['id']}"
    assert world.request("PUT", path, json={"commitment": {"auto_renew": True}}).status_code == 200
    renewed, created, *_ = changes(world, "?kind=commitment")
    assert (created["old"], created["new"], created["commitment"]) == (None, 7, made["uuid"])
    assert (renewed["old"], renewed["new"]) == (7, 7)
    assert renewed["fields"] == [{"name": "auto_renew", "old": None, "new": True}]
    assert renewed["sentence"].endswith(
        "turned on automatic renewal of a commitment to 7 compute/cores in az-one of project germany/berlin."
    )


@pytest.mark.sql
def test_levels(world: World) -> None:
    busy_day(world)
    request_quotas(world, f"/v1/domains/{FRANCE}", {"cores": 30})
    request_quotas(world, PATHS["dresden"], {"cores": 41})
    assert len(changes(world)) == 9
    assert len(changes(world, path=DOMAIN, token="germany-viewer")) == 8
    of_berlin = changes(world, path=PROJECT, token="berlin-member")
    assert len(of_berlin) == 6
    assert {change["project"]["id"] for change in of_berlin} == {BERLIN}
    assert changes(world, f"?project_id={DRESDEN}", DOMAIN) == changes(world, path=PATHS["dresden"])
    assert changes(world, f"?domain_id={FRANCE}") == changes(world, path=f"/v1/domains/{FRANCE}")
    assert changes(world, f"?project_id={BERLIN}", f"/v1/domains/{FRANCE}") == []


@pytest.mark.sql
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_show_each_change_once(world: World, limit: int) -> None:
    busy_day(world)
    request_quotas(world, PROJECT, {"cores": 41, "ram": 1025})
    commit(world, "berlin", amount=1)
    for path in ("/v1", DOMAIN, PROJECT):
        everything, paged, link = changes(world, path=path), [], f"{path}/changes?limit={limit}"
        while link:
            page = world.get(link)
            assert len(page["changes"]) <= limit
            paged += page["changes"]
            link = next((each["href"] for each in page["changes_links"]), "")
        assert paged == everything


@pytest.mark.sql
def test_what_happens_meanwhile_moves_no_page(world: World) -> None:
    busy_day(world)
    first = world.get("/v1/changes?limit=3")
    world.clock.advance(1)
    request_quotas(world, PROJECT, {"cores": 41})
    rest = world.get(first["changes_links"][0]["href"].replace("limit=3", "limit=100"))
    assert sorted(sentences(first["changes"] + rest["changes"])) == sorted(SENTENCES)


@pytest.mark.sql
def test_filters(world: World) -> None:
    busy_day(world)
    request_quotas(world, PROJECT, {"ram": 2000})
    assert kinds(changes(world, "?kind=request")) == ["request", "request"]
    assert kinds(changes(world, "?kind=quota&kind=commitment&resource=cores")) == ["commitment"] * 2 + ["quota"] * 3
    assert [change["resource"] for change in changes(world, "?resource=ram")] == ["ram"]
    assert kinds(changes(world, "?resource=cores&kind=request")) == ["request", "request"]
    assert changes(world, "?resource=unheard-of") == []
    assert kinds(changes(world, "?person=u3")) == ["quota", "request"]
    assert kinds(changes(world, "?person=Cloud+Admin&kind=quota")) == ["quota"] * 3
    assert changes(world, "?person=nobody") == []
    assert len(changes(world, "?cause=request")) == 8
    assert changes(world, "?cause=automatic") == changes(world, "?cause=constraint") == []
    minute = changes(world, f"?from={START + 60}&until={START + 121}")
    assert [change["at"] - START for change in minute] == [120, 60]


@pytest.mark.sql
def test_what_limes_does_is_not_of_the_user_who_happened_to_ask(world: World) -> None:
    commit(world, "berlin", amount=7)
    world.clock.advance(2 * 3600)
    commit(world, "berlin", amount=3)  # whose transaction notices that the first one has ended
    expired = next(change for change in changes(world) if change.get("event") == "expired")
    assert (expired["initiator"], expired["cause"]) == ({"type": "job", "name": "commitments"}, "automatic")
    assert expired["sentence"] == "A commitment to 7 compute/cores in az-one of project germany/berlin ended."
    assert "expired" in [change["event"] for change in changes(world, "?cause=automatic")]
    assert "expired" not in [change.get("event") for change in changes(world, "?cause=request")]


@pytest.mark.sql
def test_what_a_release_before_has_written_names_nobody(world: World) -> None:
    commit(world, "berlin", amount=7)
    world.run("UPDATE commitment_events SET initiator_id = '', initiator_name = '', request_id = ''")
    for change in changes(world, "?kind=commitment"):
        assert not {"initiator", "cause", "request_id"} & set(change)
    assert changes(world, "?kind=commitment&cause=request") == changes(world, "?kind=commitment&cause=automatic") == []


@pytest.mark.sql
def test_what_a_release_before_writes_during_the_upgrade_gets_its_domain(world: World) -> None:
    commit(world, "berlin", amount=7)
    before = changes(world, "?kind=commitment", DOMAIN)
    world.run("UPDATE commitment_events SET domain_uuid = ''")
    assert changes(world, "?kind=commitment", DOMAIN) == []
    sample_utilisation(world.limes)
    assert changes(world, "?kind=commitment", DOMAIN) == before != []


@pytest.mark.sql
def test_projects_that_are_gone_keep_their_names(world: World) -> None:
    request_quotas(world, PROJECT, {"cores": 25})
    commit(world, "berlin", amount=7)
    world.run(
        "INSERT INTO metered_projects (project_uuid, since, until, project_name, domain_uuid, domain_name)"
        " VALUES (%s, 0, %s, 'berlin', %s, 'germany')",
        [BERLIN, START, GERMANY],
    )
    before = changes(world)
    world.run("DELETE FROM projects WHERE uuid = %s", [BERLIN])
    assert changes(world) == before == changes(world, path=DOMAIN)
    assert world.request("GET", f"{PROJECT}/changes").status_code == 404


def test_bad_filters_say_what_would_be_right(world: World) -> None:
    busy_day(world)
    assert "kind: 'cake' is none of quota, backend_quota," in refusal(world, "kind=cake")
    assert "cause: 'cake' is none of request, auto-approval," in refusal(world, "cause=cake")
    assert "until: expected a time after `from`" in refusal(world, "from=2026-01-02&until=2026-01-02")
    assert "marker: expected the `id` of a change" in refusal(world, "marker=12")
    assert "marker: expected the `id` of a change" in refusal(world, "marker=nan:0:1")
    assert "kind=bursting is about no single resource" in refusal(world, "kind=bursting&resource=cores")
    assert "does not go with kind=commitment" in refusal(world, "kind=commitment&cause=autogrow")
    assert "does not go with a person" in refusal(world, "person=u1&cause=autogrow")
    assert "unknown query parameter persons" in refusal(world, "persons=u1")
    assert "unknown query parameter domain_id" in refusal(world, f"domain_id={FRANCE}", DOMAIN)


def test_a_time_of_which_nothing_is_kept(world: World) -> None:
    busy_day(world)
    kept_since = world.get("/v1/changes")["quotas_kept_since"]
    assert kept_since == START + 300 - 5 * 365 * DAY
    assert "changes of quota are kept since 2021-01-02T00:05:00Z (audit.history_retention)" in refusal(
        world, "until=2020-12-31"
    )
    assert changes(world, "?until=2020-12-31&kind=commitment") == []
    assert len(changes(world, "?from=2020-12-31")) == 7


@pytest.mark.sql
def test_csv_has_all_of_them(world: World) -> None:
    busy_day(world)
    result = world.request("GET", "/v1/changes?limit=1", headers={"Accept": "text/csv"})
    assert result.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(result.text)))
    shown = changes(world)
    assert [row["sentence"] for row in rows] == [change["sentence"] for change in shown]
    assert [row["project_id"] for row in rows] == [change.get("project", {}).get("id", "") for change in shown]
    assert (rows[-1]["at"], rows[-1]["old"], rows[-1]["new"]) == ("2026-01-01T00:00:00Z", "20", "25")


def test_csv_of_nothing_that_exists_is_404(world: World) -> None:
    for path in ("/v1/domains/nowhere", f"{DOMAIN}/projects/nowhere"):
        result = world.request("GET", f"{path}/changes", headers={"Accept": "text/csv"})
        assert (result.status_code, result.headers["content-type"]) == (404, "text/plain; charset=utf-8")


def test_who_may_not_see_requests_sees_the_rest(make: Callable[..., World], tmp_path: Any) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text('"project:show_requests": "rule:project_editor"\n')
    world = make(behaviors=BEHAVIORS, policy=Policy(RULES, path))
    busy_day(world)
    assert "request" in kinds(changes(world, path=PROJECT, token="berlin-admin"))
    assert set(kinds(changes(world, path=PROJECT, token="berlin-member"))) == {"quota", "commitment"}
    assert world.request("GET", f"{PROJECT}/changes?kind=request", "berlin-member").status_code == 403


@pytest.mark.sql
def test_the_number_of_queries_does_not_grow(world: World) -> None:
    busy_day(world)
    changes(world)

    def statements(path: str) -> int:
        return count_statements(world.engine, lambda: changes(world, path=path))

    before = [statements(path) for path in ("/v1", DOMAIN, PROJECT)]
    for cores in range(41, 60):
        request_quotas(world, PROJECT, {"cores": cores})
        commit(world, "berlin", amount=1)
    assert [statements(path) for path in ("/v1", DOMAIN, PROJECT)] == before
