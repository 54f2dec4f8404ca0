"""Backends that are told their quota again because somebody asks for it: by a sync, or by setting it to what it is.

With `authoritative: false` nothing else puts them right.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.world import World, make_world
from tests.collector.lab import Lab
from tests.support.rows import all_rows, changes

PROJECT = "/v1/domains/d-germany/projects/p-berlin"


@pytest.fixture(params=[False, True], ids=["left alone", "authoritative"])
def lab(make_lab: Callable[..., Lab], request: pytest.FixtureRequest) -> Lab:
    """Berlin has 8 cores, and the backend agrees."""
    lab = make_lab(authoritative=request.param, catalog_options={"burst_multiplier": 0.5})
    lab.discover()
    lab.compute.quota["berlin"] = {"cores": 8, "ram": 0}
    lab.scrape_all()
    lab.scrape_all("volume")
    lab.push_all()
    lab.clock.advance(1800)
    return lab


@pytest.fixture
def api(lab: Lab) -> World:
    world = make_world(lab.engine, fill=False, burst_multiplier=0.5)
    world.clock = lab.clock
    return world


def change_the_backend(lab: Lab) -> None:
    """Somebody gives 50 cores past Limes, and a scrape that nobody asked for sees it."""
    lab.compute.quota["berlin"] = {"cores": 50, "ram": 0}
    lab.scrape_all()
    lab.compute.written.clear()


def backend_quotas(lab: Lab) -> list[tuple[Any, ...]]:
    """What the history says of it."""
    return lab.rows("SELECT old, new FROM quota_history WHERE what = 'backend_quota' ORDER BY number")


def put(api: World, token: str = "cloud-admin", quota: int = 8, *more: dict[Any, Any]) -> Any:
    resources = [{"name": "cores", "quota": quota}, *more]
    body = {"project": {"services": [{"type": "compute", "resources": resources}]}}
    return api.request("PUT", PROJECT, token, json=body)


def test_a_sync(lab: Lab) -> None:
    change_the_backend(lab)
    lab.clock.advance(60)
    assert lab.rescrape() is True
    lab.push_all()
    assert lab.compute.written[-1] == ("berlin", {"cores": 8, "ram": 0})
    assert lab.service("quota_desynced_at", "drifted_at") == (None, None)
    assert backend_quotas(lab) == [(50, 8)]


def test_a_sync_that_is_the_first_to_see_it(lab: Lab) -> None:
    lab.compute.quota["berlin"] = {"cores": 50, "ram": 0}
    lab.rescrape()
    lab.push_all()
    assert lab.compute.written[-1] == ("berlin", {"cores": 8, "ram": 0})
    assert backend_quotas(lab) == [(50, 8)]


def test_a_sync_of_a_backend_that_agrees_writes_nothing(lab: Lab) -> None:
    lab.compute.written.clear()
    lab.rescrape()
    lab.push_all()
    assert (lab.compute.written, backend_quotas(lab)) == ([], [])


def test_a_first_look_overwrites_nothing_that_is_left_alone(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(authoritative=False)
    lab.discover()
    lab.compute.quota["berlin"] = {"cores": 77, "ram": 5}
    assert lab.rescrape() is True
    lab.push_all()
    assert lab.compute.written == []
    assert lab.quotas()["cores"] == (0, 77)


def test_the_same_quota_again(lab: Lab, api: World) -> None:
    change_the_backend(lab)
    before, recorded = all_rows(lab.engine), backend_quotas(lab)
    answer = put(api)
    assert (answer.status_code, answer.text) == (202, "")
    assert api.pushed == [(lab.project_id(), ("compute",))]
    assert recorded == ([(50, 8)] if lab.authoritative else [])
    assert backend_quotas(lab) == [(50, 8)], "once, whoever puts it right"
    assert lab.rows("SELECT COUNT(*) FROM quota_history WHERE what = 'quota' AND old = new") == [(0,)]
    assert set(changes(before, all_rows(lab.engine))) <= {"project_services", "quota_history"}
    lab.push_all()
    assert lab.compute.written == [("berlin", {"cores": 8, "ram": 0})]
    assert lab.service("quota_desynced_at", "drifted_at") == (None, None)


def test_the_same_quota_where_the_backend_agrees(lab: Lab, api: World) -> None:
    before = all_rows(lab.engine)
    assert put(api).status_code == 202
    assert (api.pushed, changes(before, all_rows(lab.engine))) == ([], {})


@pytest.mark.parametrize("lab", [False], indirect=True, ids=["left alone"])
def test_who_may_not_set_quota_has_nothing_written(lab: Lab, api: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from limes.auth.context import Identity
    from tests.api import world

    member = Identity("u7", project_id="p-berlin", project_domain_id="d-germany", roles=("member",))
    monkeypatch.setitem(world.IDENTITIES, "berlin-member", member)
    change_the_backend(lab)
    before = all_rows(lab.engine)
    assert put(api, "berlin-member").status_code == 202, "as ever: it is no change"
    assert put(api, "cloud-admin", 8, {"name": "ram", "quota": 10**9}).status_code == 409, "all or nothing"
    body = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 8}]}]}}
    assert api.request("POST", f"{PROJECT}/simulate-put", json=body).status_code == 200
    assert (api.pushed, changes(before, all_rows(lab.engine))) == ([], {})
