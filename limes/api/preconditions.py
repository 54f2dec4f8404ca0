"""Preconditions. `ETag`, `If-Match` and `If-None-Match` (RFC 9110, sections 8.8.3 and 13.1) are about what PUT can set.
The tag stands for the quotas and bursting, not for the bytes of an answer: usage changes with each scrape, and a PUT
must not fail for that. Nothing stores answers behind a token (`no-store`), so a client that sends `If-None-Match` asks
whether quotas have changed. Compressed answers have the same tag for the same reason; a weak one could not be used with
`If-Match`.

Headers are read more strictly than Falcon does (`docs/adr/0020-one-table-per-api.md`): a header with a mistake is
refused, because to ignore it would carry out a PUT without its condition.
"""

import re
from collections.abc import Callable
from typing import Any

import falcon

from limes.api.parameters import IF_MATCH, IF_NONE_MATCH, Header
from limes.kernel.errors import BadRequest
from limes.quota.rules import IfMatch
from limes.web.call import Answer

_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')


def condition_of(req: falcon.Request) -> IfMatch | None:
    """Returns what `If-Match` demands; None for nothing, and for `*`: that the thing exists. Raises `BadRequest`. Weak
    tags never match here."""
    tags = _tags(req, IF_MATCH)
    return None if tags is None else IfMatch(frozenset(tag for weak, tag in tags if not weak))


def answer_tagged(req: falcon.Request, tag: str, render: Callable[[], Any]) -> Answer:
    """Returns the document with its tag, or 304 if `If-None-Match` names the tag. Raises `BadRequest`."""
    headers = {"etag": f'"{tag}"'}
    if IF_NONE_MATCH.of(req) is not None:
        tags = _tags(req, IF_NONE_MATCH)
        if tags is None or any(known == tag for _, known in tags):
            return Answer(304, headers=headers)
    return Answer(document=render(), headers=headers)


def _tags(req: falcon.Request, header: Header) -> list[tuple[str, str]] | None:
    """Returns pairs of `W/` or nothing, and the tag without quotes; None without the header and for `*`."""
    text = header.of(req)
    if text is None or text.strip() == "*":
        return None
    tags = _TAG.findall(text)
    if not tags or _TAG.sub("", text).strip(", \t"):
        raise BadRequest(f'header {header.name}: expected * or entity tags in double quotes, such as "0123abcd"')
    return tags
