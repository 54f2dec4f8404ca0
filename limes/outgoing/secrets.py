"""What a server must not tell back: the credentials that it was sent."""

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any

import requests

from limes.redaction import TELLING_KEY, pattern_of, redact, secrets_of

_LONGEST_ERROR = 256 * 1024
"""Bytes of an error's body that anybody could want to read."""
_SHORTEST, _SHORTEST_IN_DATA = 6, 20
"""Characters: what is shorter is left, in errors and in what may well be data."""


def without_secrets(body: bytes, status: int, request: requests.PreparedRequest) -> bytes:
    """Returns the body of an answer without the credentials of its request; errors also lose what looks like some."""
    is_error = status >= 400
    shortest = _SHORTEST if is_error else _SHORTEST_IN_DATA
    body = body[:_LONGEST_ERROR] if is_error else body
    sent = [
        credential
        for credential in set(_credentials(request))
        if len(credential) >= shortest and credential.encode() in body
    ]
    if not sent and not is_error:
        return body
    text = body.decode(errors="surrogateescape")
    pattern = pattern_of(sent)
    if pattern is not None:
        text = pattern.sub("***", text)
    return (redact(text) if is_error else text).encode(errors="surrogateescape")


def _credentials(request: requests.PreparedRequest) -> Iterator[str]:
    yield from secrets_of(str(request.url))
    for name, value in request.headers.items():
        if TELLING_KEY.search(name):
            yield _text(value)
        elif name.lower() in ("authorization", "cookie"):
            yield from _of_authorization(_text(value))
    if isinstance(request.body, str | bytes) and "json" in _text(request.headers.get("Content-Type", "")):
        try:
            yield from _of_json(json.loads(request.body))
        except ValueError:
            return


def _of_authorization(value: str) -> Iterator[str]:
    kind, _, credentials = value.partition(" ")
    yield credentials or kind
    if kind.lower() == "basic":
        try:
            yield base64.b64decode(credentials).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return


def _of_json(value: Any, within_secret: bool = False) -> Iterator[str]:
    """Yields texts below keys that tell of secrets: `"password": "..."`, and `"token": {"id": "..."}`."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _of_json(item, bool(TELLING_KEY.search(key)) or (within_secret and key == "id"))
    elif isinstance(value, list):
        for item in value:
            yield from _of_json(item)
    elif within_secret and isinstance(value, str):
        yield value


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
