"""`ETag`, `If-Match` and `If-None-Match` (RFC 9110, sections 8.8.3 and 13.1) on what PUT can set.

The tag stands for the quotas and bursting, not for the bytes of an answer: usage comes and goes with each scrape, and a
PUT is not to fail for it. So answers that carry one are not to be cached (`no-store`), and a client that asks with
`If-None-Match` asks whether quotas have changed.
"""

import re

import falcon

from limes.actions.precondition import Unchanged
from limes.api.parameters import IF_MATCH, IF_NONE_MATCH, Header
from limes.errors import BadRequest

_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')


def condition_of(req: falcon.Request) -> Unchanged | None:
    """What `If-Match` demands; None where that is nothing, or that the thing exists (`*`). Raises `BadRequest`.

    Weak tags never match here.
    """
    tags = _tags(req, IF_MATCH)
    return None if tags is None else Unchanged(frozenset(tag for weak, tag in tags if not weak))


def answer_unchanged(req: falcon.Request, resp: falcon.Response, tag: str) -> bool:
    """Puts the tag into the answer. If `If-None-Match` names it, the answer is complete with 304, and this true.

    Raises `BadRequest`.
    """
    resp.set_header("etag", f'"{tag}"')
    resp.set_header("cache-control", "no-store")
    asked = IF_NONE_MATCH.of(req) is not None
    tags = _tags(req, IF_NONE_MATCH)
    if not asked or (tags is not None and all(known != tag for _, known in tags)):
        return False
    resp.status = falcon.HTTP_304
    return True


def _tags(req: falcon.Request, header: Header) -> list[tuple[str, str]] | None:
    """Pairs of `W/` or nothing, and the tag without quotes; None without the header and for `*`."""
    text = header.of(req)
    if text is None or text.strip() == "*":
        return None
    found = _TAG.findall(text)
    if not found or _TAG.sub("", text).strip(", \t"):
        raise BadRequest(f'header {header.name}: expected * or entity tags in double quotes, such as "0123abcd"')
    return found
