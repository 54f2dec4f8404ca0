"""What a change of quotas is conditional on, whatever a proxy in between has made of the entity tag."""

from collections.abc import Mapping
from typing import Any

import pytest
import requests
from keystoneauth1.session import Session
from limes_osc.client import LimesClient
from requests.adapters import BaseAdapter


class Proxy(BaseAdapter):
    """Answers each request with a domain, and with the headers that it was made with."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__()
        self._headers = headers

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        answer = requests.Response()
        answer.status_code, answer.request, answer._content = 200, request, b'{"domain": {}}'
        answer.headers.update({"Content-Type": "application/json", **self._headers})
        return answer

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("headers", "condition"),
    [({"etag": '"0a1b"'}, {"If-Match": '"0a1b"'}), ({"etag": 'W/"0a1b"'}, {"If-Match": '"0a1b"'}), ({}, {})],
)
def test_the_condition(headers: dict[str, str], condition: dict[str, str]) -> None:
    session = requests.Session()
    session.mount("http://", Proxy(headers))
    limes = LimesClient(Session(session=session), "http://limes.example.com")
    assert limes.get_with_condition("/domains/d") == ({"domain": {}}, condition)
