"""The Limes API as a table: path, method, and what the OpenAPI document says about it. Each feature has its part of it
in its `routes`.

404, 405 and `Allow`, the paths without a token, the OpenAPI document and the requests in the documentation of the
policy rules follow from it.
"""

from functools import cache

from limes.api import openapi
from limes.api.call import GET, Call, Operation
from limes.api.policy import WHO_IS_WHO
from limes.app import caller_handlers as caller
from limes.app.caller_answers import Document, IdentityAnswer, RightsAnswer, VersionAnswer, VersionsAnswer
from limes.app.features import entries, files
from limes.auth.policy import Rule
from limes.web.call import Answer
from limes.web.encoding import dump
from limes.web.operation import Table, document_rules

_LEVELS = ("project", "domain", "cluster", "user")


def show_openapi(call: Call) -> Answer:
    """Shows this document."""
    return Answer(data=_openapi())


_VERSIONS = {
    "/": GET(caller.list_versions, None, {300: VersionsAnswer}, public=True),
    "/v1/": GET(caller.show, None, {200: VersionAnswer}, public=True),
    "/v1/openapi.json": GET(show_openapi, None, {200: Document}, public=True),
    "/v1/identity": GET(caller.show_identity, None, {200: IdentityAnswer}),
    "/v1/rights": GET(caller.show_rights, None, {200: RightsAnswer}, parameters=(caller.DOMAIN_ID, caller.PROJECT_ID)),
}


def _sections() -> dict[str, Table[Operation]]:
    """Puts together what the features have. Several of them may have methods of one path."""
    sections: dict[str, dict[str, dict[str, Operation]]] = {"versions": _VERSIONS}
    for file in files("routes"):
        for section, table in file.SECTIONS.items():
            for path, operations in table.items():
                methods = sections.setdefault(section, {}).setdefault(path, {})
                assert not methods.keys() & operations.keys(), f"two features have {path}"
                methods.update(operations)
    return dict(sections)


SECTIONS = _sections()
"""By section of the documentation, path and method."""

ROUTES = {path: operations for section in SECTIONS.values() for path, operations in section.items()}

RULES: tuple[Rule, ...] = (
    *WHO_IS_WHO,
    *sorted(entries("routes", "RULES"), key=lambda rule: _LEVELS.index(rule.name.partition(":")[0])),
)
"""The policy rules of the Limes API."""

DOCUMENTED_RULES = document_rules(RULES, ROUTES)


@cache
def _openapi() -> bytes:
    return dump(openapi.build(SECTIONS, DOCUMENTED_RULES))
