"""What docs/limes-api.md says is different from the original: bodies, transfers, first scrapes."""

from pathlib import Path

import pytest

from tests.api.world import BERLIN, GERMANY, World
from tests.commitments.commitments import PATHS, commit, offer

PROJECT = f"/v1/domains/{GERMANY}/projects/{BERLIN}"
ROOT = Path(__file__).parents[2]


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
