"""What makes a cloud busy, so that every metric says something."""

import time
from collections.abc import Callable
from typing import Any

from limes.db.engine import Engine
from tests.prometheus.cloud import Cloud

ACME, SHOP = "8f1c26b2a9b94b4b8b9f4d1f2c3d4e01", "1a000000000000000000000000000001"
DOMAIN, PROJECT = f"/v1/domains/{ACME}", f"/v1/domains/{ACME}/projects/{SHOP}"


def eventually(check: Callable[..., Any], timeout: float = 200.0) -> Any:
    deadline = time.monotonic() + timeout
    while not (found := check()):
        assert time.monotonic() < deadline, "did not happen"
        time.sleep(0.05)
    return found


def quota(level: str, cores: int) -> dict[Any, Any]:
    return {level: {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": cores}]}]}}


def make_busy(cloud: Cloud) -> None:
    """Gives a cloud something of everything: quota, a commitment, drift, forecasts."""
    eventually(lambda: cloud.call("GET", PROJECT).status_code == 200)
    eventually(lambda: '"usage"' in cloud.call("GET", PROJECT).text)
    assert cloud.call("PUT", DOMAIN, json=quota("domain", 50)).status_code == 202
    assert cloud.call("PUT", PROJECT, json=quota("project", 20)).status_code == 202
    commitment = {"service_type": "object-store", "resource_name": "capacity", "availability_zone": "any"}
    body = {"commitment": {**commitment, "amount": 5, "duration": "1 year"}}
    answer = eventually(
        lambda: (made := cloud.call("POST", f"{PROJECT}/commitments/new", json=body)).status_code in (201, 202) and made
    )
    assert answer.json()["commitment"]["amount"] == 5
    place = f"/quotas/{SHOP}"

    def read_limits() -> Any:
        limits = cloud.call("GET", place, job="limes-placement").json()
        return limits if limits["quotas"]["VCPU"]["limit"] == 20 else None

    # a push that is still under way would write over what somebody else changes, and nobody would ever know
    eventually(
        lambda: 'limes_quota_pushes_pending{service="compute",service_name="placement"} 0.0' in own_metrics(cloud)
    )
    limits = eventually(read_limits)
    limits["quotas"]["VCPU"]["limit"] = 99
    drift = cloud.call("PUT", place, job="limes-placement", json=limits)
    assert drift.status_code in (200, 204), drift.text
    assert cloud.call("POST", f"{PROJECT}/sync").status_code == 202
    make_trends(cloud)


def make_trends(cloud: Cloud) -> None:
    """As collectors do with a week of data: from then on there are forecasts. Nothing was used at the first sample."""
    engine = Engine(cloud.database_url)
    ((sampled_at,),) = eventually(lambda: engine.rows("SELECT sampled_at FROM growth_state WHERE trends_at > 0"))
    for zone in ("", "az-one"):
        place = ("", "compute", "cores", zone)
        engine.execute(
            "INSERT INTO growth_series (scope, service_type, resource_name, az) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            place,
        )
        where = "FROM growth_series WHERE scope = %s AND service_type = %s AND resource_name = %s AND az = %s"
        engine.execute(
            "INSERT INTO growth_hours (series_id, begins, usage, committed, quota, capacity)"
            f" SELECT id, {sampled_at - sampled_at % 3600}, 10, 0, 50, 1000 {where}"
            " ON CONFLICT (series_id, begins) DO UPDATE SET capacity = 1000",
            place,
        )
        engine.execute(
            "INSERT INTO growth_trends (series_id, computed_at, days, level, growth, lowest, highest)"
            f" SELECT id, {sampled_at}, 30, 10, 2, 1, 3 {where}"
            " ON CONFLICT (series_id) DO UPDATE SET days = 30, level = 10, growth = 2, lowest = 1, highest = 3",
            place,
        )
    engine.close()


def own_metrics(cloud: Cloud) -> str:
    return cloud.call("GET", "/metrics", job="limes-collector").text
