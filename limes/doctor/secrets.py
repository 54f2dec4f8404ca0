"""Keeps secrets out of what is shown, whoever has put them into an error's text."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, SecretStr

_SHORTEST = 4
"""Shorter ones would blacken half of each text, and are no secrets."""
_TELLING_KEY = re.compile(r"password|secret|token", re.IGNORECASE)
_HIDDEN = "***"


class Redactor:
    """Replaces each secret of the settings and of the environment by three stars."""

    def __init__(self, settings: BaseModel | None, environ: Mapping[str, str]) -> None:
        found = {value for key, value in environ.items() if _TELLING_KEY.search(key)}
        for key in ("LIMES_DATABASE_URL", "LIMES_PLACEMENT_DATABASE_URL", "LIMES_AUDIT_RABBITMQ_URL"):
            found.update(_of_url(environ.get(key, "")))
        if settings is not None:
            found.update(_of_model(settings))
        known = sorted((one for one in found if len(one) >= _SHORTEST), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return self._pattern.sub(_HIDDEN, text) if self._pattern else text


def _of_model(model: BaseModel) -> Iterator[str]:
    """What the models mark as not to be shown (`repr=False`), passwords of URLs, and telling keys of `params`."""
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if not info.repr and isinstance(value, str) and "://" not in value:
            yield value
        yield from _of_value(value)


def _of_value(value: Any) -> Iterator[str]:
    if isinstance(value, BaseModel):
        yield from _of_model(value)
    elif isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, str):
        yield from _of_url(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str) and _TELLING_KEY.search(str(key)):
                yield item
            yield from _of_value(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _of_value(item)


def _of_url(text: str) -> Iterator[str]:
    if "://" not in text:
        return
    try:
        password = urlsplit(text).password
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)
