"""The manifests: held against Kubernetes' own schemas, against each other, and against our configuration."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from limes import __version__
from limes.app.cli import build_parser
from limes.app.composition.cluster import backend_problems
from limes.app.settings import Settings, parse
from limes.app.settings.load import KNOWN_VARIABLES

FOLDER = Path(__file__).parents[2] / "config" / "kubernetes"
DOCUMENTS = [document for file in sorted(FOLDER.glob("*.yaml")) for document in yaml.safe_load_all(file.read_text())]
WORKLOADS = [one for one in DOCUMENTS if one["kind"] in ("Deployment", "Job")]
OPEN_REQUESTS = 30
"""Seconds that gunicorn gives them at the end: `graceful_timeout` of limes/app/composition/gunicorn_conf.py."""


def name(document: Any) -> str:
    return f"{document['kind']}/{document['metadata']['name']}"


def of_kind(kind: str) -> dict[Any, Any]:
    return {one["metadata"]["name"]: one for one in DOCUMENTS if one["kind"] == kind}


def pod(workload: Any) -> Any:
    return workload["spec"]["template"]["spec"]


def container(workload: Any) -> Any:
    (found,) = pod(workload)["containers"]
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_kubernetes_understands_them(document: Any) -> None:
    if document["kind"] == "ServiceMonitor":  # of the Prometheus operator, for which there is no schema here
        assert document["apiVersion"] == "monitoring.coreos.com/v1"
        return
    kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


@pytest.fixture
def settings() -> Settings:
    document = yaml.safe_load(of_kind("ConfigMap")["limes"]["data"]["limes.yaml"])
    assert backend_problems(document) == []
    return parse(document, {"LIMES_IDENTITY_PASSWORD": "x"}, FOLDER)


@pytest.mark.parametrize("workload", WORKLOADS, ids=name)
def test_pods_run_what_there_is_without_privileges(workload: Any) -> None:
    one = container(workload)
    assert build_parser().parse_args(one["args"]).run
    assert one["image"].endswith(f":{__version__}")
    assert one["securityContext"]["readOnlyRootFilesystem"]
    assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert pod(workload)["securityContext"]["runAsNonRoot"]
    assert pod(workload)["automountServiceAccountToken"] is False
    assert {variable["name"] for variable in one["env"]} <= KNOWN_VARIABLES
    mounts = {mount["mountPath"]: mount["name"] for mount in one["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod(workload)["volumes"]}
    assert volumes[mounts["/etc/limes"]]["configMap"] == {"name": "limes"}
    assert "emptyDir" in volumes[mounts["/tmp"]]


@pytest.mark.parametrize("process", ["api", "placement", "collector", "metrics"])
def test_ports_probes_and_services_fit_the_configuration(process: str, settings: Settings) -> None:
    deployment = of_kind("Deployment")[f"limes-{process}"]
    port = int(getattr(settings, process).listen.rpartition(":")[2])
    one = container(deployment)
    assert one["ports"] == [{"name": "http", "containerPort": port}]
    assert getattr(settings, process).listen.startswith("0.0.0.0:")
    assert one["startupProbe"]["httpGet"] == {"path": "/healthcheck", "port": "http"}
    ready = one["readinessProbe"]["httpGet"]
    assert ready == {"path": "/healthcheck?only=process", "port": "http"}, "else the Ingress would answer for Limes"
    assert "tcpSocket" in one["livenessProbe"], "a database that is down is no reason to restart"
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
    service = of_kind("Service")[f"limes-{process}"]["spec"]
    assert service["selector"].items() <= labels.items()
    assert service["ports"] == [{"name": "http", "port": port, "targetPort": "http"}]
    budget = of_kind("PodDisruptionBudget")[f"limes-{process}"]["spec"]
    assert budget["selector"]["matchLabels"].items() <= labels.items()


@pytest.mark.parametrize("process", ["api", "placement"])
def test_a_pod_that_ends_answers_until_nobody_comes_any_more(process: str, settings: Settings) -> None:
    """Kubernetes takes it out of its service while it gets SIGTERM, and others learn that later. The process itself
    waits for them, so there is nothing left to do before SIGTERM."""
    drain = getattr(settings, process).clients.drain
    spec = pod(of_kind("Deployment")[f"limes-{process}"])
    assert drain >= 5
    assert drain + OPEN_REQUESTS < spec["terminationGracePeriodSeconds"]
    assert "lifecycle" not in spec["containers"][0]


def test_prometheus_scrapes_each_service_once_and_collectors_for_themselves() -> None:
    """With the paths of config/prometheus/scrape.yaml."""
    recommended = yaml.safe_load((FOLDER.parent / "prometheus" / "scrape.yaml").read_text())["scrape_configs"]
    paths = {job["job_name"]: job.get("metrics_path", "/metrics") for job in recommended}
    monitors = [one["spec"] for one in of_kind("ServiceMonitor").values()]
    for name_, service in of_kind("Service").items():
        labels = service["metadata"]["labels"]
        (path,) = (monitor["endpoints"][0]["path"] for monitor in monitors if is_selected(monitor["selector"], labels))
        assert path == paths.pop(name_)
    assert not paths
    assert all(monitor["endpoints"][0]["port"] == "http" for monitor in monitors)


def is_selected(selector: Any, labels: dict[str, str]) -> bool:
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels[each["key"]] in each["values"] for each in selector.get("matchExpressions", ())
    )


def test_figures_of_the_cloud_come_from_one_pod(settings: Settings) -> None:
    spec = of_kind("Deployment")["limes-metrics"]["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"] == {"type": "Recreate"}, "an upgrade would run two for a moment"
    assert not settings.collector.data_metrics.expose
