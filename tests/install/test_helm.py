"""The Helm chart: rendered as Helm does, it is what config/kubernetes has, and Kubernetes understands it.

No package registry has the program `helm`; gotpl renders its templates. On a machine with `helm`, that lints and renders it, too.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from gotpl.exts.helm import HelmTemplateEngine

from limes import __version__
from limes.app.composition.cluster import backend_problems
from limes.app.settings import parse

CONFIG = Path(__file__).parents[2] / "config"
CHART = CONFIG / "helm" / "limes"
ABOUT = yaml.safe_load((CHART / "Chart.yaml").read_text())
HOOKS = ("ConfigMap/limes-migrate", "Job/limes-migrate")
EVERYTHING: dict[str, Any] = {
    "image": {"repository": "registry.west.example.com/limes", "tag": "1.2.3", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "registry"}],
    "secretName": "passwords",
    "configFiles": {"overrides.yaml": "{}"},
    "extraEnv": [{"name": "LIMES_LOG_LEVEL", "value": "DEBUG"}],
    "ingress": {"className": "nginx", "api": {"host": "limes.example.com", "tlsSecret": "limes-tls"}},
    "serviceMonitor": {"enabled": True},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "control-plane", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {}},
}


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Values as Helm merges them."""
    both = {key: merged(base[key], over[key]) for key in base.keys() & over.keys() if isinstance(over[key], dict)}
    return {**base, **over, **both}


def render(values: Mapping[str, Any] | None = None, release: str = "limes") -> dict[str, Any]:
    """All documents by kind and name; a key that no value has is an error."""
    root = {
        "Values": merged(yaml.safe_load((CHART / "values.yaml").read_text()), values or {}),
        "Release": {"Name": release, "Namespace": "limes", "Service": "Helm", "IsInstall": True},
        "Chart": {"Name": ABOUT["name"], "Version": ABOUT["version"], "AppVersion": ABOUT["appVersion"]},
    }
    sources = {path.name: path.read_text() for path in sorted((CHART / "templates").iterdir())}
    texts = HelmTemplateEngine(sources).render({name: root for name in sources if not name.startswith("_")})
    assert "<no value>" not in "".join(texts.values())
    documents = [one for name, text in texts.items() if name.endswith(".yaml") for one in yaml.safe_load_all(text)]
    return by_name(document for document in documents if document)


def by_name(documents: Any) -> dict[str, Any]:
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in documents}


def plain(document: Any) -> Any:
    """Without what only Helm writes."""
    if isinstance(document, list):
        return [plain(one) for one in document]
    if not isinstance(document, dict):
        return document
    left_out = ("annotations", "imagePullPolicy", "app.kubernetes.io/managed-by", "helm.sh/chart")
    return {key: plain(value) for key, value in document.items() if key not in left_out}


def test_the_versions_are_those_of_the_package() -> None:
    assert ABOUT["appVersion"] == ABOUT["version"] == __version__


def test_with_its_own_values_it_is_what_the_plain_manifests_are() -> None:
    manifests = by_name(
        one for file in (CONFIG / "kubernetes").glob("*.yaml") for one in yaml.safe_load_all(file.read_text())
    )
    charted = render({"serviceMonitor": {"enabled": True}})
    shared = [name for name in manifests if not name.startswith("Job/")]
    assert sorted([*shared, *HOOKS]) == sorted(charted)
    for name in shared:
        ours, theirs = plain(charted[name]), plain(manifests[name])
        if name == "ConfigMap/limes":
            ours, theirs = (yaml.safe_load(one["data"]["limes.yaml"]) for one in (ours, theirs))
        ours.get("metadata", {}).pop("labels", None)
        theirs.get("metadata", {}).pop("labels", None)
        assert ours == theirs, name


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["defaults", "everything"])
def test_kubernetes_understands_it(values: dict[str, Any]) -> None:
    documents = render(values, release="quota")
    for name, document in documents.items():
        if document["kind"] != "ServiceMonitor":  # of the Prometheus operator, for which there is no schema here
            kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
        assert name.partition("/")[2].startswith("quota"), "two releases can share a namespace"


def test_jobs_have_the_names_that_the_rules_know() -> None:
    documents = render({"serviceMonitor": {"enabled": True}}, release="quota")
    services = [name.partition("/")[2] for name in documents if name.startswith("Service/")]
    monitors = [one["spec"] for one in documents.values() if one["kind"] == "ServiceMonitor"]
    for monitor in monitors:
        ((rule,),) = [endpoint["relabelings"] for endpoint in monitor["endpoints"]]
        assert (rule["sourceLabels"], rule["targetLabel"]) == (["__meta_kubernetes_service_name"], "job")
        jobs = {re.sub(f"^{rule['regex']}$", rule["replacement"].replace("$1", r"\1"), name) for name in services}
        recommended = yaml.safe_load((CONFIG / "prometheus" / "scrape.yaml").read_text())["scrape_configs"]
        assert jobs == {job["job_name"] for job in recommended}
    assert len(monitors) == 2


def test_values_reach_every_pod() -> None:
    documents = render(EVERYTHING, release="quota")
    pods = [one["spec"]["template"]["spec"] for one in documents.values() if one["kind"] in ("Deployment", "Job")]
    assert len(pods) == 5
    for pod in pods:
        (container,) = pod["containers"]
        assert container["image"] == "registry.west.example.com/limes:1.2.3"
        assert {"name": "LIMES_LOG_LEVEL", "value": "DEBUG"} in container["env"]
        assert container["env"][0]["valueFrom"]["secretKeyRef"]["name"] == "passwords"
        assert pod["nodeSelector"] == EVERYTHING["nodeSelector"]
        assert pod["tolerations"] == EVERYTHING["tolerations"]
        assert pod["imagePullSecrets"] == EVERYTHING["imagePullSecrets"]
        (config,) = (volume["configMap"]["name"] for volume in pod["volumes"] if volume["name"] == "config")
        assert f"ConfigMap/{config}" in documents
    ingress = documents["Ingress/quota-api"]["spec"]
    assert ingress["rules"][0]["host"] == "limes.example.com"
    assert paths_of(ingress) == {"/metrics": "quota-api-nobody", "/": "quota-api"}
    assert "Ingress/quota-placement" not in documents


def paths_of(ingress: Any) -> dict[str, str]:
    """The services by path."""
    return {one["path"]: one["backend"]["service"]["name"] for one in ingress["rules"][0]["http"]["paths"]}


def test_metrics_are_not_for_everybody() -> None:
    """Below Placement's prefix either. An Ingress has no word for forbidding, but a service without pods answers none."""
    hosts = {"placement": {"host": "placement.example.com"}}
    documents = render({"ingress": hosts, "config": {"placement": {"prefix": "/placement"}}})
    nobody, limes = "limes-placement-nobody", "limes-placement"
    paths = paths_of(documents["Ingress/limes-placement"]["spec"])
    assert paths == {"/metrics": nobody, "/placement/metrics": nobody, "/": limes}
    assert "selector" not in documents[f"Service/{nobody}"]["spec"]


def test_the_configuration_is_one_and_its_ports_are_those_of_the_services() -> None:
    documents = render({"config": {"api": {"listen": "0.0.0.0:9000"}, "bursting": {"max_multiplier": 0.1}}})
    texts = [one["data"]["limes.yaml"] for one in documents.values() if one["kind"] == "ConfigMap"]
    assert texts[0] == texts[1]
    document = yaml.safe_load(texts[0])
    assert backend_problems(document) == []
    assert parse(document, {"LIMES_IDENTITY_PASSWORD": "x"}, CHART).bursting.max_multiplier == 0.1
    assert documents["Service/limes-api"]["spec"]["ports"][0]["port"] == 9000
    container = documents["Deployment/limes-api"]["spec"]["template"]["spec"]["containers"][0]
    assert container["ports"] == [{"name": "http", "containerPort": 9000}]


def test_other_files_are_beside_the_configuration() -> None:
    files = {"overrides.yaml": "acme:\n  shop:\n    compute: {cores: 10}\n", "policy.yaml": "{}"}
    values = {"config": {"quota_overrides_path": "overrides.yaml"}, "configFiles": files}
    documents = render(values)
    for name in ("ConfigMap/limes", "ConfigMap/limes-migrate"):
        data = documents[name]["data"]
        assert sorted(data) == ["limes.yaml", "overrides.yaml", "policy.yaml"]
        assert yaml.safe_load(data["overrides.yaml"]) == {"acme": {"shop": {"compute": {"cores": 10}}}}
        assert yaml.safe_load(data["limes.yaml"])["quota_overrides_path"] == "overrides.yaml"


def test_another_configuration_restarts_the_pods() -> None:
    def checksum(values: dict[str, Any]) -> Any:
        return render(values)["Deployment/limes-api"]["spec"]["template"]["metadata"]["annotations"]

    assert checksum({}) == checksum({"api": {"replicas": 3}})
    assert checksum({}) != checksum({"config": {"bursting": {"max_multiplier": 0.1}}})
    assert checksum({}) != checksum({"configFiles": {"policy.yaml": "{}"}})


def test_the_database_is_upgraded_before_anything_else() -> None:
    job, config = (render()[name] for name in reversed(HOOKS))
    assert job["spec"]["template"]["spec"]["containers"][0]["args"] == ["db", "upgrade"]
    for document in (job, config):
        assert document["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert "helm.sh/hook-weight" in config["metadata"]["annotations"], "the job mounts it"


@pytest.mark.parametrize("process", ["api", "placement", "collector", "metrics"])
def test_a_process_can_be_left_out(process: str) -> None:
    assert render().keys() - render({process: {"enabled": False}}).keys() == {
        f"{kind}/limes-{process}" for kind in ("Deployment", "Service", "PodDisruptionBudget")
    }


if HELM := shutil.which("helm"):

    def test_helm_itself_says_the_same(tmp_path: Path) -> None:
        (tmp_path / "values.yaml").write_text(yaml.safe_dump(EVERYTHING))
        for command in (["lint", "--strict"], ["template", "quota", "--namespace", "limes"]):
            done = subprocess.run(
                [HELM, *command, str(CHART), "--values", str(tmp_path / "values.yaml")], capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout + done.stderr
        assert by_name(one for one in yaml.safe_load_all(done.stdout) if one) == render(EVERYTHING, release="quota")
