"""Keeps secrets out of what is shown and stored: passwords, tokens and keys, wherever they come from.

All of our exceptions and all log lines go through `redact`. It knows what secrets look like (a password in a URL, a
header with a token, Keystone's tokens, `"password": "..."`), and the ones from the configuration (`know`).
"""

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

_PARTS = re.compile(r"(?P<before>[^/?#]*://(?:[^/?#]*@)?)(?P<hosts>[^/?#]*)(?P<after>.*)", re.DOTALL)


def split_url(url: str) -> SplitResult:
    """Like `urlsplit`, with the first of several hosts. Raises `ValueError` if it is not a URL."""
    match = _PARTS.fullmatch(url)
    return urlsplit(url if match is None else f"{match['before']}{match['hosts'].split(',')[0]}{match['after']}")


def hosts_of(url: str) -> list[str]:
    """Returns the hosts of a URL, each with its port if there is one. A URL without any has one that is empty."""
    match = _PARTS.fullmatch(url)
    return match["hosts"].split(",") if match else [""]


HIDDEN = "***"
TELLING_KEY = re.compile(r"passw|passcode|secret|token|api_?key", re.IGNORECASE)

_SHORTEST = 6
"""Anything shorter is no secret, and hiding it would blacken half of each text."""
_OUR_WORDS = frozenset({"limes", "placement", "keystone", "openstack", "password", "secret", "service", "postgres"})
"""Words of our own texts, which are no secrets either."""

_SIGNS = ("://", "oken", "earer", "asic ", "aaaaa", "eyj", "passw", "passc", "passp", "secret", "ookie", "uthor", "key")
"""In lower case: a text without any of them has no secret that its form would show."""

_KEY = r"(?:password|passwd|passcode|passphrase|secret|token|api[_-]?key)"

_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    # scheme://user:password@host; a password may have an @ in it
    (re.compile(r"""(?<=://)([^\s/?#"'<>:@]*):[^\s/?#"'<>]+@"""), rf"\1:{HIDDEN}@"),
    (re.compile(r"""(?<=://)[^\s/?#"'<>:@]{16,}@"""), f"{HIDDEN}@"),
    # X-Auth-Token: value; 'Authorization': 'Basic value'
    (
        re.compile(
            r"""(?ix)
            (\b(?:x-[\w-]{0,40}(?:token|secret|key) | transfer-token | (?:proxy-)?authorization | (?:set-)?cookie)
            \\?["']?\s*[:=]\s*(?:b?\\?["'])?)(?:(?:bearer|basic|digest|negotiate)\s+)?[^\s"'\\,;)}\]]+"""
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,}"), rf"\1 {HIDDEN}"),
    (re.compile(r"gAAAAA[\w-]{10,}={0,2}"), HIDDEN),  # a Fernet token
    (re.compile(r"\beyJ[\w-]{5,}\.[\w-]+\.[\w-]+"), HIDDEN),  # a JSON Web Signature
    # "password": "value", also within a JSON string, and what Python prints of a mapping
    (re.compile(rf"""(?i)({_KEY}"?\s*[:=]\s*)"(?:[^"\\]|\\.)*\""""), rf'\1"{HIDDEN}"'),
    (re.compile(rf"""(?i)({_KEY}(?:\\")?\s*[:=]\s*)\\"(?:\\\\\\"|\\[^"]|[^"\\])*\\\""""), rf'\1\\"{HIDDEN}\\"'),
    (re.compile(rf"""(?i)({_KEY}'?\s*[:=]\s*b?)'(?:[^'\\]|\\.)*'"""), rf"\1'{HIDDEN}'"),
    (re.compile(rf"""(?i)({_KEY}\s?=\s?)[^\s"'\\,;&)}}\]]+"""), rf"\1{HIDDEN}"),
)

_TRANSFER_TOKEN = re.compile(r"\b[0-9a-f]{48}\b")
"""A transfer token, with which anybody could take a commitment. Found in paths, too."""

_known: frozenset[str] = frozenset()
_known_pattern: re.Pattern[str] | None = None


def know(secrets: Iterable[str]) -> None:
    """Has `redact` hide these as well, in this process, from now on."""
    global _known, _known_pattern
    _known |= {each for each in secrets if len(each) >= _SHORTEST and each.lower() not in _OUR_WORDS}
    _known_pattern = pattern_of(_known)


def forget() -> None:
    global _known, _known_pattern
    _known, _known_pattern = frozenset(), None


def redact(text: str) -> str:
    if _known_pattern is not None:
        text = _known_pattern.sub(HIDDEN, text)
    text = _TRANSFER_TOKEN.sub(HIDDEN, text)
    lower = text.lower()
    for sign in _SIGNS:
        if sign in lower:
            for form, instead in _FORMS:
                text = form.sub(instead, text)
            break
    return text


def line_of(error: BaseException) -> str:
    """Returns the text of an error in one line, and the name of its type where it has none."""
    return redact(" ".join(str(error).split())) or type(error).__name__


def secrets_of(value: Any) -> Iterator[str]:
    """Yields values that a model hides (`repr=False`), passwords of URLs, and the values of telling keys."""
    from pydantic import BaseModel, SecretStr  # errors and logs need this module, but no models

    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            item = getattr(value, name)
            if not info.repr and isinstance(item, str) and "://" not in item:
                yield item
            yield from secrets_of(item)
    elif isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, str):
        with contextlib.suppress(ValueError):
            password = split_url(value).password if "://" in value else None
            yield from (password, unquote(password)) if password else ()
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str) and TELLING_KEY.search(str(key)):
                yield item
            yield from secrets_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secrets_of(item)


def pattern_of(secrets: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(secrets, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
