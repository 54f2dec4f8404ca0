"""`limes serve` as a new user meets it: one command, sample data, Ctrl-C, and a second start that keeps the data."""

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.support.limes_process import LIMES, ROOT, environment
from tests.support.processes import eventually, free_port

ACME, SHOP = "8f1c26b2a9b94b4b8b9f4d1f2c3d4e01", "1a000000000000000000000000000001"
PROJECT = f"/v1/domains/{ACME}/projects/{SHOP}"


class Serve:
    """`limes serve` with the quickstart configuration on free ports."""

    def __init__(self, folder: Path) -> None:
        document = yaml.safe_load((ROOT / "config" / "quickstart.yaml").read_text())
        text = yaml.safe_dump(document)
        for port in ("8080", "8778", "8081"):
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free_port()}")
        document = yaml.safe_load(text)
        document["collector"]["scrape_interval"] = 2
        document["serve"]["sample_data"] = str(ROOT / "config" / "sample-data.yaml")
        self.api = f"http://{document['api']['listen']}"
        self.placement = f"http://{document['placement']['listen']}"
        self.folder = folder
        self.config = folder / "quickstart.yaml"
        self.config.write_text(yaml.safe_dump(document))
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> str:
        """Starts it and answers what it printed until it was ready."""
        self.process = subprocess.Popen(
            [*LIMES, "serve", "--config", str(self.config)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(),
        )
        assert self.process.stdout is not None
        printed = ""
        for line in self.process.stdout:
            printed += line
            if "/usages?" in line:  # the last of the commands to try
                return printed
        raise AssertionError(f"ended with {self.process.wait()}:\n{printed}")

    def interrupt(self) -> int:
        """Ctrl-C. Answers the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=200)

    def get(self, path: str, token: str = "cloud-admin") -> Any:
        answer = requests.get(self.api + path, headers={"X-Auth-Token": token}, timeout=200)
        assert answer.ok, answer.text
        return answer.json()

    def cores(self) -> dict[str, Any]:
        """The project's cores as the API shows them."""
        return self.get(f"{PROJECT}?service=compute&resource=cores")["project"]["services"][0]["resources"][0]

    def usage_by_az(self) -> dict[str, int]:
        """Where the project's cores are, as the preview shows it."""
        path = f"{self.api}{PROJECT}?service=compute&resource=cores"
        headers = {"X-Auth-Token": "cloud-admin", "X-Limes-V2-API-Preview": "per-az"}
        cores = requests.get(path, headers=headers, timeout=200).json()["project"]["services"][0]["resources"][0]
        return {az: part["usage"] for az, part in cores["per_az"].items() if part["usage"]}

    def utilisation(self, az: str) -> tuple[int, int] | None:
        """How much of the cores was committed and is used in an availability zone at the last look of today."""
        path = f"{PROJECT}/commitments/utilisation?service=compute&resource=cores"
        for entry in self.get(path)["utilisation"]:
            if entry["availability_zone"] == az:
                return entry["days"][-1]["committed"], entry["days"][-1]["max_used"]
        return None

    def quota(self, level: str, path: str, token: str, cores: int) -> requests.Response:
        body = {level: {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": cores}]}]}}
        return requests.put(self.api + path, json=body, headers={"X-Auth-Token": token}, timeout=200)

    def backend_quota(self) -> Any:
        """What Placement enforces for the project."""
        answer = requests.get(f"{self.placement}/quotas/{SHOP}", headers=self.headers(), timeout=200)
        return answer.json()["quotas"]["VCPU"]["limit"]

    def headers(self) -> dict[str, str]:
        return {"X-Auth-Token": "cloud-admin", "OpenStack-API-Version": "placement 1.38"}


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    serve = Serve(tmp_path)
    yield serve
    if serve.process is not None and serve.process.poll() is None:
        serve.process.kill()


def test_the_tour(serve: Serve) -> None:
    """Takes long: `limes serve` starts all processes, and a collector has to look at each service."""
    printed = serve.start()
    assert serve.api in printed
    assert serve.placement in printed
    for token in ("cloud-admin", "acme-admin", "shop-admin", "shop-member"):
        assert re.search(rf"^  {token} +\S", printed, re.MULTILINE)
    assert len(serve.get("/v1/domains")["domains"]) == 2
    assert len(serve.get(f"/v1/domains/{ACME}/projects", "acme-admin")["projects"]) == 3
    cluster = serve.get("/v1/clusters/current?service=compute&resource=cores")["cluster"]
    assert cluster["services"][0]["resources"][0]["capacity"] == 992
    assert (serve.cores()["quota"], serve.cores()["usage"]) == (40, 20)

    # each level by its own admin
    assert serve.quota("domain", f"/v1/domains/{ACME}", "acme-admin", 300).status_code == 403
    assert serve.quota("domain", f"/v1/domains/{ACME}", "cloud-admin", 300).status_code == 202
    assert serve.quota("project", PROJECT, "shop-admin", 60).status_code == 403
    assert serve.quota("project", PROJECT, "acme-admin", 60).status_code == 202
    assert serve.backend_quota() == 60

    # what is allocated in Placement appears after a sync; what exceeds the quota is refused there
    allocation = {
        "allocations": {"c0000000-0000-4000-8000-000000000001": {"resources": {"VCPU": 5}}},
        "project_id": SHOP,
        "user_id": "me",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    url = f"{serve.placement}/allocations/f0000000-0000-4000-8000-000000000001"
    assert requests.put(url, json=allocation, headers=serve.headers(), timeout=200).status_code == 204
    synced = requests.post(f"{serve.api}{PROJECT}/sync", headers={"X-Auth-Token": "shop-admin"}, timeout=200)
    assert synced.status_code == 202
    eventually("the allocation is seen", lambda: serve.cores()["usage"] == 25)

    # usage is where its hosts are, so a commitment to an availability zone is used by what runs there
    assert serve.usage_by_az() == {"az-one": 17, "az-two": 8}
    wanted = {
        "service_type": "compute",
        "resource_name": "cores",
        "availability_zone": "az-one",
        "amount": 20,
        "duration": "1 hour",
    }
    made = requests.post(
        f"{serve.api}{PROJECT}/commitments/new",
        json={"commitment": wanted},
        headers={"X-Auth-Token": "shop-admin"},
        timeout=200,
    )
    assert made.status_code == 201, made.text
    eventually("the commitment is used", lambda: serve.utilisation("az-one") == (20, 17))

    allocation["allocations"] = {"c0000000-0000-4000-8000-000000000001": {"resources": {"VCPU": 40}}}
    url = f"{serve.placement}/allocations/f0000000-0000-4000-8000-000000000002"
    refused = requests.put(url, json=allocation, headers=serve.headers(), timeout=200)
    assert refused.status_code == 409
    assert "placement.quota.exceeded" in refused.text

    # a change behind Limes's back is put right
    body = {"quotas": {"VCPU": {"limit": 1000}, "MEMORY_MB": {"limit": 81920}, "DISK_GB": {"limit": 500}}}
    answer = requests.put(f"{serve.placement}/quotas/{SHOP}", json=body, headers=serve.headers(), timeout=200)
    assert answer.ok, answer.text
    assert answer.json()["quotas"]["VCPU"]["limit"] == 1000
    eventually("the next scrape puts it right", lambda: serve.backend_quota() == 60)

    # Ctrl-C, and a second start
    assert serve.interrupt() == 0
    with pytest.raises(requests.ConnectionError):
        serve.get("/v1/domains")
    assert "Loading the sample data" not in serve.start()
    assert (serve.cores()["quota"], serve.cores()["usage"]) == (60, 25)
    assert serve.interrupt() == 0
    logs = "".join(path.read_text() for path in (serve.folder / "var").glob("*.log"))
    assert "Traceback" not in logs
