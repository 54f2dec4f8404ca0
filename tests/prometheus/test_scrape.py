"""A real Prometheus scrapes real processes: whatever the rules and the dashboard ask for is there."""

import os
import signal
import time
from typing import Any

import pytest

from tests.prometheus.busy import ACME, PROJECT, SHOP, eventually
from tests.prometheus.cloud import Cloud
from tests.prometheus.dashboards import queries, variable_queries
from tests.prometheus.test_rules import rules
from tests.support.prometheus import OUR_NAME, RULE_FILES, PrometheusServer

pytestmark = pytest.mark.long
NOT_HERE = {"limes_nova_hypervisor_is_wellformed"}
"""There is no Nova here."""


def test_all_targets_are_up(busy_cloud: Cloud, prometheus: PrometheusServer) -> None:
    prometheus.wait_for('count(up{job=~"limes-.+"} == 1) == 5')
    targets = prometheus.get("targets")["activeTargets"]
    assert [(target["labels"]["job"], target["lastError"]) for target in targets if target["lastError"]] == []


def names(prometheus: PrometheusServer, job: str) -> set[str]:
    """The names of our metrics that come from a job."""
    found = prometheus.query(f'count by (__name__) ({{__name__=~"limes_.+", job="{job}"}})')
    return {sample["metric"]["__name__"] for sample in found}


def test_each_series_is_there_once(busy_cloud: Cloud, prometheus: PrometheusServer) -> None:
    """Though two collectors run that would both show everything."""
    prometheus.wait_for('count(up{job=~"limes-.+"} == 1) == 5')
    figures = {"limes_project_usage", "limes_cluster_capacity", "limes_tasks_due", "limes_plugin_metrics_ok"}
    # a scrape that takes more than its second leaves nothing behind
    eventually(lambda: figures <= names(prometheus, "limes-metrics"))
    eventually(lambda: "limes_resource_scrapes" in names(prometheus, "limes-collector"))
    assert names(prometheus, "limes-metrics") & names(prometheus, "limes-collector") == set()
    for figure in sorted(figures):
        assert not prometheus.query(f"count without (instance, job) ({figure}) > 1")
    prometheus.wait_for('count(limes_project_usage{project="shop", resource="cores"}) == 1')


def test_every_metric_of_rules_and_dashboard_is_scraped(busy_cloud: Cloud, prometheus: PrometheusServer) -> None:
    wanted = {name for file in RULE_FILES for rule in rules(file) for name in OUR_NAME.findall(rule["expr"])}
    wanted |= {name for query in queries() for name in OUR_NAME.findall(query.expression)}
    assert len(wanted) > 30
    for name in sorted(wanted - NOT_HERE):
        assert prometheus.wait_for(f'count({{__name__="{name}"}})'), name


def test_rules_can_be_evaluated(busy_cloud: Cloud, prometheus: PrometheusServer) -> None:
    prometheus.wait_for('count(up{job=~"limes-.+"} == 1) == 5')
    eventually(lambda: all(group["lastEvaluation"] > "0002" for group in prometheus.get("rules")["groups"]))
    states = [
        (rule["name"], rule["health"], rule.get("lastError", ""))
        for group in prometheus.get("rules")["groups"]
        for rule in group["rules"]
    ]
    assert len(states) == sum(len(rules(name)) for name in RULE_FILES)
    assert [state for state in states if state[1] != "ok"] == []


def test_every_panel_and_every_variable_shows_something(busy_cloud: Cloud, prometheus: PrometheusServer) -> None:
    """With the data of real processes. A rate needs two scrapes, some of what comes with the first request only."""
    asked = [*queries(), *variable_queries()]
    assert len(asked) > 60
    deadline = time.monotonic() + 200
    while asked := [query for query in asked if not prometheus.query(query.expression)]:
        assert time.monotonic() < deadline, asked
        time.sleep(0.2)


def test_drift_is_seen_repaired_and_counted(busy_cloud: Cloud, prometheus: PrometheusServer) -> None:
    place = f"/quotas/{SHOP}"
    eventually(lambda: busy_cloud.call("GET", place, job="limes-placement").json()["quotas"]["VCPU"]["limit"] == 20)
    prometheus.wait_for('limes_quota_drift_found_total{service_type="compute"} == 1')
    prometheus.wait_for('limes_quota_drift_repaired_total{service_type="compute"} == 1')
    prometheus.wait_for('limes_quota_drifted_projects{service="compute"} == 0')


def test_figures_are_those_of_the_api(busy_cloud: Cloud, prometheus: PrometheusServer) -> None:
    labels = f'project="shop",project_id="{SHOP}",domain="acme",domain_id="{ACME}",service="compute",resource="cores"'
    prometheus.wait_for(f"limes_project_quota{{{labels}}} == 20")
    prometheus.wait_for(f'limes_domain_quota{{domain="acme",domain_id="{ACME}",resource="cores"}} == 50')
    prometheus.wait_for(f'limes_project_committed_per_az{{project_id="{SHOP}",availability_zone="any"}} == 5')


def api_metrics(cloud: Cloud) -> str:
    return cloud.call("GET", "/metrics").text


def requests_counted(cloud: Cloud) -> list[Any]:
    text = api_metrics(cloud)
    wanted = 'httpmux_response_duration_seconds_count{app="limes",endpoint="/v1/domains/{domain_id}/projects/{project_id}/sync"'
    return [float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(wanted)]


def workers(cloud: Cloud) -> list[Any]:
    master = cloud.processes["api"].pid
    with open(f"/proc/{master}/task/{master}/children") as children:
        return [int(pid) for pid in children.read().split()]


def test_workers_are_counted_together_and_one_that_dies_takes_nothing_away(busy_cloud: Cloud) -> None:
    (before,) = requests_counted(busy_cloud)
    for _ in range(20):
        assert busy_cloud.call("POST", f"{PROJECT}/sync").status_code == 202
    # whichever worker answers
    eventually(lambda: {tuple(requests_counted(busy_cloud)) for _ in range(10)} == {(before + 20,)})
    # each worker has a pool of its own, and shows it as soon as it has answered
    pools = 'go_sql_stats_connections_max_open{db_name="limes"} 32.0'
    eventually(lambda: busy_cloud.call("GET", PROJECT).ok and pools in api_metrics(busy_cloud))
    killed, other = workers(busy_cloud)
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: len(workers(busy_cloud)) == 2 and killed not in workers(busy_cloud))
    assert other in workers(busy_cloud)
    eventually(lambda: busy_cloud.call("GET", "/v1/").status_code == 200)
    eventually(lambda: {tuple(requests_counted(busy_cloud)) for _ in range(5)} == {(before + 20,)})


def test_figures_stay_when_all_collectors_have_stopped(busy_cloud: Cloud, prometheus: PrometheusServer) -> None:
    for name in ("collect", "second"):
        busy_cloud.processes[name].stop(timeout=200)
    try:
        prometheus.wait_for('count(up{job="limes-collector"} == 0) == 2')
        stopped_at = time.time()
        prometheus.wait_for(f"timestamp(limes_project_usage) > {stopped_at}")
        prometheus.wait_for(f"timestamp(limes_task_lag_seconds) > {stopped_at}")
    finally:
        busy_cloud.start_collectors()
