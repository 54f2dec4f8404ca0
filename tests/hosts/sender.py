"""Requests to one host, or to one of several."""

import random
import threading
from typing import Any

import requests

from tests.hosts.hosts import Host


class Sender:
    """Each thread has an HTTP connection of its own to each host."""

    def __init__(self, *hosts: Host) -> None:
        self._hosts = hosts
        self._local = threading.local()

    def send(self, process: str, method: str, path: str, **options: Any) -> requests.Response:
        """As `Send` of the clients."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
            self._local.session.trust_env = False
        url = random.choice(self._hosts).url(process) + path
        answer: requests.Response = self._local.session.request(method, url, timeout=200, **options)
        return answer
