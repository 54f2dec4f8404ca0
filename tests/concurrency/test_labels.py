"""Many people at once replace the labels of a project: those of one of them are left, all of them and no others."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.labels.labels import labels_of, replace_labels
from limes.projects.scope import Place
from tests.api.world import BERLIN, DRESDEN, GERMANY, make_world
from tests.concurrency.test_quota import at_once

PLACES = [Place(GERMANY, BERLIN), Place(GERMANY, DRESDEN)]


def labels(writer: int, round_: int) -> dict[str, str]:
    """Some keys are the same for all writers, others are each writer's own; written in different orders."""
    found = {"env": f"{writer}/{round_}", "tier": f"{writer}/{round_}", f"of-{writer}": str(round_)}
    return dict(reversed(found.items())) if writer % 2 else found


@pytest.mark.sql
def test_the_labels_of_one_request_are_left(engine: Engine) -> None:
    limes = make_world(engine).limes
    seen: list[dict[str, str]] = []

    def write(place: Place, writer: int, round_: int) -> Callable[[], Any]:
        return lambda: replace_labels(limes, place, labels(writer, round_))

    def read() -> None:
        seen.extend(labels_of(limes, place) for place in PLACES)

    for round_ in range(8):
        at_once(*(write(place, writer, round_) for writer in range(4) for place in PLACES), meanwhile=[read])
        possible = [labels(writer, round_) for writer in range(4)]
        assert all(labels_of(limes, place) in possible for place in PLACES)
    whole = [{}, *(labels(writer, round_) for writer in range(4) for round_ in range(8))]
    assert all(each in whole for each in seen)
