"""A backend that hangs keeps users of the API waiting for `api.backend_timeout` only."""

import socket
from pathlib import Path

import pytest
import yaml

from limes.app.composition.api import build_api
from limes.app.composition.common import all_databases, load_settings
from limes.backends import BackendError, DomainInfo, ProjectInfo, calls

BERLIN = ProjectInfo("p-berlin", "berlin", "d-germany", DomainInfo("d-germany", "germany"))


def configuration(folder: Path, port: int) -> str:
    placement = {
        "area": "compute",
        "endpoint": f"http://127.0.0.1:{port}",
        "auth": {"type": "none"},
        "resources": {"cores": "VCPU"},
        "quota": {"store": "placement"},
    }
    return yaml.safe_dump(
        {
            "availability_zones": ["az-one"],
            "database": {"url": f"sqlite:///{folder}/limes.db"},
            "identity": {"method": "sample", "sample": {}},
            "api": {"backend_timeout": 0.2},
            "services": [{"service_type": "compute", "type": "placement", "params": placement}],
        }
    )


@pytest.mark.timeout(200)
def test_the_api_gives_up_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "limes.yaml"
    monkeypatch.setenv("LIMES_CONFIG", str(path))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        path.write_text(configuration(tmp_path, silent.getsockname()[1]))
        for database in all_databases():
            database.migrations.upgrade(database.engine)
        deps = build_api(load_settings())
        with pytest.raises(BackendError, match=r"timed out|no answer within"):
            calls.set_quota(
                deps.limes.backends.quota["compute"], deps.limes.catalog.services["compute"], BERLIN, {"cores": 5}
            )
    deps.limes.engine.close()
