"""Nothing keeps answers that are for one token: neither proxies nor disks."""

import pytest

from limes.app.routes import ROUTES
from limes.web.operation import operations_of
from tests.api.world import BERLIN, GERMANY, World

PARAMS = {"domain_id": GERMANY, "project_id": BERLIN}


@pytest.mark.parametrize("token", ["cloud-admin", "nobody"])
def test_every_answer_behind_a_token(world: World, token: str) -> None:
    """Refusals, too."""
    kept = []
    for method, path, operation in operations_of(ROUTES):
        if operation.public:
            continue
        for name in ("domain_id", "project_id"):
            path = path.replace(f"{{{name}}}", PARAMS[name])
        answer = world.client.simulate_request(method, path, headers={"X-Auth-Token": token})
        if answer.headers.get("cache-control") != "no-store":
            kept.append((method, path, answer.status_code))
    assert kept == []


def test_a_client_may_still_ask_by_its_tag(world: World) -> None:
    path, headers = f"/v1/domains/{GERMANY}", {"X-Auth-Token": "cloud-admin"}
    tag = world.client.simulate_get(path, headers=headers).headers["etag"]
    answer = world.client.simulate_get(path, headers=headers | {"If-None-Match": tag})
    assert (answer.status_code, answer.headers["cache-control"]) == (304, "no-store")
