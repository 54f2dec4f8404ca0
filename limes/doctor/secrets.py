"""Keeps secrets out of a diagnosis, which is made to be sent to others: even short ones are hidden."""

from collections.abc import Mapping

from pydantic import BaseModel

from limes.redaction import HIDDEN, TELLING_KEY, pattern_of, redact, secrets_of

_SHORTEST = 4
"""Shorter ones would blacken half of each text, and are no secrets."""


class Redactor:
    """Replaces each secret of the settings and of the environment by three stars, and all that looks like one."""

    def __init__(self, settings: BaseModel | None, environ: Mapping[str, str]) -> None:
        known = {value for key, value in environ.items() if TELLING_KEY.search(key)}
        known.update(secrets_of([value for key, value in environ.items() if key.startswith("LIMES_")]))
        known.update(secrets_of(settings))
        self._pattern = pattern_of(secret for secret in known if len(secret) >= _SHORTEST)

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return redact(self._pattern.sub(HIDDEN, text) if self._pattern else text)
