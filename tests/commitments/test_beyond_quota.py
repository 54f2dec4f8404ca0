"""A commitment guarantees that its amount can be used: who commits to more than the quota lets them use is told so."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.commitments.rules import CommitmentRules
from tests.api.world import World
from tests.commitments.commitments import BEHAVIORS, NOW, PATHS, ask, commit, offer, post, take, wish, with_volumes
from tests.quota.quotas import request_quotas

RULES = CommitmentRules(conversions=({("compute", "cores"): 1, ("volume", "capacity"): 1},), renewal_window=86400 * 400)


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    """berlin has a quota of 20 cores and of 10 GiB of volumes, dresden one of 30 cores."""
    return with_volumes(make(behaviors=BEHAVIORS, commitment_rules=RULES), 50)


def warning(amount: int | str, quota: int | str = 20, what: str = "compute/cores") -> list[Any]:
    return [
        f"the project's commitments to {what} add up to {amount}, but its quota is {quota}:"
        " what is beyond it cannot be used before the quota is raised"
    ]


def warnings(result: Any, *statuses: int) -> Any:
    assert result.status_code in (statuses or (200, 201, 202)), result.text
    return result.json.get("warnings")


def test_before_and_after(cloud: World) -> None:
    for amount, text in ((20, None), (21, warning(21))):
        assert [warnings(ask(cloud, "berlin", what, amount=amount)) for what in ("can-confirm", "plan")] == [text] * 2
    assert warnings(ask(cloud, "berlin", "new", amount=20), 201) is None
    for what in ("can-confirm", "plan", "new"):
        assert warnings(ask(cloud, "berlin", what, amount=1, availability_zone="az-two")) == warning(21)
    assert warnings(ask(cloud, "berlin", "plan", amount=1000)) == warning(1021)  # though there is no capacity either


def test_the_answer_to_a_repeated_request_says_it_again(cloud: World) -> None:
    answers = [ask(cloud, "berlin", "new", amount=21, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert answers[0].json == answers[1].json
    assert warnings(answers[1], 201) == warning(21)


def test_what_has_ended_by_then_or_begins_later_does_not_count(cloud: World) -> None:
    commit(cloud, amount=20)  # for an hour
    assert warnings(ask(cloud, "berlin", "new", amount=20, confirm_by=NOW + 3600), 201) is None
    assert warnings(ask(cloud, "berlin", "can-confirm", amount=1)) == warning(21)
    assert warnings(ask(cloud, "berlin", "new", amount=1, confirm_by=NOW + 3600), 201) == warning(21)
    assert warnings(ask(cloud, "berlin", "new", amount=3, confirm_by=NOW + 1800), 201) == warning(23)


def test_units(cloud: World) -> None:
    wish = {"resource_name": "ram", "availability_zone": "any", "duration": "1 year", "amount": 2048}
    [text] = warnings(ask(cloud, "berlin", "new", **wish), 201)
    assert "compute/ram add up to 2048 MiB, but its quota is 1024 MiB:" in text


def test_what_comes_from_elsewhere(cloud: World) -> None:
    made = commit(cloud, amount=31)
    token = offer(cloud, made["id"], 31).json["commitment"]["transfer_token"]
    assert warnings(ask(cloud, "berlin", "can-confirm", amount=1)) is None  # berlin is about to give it away
    assert warnings(take(cloud, made["id"], token), 202) == warning(31, 30)
    made = commit(cloud, amount=11, duration="1 year")
    result = post(cloud, f"{made['id']}/convert", wish(11, 11))
    assert warnings(result, 202) == warning("11 GiB", "10 GiB", "volume/capacity")


def test_a_renewal(cloud: World) -> None:
    made = commit(cloud, amount=15)
    assert warnings(post(cloud, f"{made['id']}/renew"), 202) is None
    commit(cloud, amount=4, duration="1 year")
    made = commit(cloud, amount=2)
    assert warnings(post(cloud, f"{made['id']}/renew"), 202) == warning(21)


def test_lowering_further_is_refused_and_raising_is_not(cloud: World) -> None:
    commit(cloud, amount=25)
    result = request_quotas(cloud, PATHS["berlin"], {"cores": 19})
    assert (result.status_code, "minimum acceptable project quota is 25" in result.text) == (409, True)
    assert request_quotas(cloud, PATHS["berlin"], {"cores": 21}).status_code == 202
