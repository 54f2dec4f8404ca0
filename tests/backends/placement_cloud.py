"""Providers, inventories and allocations in a Placement, made over HTTP."""

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import requests

from limes.db.engine import Engine
from tests.placement.conformance.servers import make_database
from tests.placement.world import World


@dataclass
class PlacementCloud:
    """A Placement that may have other things in it too: names are made unique."""

    url: str
    token: str = "admin"

    def request(self, method: str, path: str, **body: Any) -> requests.Response:
        """A request at the newest microversion; anything but a success fails the test."""
        answer = requests.request(
            method,
            self.url + path,
            headers={"X-Auth-Token": self.token, "OpenStack-API-Version": "placement 1.39"},
            timeout=120,
            **body,
        )
        assert answer.status_code < 400, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer

    def provider(
        self,
        name: str,
        inventories: dict[str, dict[str, Any]],
        *,
        parent: str | None = None,
        traits: tuple[str, ...] = (),
        aggregates: tuple[str, ...] = (),
    ) -> str:
        """Makes a provider and answers its UUID."""
        id_ = str(uuid.uuid4())
        self.request(
            "POST", "/resource_providers", json={"uuid": id_, "name": f"{name}-{id_}", "parent_provider_uuid": parent}
        )
        path = f"/resource_providers/{id_}"
        if inventories:
            document = {"resource_provider_generation": 0, "inventories": inventories}
            self.request("PUT", f"{path}/inventories", json=document)
        for trait in (trait for trait in traits if trait.startswith("CUSTOM_")):
            self.request("PUT", f"/traits/{trait}")
        if traits:
            generation = self.request("GET", path).json()["generation"]
            document = {"resource_provider_generation": generation, "traits": list(traits)}
            self.request("PUT", f"{path}/traits", json=document)
        if aggregates:
            generation = self.request("GET", path).json()["generation"]
            document = {"resource_provider_generation": generation, "aggregates": list(aggregates)}
            self.request("PUT", f"{path}/aggregates", json=document)
        return id_

    def allocate(self, project_id: str, provider: str, consumer_type: str = "INSTANCE", **resources: int) -> str:
        """Makes an allocation of a new consumer and answers its UUID."""
        consumer = str(uuid.uuid4())
        document = {
            "allocations": {provider: {"resources": resources}},
            "project_id": project_id,
            "user_id": "tester",
            "consumer_generation": None,
            "consumer_type": consumer_type,
        }
        self.request("PUT", f"/allocations/{consumer}", json=document)
        return consumer


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def like_upstream(app: Any) -> Any:
    """The app, which does not tell clients that it has usage groups."""

    def answer(environ: Any, start_response: Any) -> Any:
        chunks = app(environ, start_response)
        return chunks if environ["PATH_INFO"] != "/" else [one.replace(b"usage_", b"other_") for one in chunks]

    return answer


@contextlib.contextmanager
def our_placement(url: str, around: Callable[[Any], Any] = lambda app: app) -> Iterator[PlacementCloud]:
    """Our own Placement on an empty database, in threads of this process."""
    make_database(url)
    engine = Engine(url)
    server = make_server("127.0.0.1", 0, around(World(engine).app), server_class=_Server, handler_class=_Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield PlacementCloud(f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    server.server_close()
    engine.close()
