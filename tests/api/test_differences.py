"""What docs/limes-api.md says is different from the original: bodies, transfers, first scrapes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.commitments import BEHAVIORS, PATHS, commit, offer
from tests.api.world import BERLIN, GERMANY, World
from tests.support.rows import all_rows, changes

PROJECT = f"/v1/domains/{GERMANY}/projects/{BERLIN}"
ROOT = Path(__file__).parents[2]
QUOTA = '{"project": {"services": [{"type": "compute", "resources": [%s]}]}}'


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return make(behaviors=BEHAVIORS)


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (QUOTA % '{"name": "cores", "quota": 21}', 202, ""),
        (QUOTA % '{"name": "cores", "quota": 21}' + " and more", 400, "request body is not valid JSON: "),
        (QUOTA % '{"name": "cores"}', 400, "request body is not valid JSON: project.services.0.resources.0.quota: "),
        (
            QUOTA % '{"name": "cores", "Quota": 21}',
            400,
            "request body is not valid JSON: project.services.0.resources.0.quota: ",
        ),
        (QUOTA % '{"name": "cores", "quota": 21, "colour": "green"}', 202, ""),
        ("{}", 202, ""),
        ("null", 202, ""),
    ],
)
def test_bodies(cloud: World, body: str, status: int, text: str) -> None:
    for method, path in (("POST", f"{PROJECT}/simulate-put"), ("PUT", PROJECT)):
        before = all_rows(cloud.engine)
        result = cloud.request(method, path, body=body.encode())
        assert result.status_code == (200 if (method, status) == ("POST", 202) else status)
        if status != 202:
            assert result.text.startswith(text)
            assert changes(before, all_rows(cloud.engine)) == {}


def test_a_commitment_of_which_something_is_missing(cloud: World) -> None:
    document = {
        "service_type": "compute",
        "resource_name": "cores",
        "availability_zone": "az-one",
        "duration": "1 year",
    }
    result = cloud.request("POST", f"{PATHS['berlin']}/commitments/new", json={"commitment": document})
    assert (result.status_code, result.text.partition(": ")[2].partition(":")[0]) == (400, "commitment.amount")


def test_an_empty_status_withdraws_a_transfer(cloud: World) -> None:
    made = commit(cloud, amount=10)
    offer(cloud, made["id"], 10)
    result = offer(cloud, made["id"], 10, status="")
    assert (result.status_code, "transfer_status" in result.json["commitment"]) == (202, False)
    assert offer(cloud, made["id"], 10, status="secret").status_code == 400
    result = offer(cloud, made["id"], 0, status="")
    assert (result.status_code, result.json) == (400, "Delivered amount needs to be a positive value.")


@pytest.mark.parametrize("page", ["limes-api.md", "moving-from-go-limes.md"])
def test_both_pages_say_so(page: str) -> None:
    text = " ".join((ROOT / "docs" / page).read_text().split())
    for words in (
        "`start-transfer` with an empty `transfer_status`",
        "Text after the JSON",
        "first scrape of a service fails",
    ):
        assert words in text, (page, words)
