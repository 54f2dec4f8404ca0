"""What is refused in a query: on every route that has a parameter, by the kind of the parameter; and unknown names."""

from collections.abc import Callable, Iterator

import pytest

from limes.api.parameters import Choice, Flag, Moment, Parameter, WholeNumber, YesOrNo
from limes.app.routes import ROUTES
from limes.web.operation import operations_of
from tests.api.world import BERLIN, GERMANY, World
from tests.commitments.commitments import BEHAVIORS
from tests.requests.quota_requests import asked

REFUSE_UNKNOWN_NAMES = {"usage-reports", "usage-history", "forecast", "subresources"}
"""Answers that are wrong if a filter has no effect, by the end of their paths; and the list of commitments."""


def wrong_values(parameter: Parameter) -> Iterator[tuple[str, str]]:
    """Values, as they are in a query, and how their refusal begins."""
    match parameter:
        case Flag():
            return
        case WholeNumber(minimum=minimum, maximum=maximum):
            for text in ("x", "", "1.5", "-1", 5000 * "1", str(minimum - 1), str(maximum + 1)):
                yield text, f"expected a whole number from {minimum} to {maximum}\n"
        case Moment():
            for text in ("never", "-5", "0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00"):
                yield text, "expected a time "
            for text in ("1969-12-31", "9999-12-31", "999999999999"):
                yield text, "expected a time between 1970-01-01 and 9999-11-30\n"
        case Choice(words=words):
            yield "week", f"expected one of {', '.join(words)}\n"
        case YesOrNo():
            yield "maybe", "expected true or false\n"
    yield "a%00b", "expected a text without NUL\n"


@pytest.mark.sql
def test_what_is_refused(make: Callable[..., World]) -> None:
    world = make(behaviors=BEHAVIORS)
    of_project = asked(world, "berlin", compute={"cores": 40})
    of_domain = asked(world, "germany", "germany-admin", compute={"cores": 150})
    kinds = set()
    for method, template, operation in operations_of(ROUTES):
        known = {each.name: each for each in operation.parameters if each.place == "query"}
        if method != "GET" or operation.public or not known:
            continue
        path = template.format(
            domain_id=GERMANY, project_id=BERLIN, service_type="compute", resource_name="cores",
            id=of_project if "{project_id}" in template else of_domain,
        )  # fmt: skip
        needed = "from=2026-01-01&" if template.endswith("/usage-reports") else ""
        for name, parameter in known.items():
            for value, text in wrong_values(parameter):
                answer = world.request("GET", path, query_string=f"{needed}{name}={value}")
                refusal = answer.text.removeprefix(f"query parameter {name}: ")
                assert (path, value, answer.status_code, refusal[: len(text)]) == (path, value, 400, text)
                kinds.add(type(parameter))
        if template == "/v1/commitments" or template.rpartition("/")[2] in REFUSE_UNKNOWN_NAMES:
            answer = world.request("GET", path, query_string=f"{needed}projct=x")
            text = f"unknown query parameter projct: expected one of {', '.join(sorted(known))}\n"
            assert (path, answer.status_code, answer.text) == (path, 400, text)
    assert kinds >= {WholeNumber, Moment, Choice, YesOrNo}
