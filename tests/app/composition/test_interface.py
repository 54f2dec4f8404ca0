"""`identity.keystone.interface` reaches the plugins, unless their params name another one."""

from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.exceptions import ClientException
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from limes.app.composition.cluster import open_backends
from limes.app.settings import parse
from limes.auth.session import CloudSession
from limes.backends import BackendError, ProjectInfo
from limes.backends.base import DomainInfo
from tests.support.processes import free_port


class Catalog(Token):
    """Remembers which addresses it was asked for, and has none that answers."""

    def __init__(self) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        super().__init__(self.url, "secret")
        self.asked: set[Any] = set()

    def get_endpoint(self, session: Session, **kwargs: Any) -> str:
        self.asked.add(kwargs.get("interface"))
        return self.url

    def get_endpoint_data(self, session: Session, **kwargs: Any) -> Any:
        self.asked.add(kwargs.get("interface"))
        return super().get_endpoint_data(session, **kwargs)


@pytest.mark.parametrize(("params", "expected"), [({}, "internal"), ({"interface": "admin"}, "admin")])
def test_plugins_ask_for_the_configured_addresses(params: dict[str, str], expected: str, tmp_path: Path) -> None:
    settings = parse(
        {
            "availability_zones": ["a"],
            "discovery": {"method": "list", "params": params},
            "services": [
                {"service_type": "dns", "type": "dns", "params": params},
                {"service_type": "volume", "type": "object-store", "params": params},
            ],
            "identity": {"method": "sample", "sample": {}},
        },
        {},
        tmp_path,
    )
    project = ProjectInfo("p", "p", "d", DomainInfo("d", "d"))
    for name in ("dns", "volume", "discovery"):
        catalog = Catalog()
        backends = open_backends(settings, CloudSession(Session(catalog), None, interface="internal"))
        with pytest.raises((BackendError, ClientException)):
            list(backends.discovery.list_domains()) if name == "discovery" else backends.quota[name].report_usage(
                project
            )
        assert catalog.asked == {expected}, name
