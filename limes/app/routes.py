"""The Limes API as a table: path, method, and what the OpenAPI document says about it. Each feature has its part of it
in its `routes`.

404, 405 and `Allow`, the paths without a token, the OpenAPI document and the requests in the documentation of the
policy rules follow from it.
"""

from functools import cache

from limes.api import openapi, policy
from limes.api.call import GET, Call, Operation
from limes.app import caller_answers, features
from limes.app import caller_handlers as caller
from limes.auth.policy import Rule
from limes.web import encoding, operation
from limes.web.call import Answer

_LEVELS = ("project", "domain", "cluster", "user")


def show_openapi(call: Call) -> Answer:
    """Shows this document."""
    return Answer(data=_openapi())


_VERSIONS = {
    "/": GET(caller.list_versions, None, {300: caller_answers.VersionsAnswer}, public=True),
    "/v1/": GET(caller.show, None, {200: caller_answers.VersionAnswer}, public=True),
    "/v1/openapi.json": GET(show_openapi, None, {200: caller_answers.Document}, public=True),
    "/v1/identity": GET(caller.show_identity, None, {200: caller_answers.IdentityAnswer}),
    "/v1/rights": GET(
        caller.show_rights, None, {200: caller_answers.RightsAnswer}, parameters=(caller.DOMAIN_ID, caller.PROJECT_ID)
    ),
}


def _sections() -> dict[str, operation.Table[Operation]]:
    """Puts together what the features have. Several of them may have methods of one path."""
    sections: dict[str, dict[str, dict[str, Operation]]] = {"versions": _VERSIONS}
    for file in features.files("routes"):
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
    *policy.WHO_IS_WHO,
    *sorted(features.entries("routes", "RULES"), key=lambda rule: _LEVELS.index(rule.name.partition(":")[0])),
)
"""The policy rules of the Limes API."""

DOCUMENTED_RULES = operation.document_rules(RULES, ROUTES)


@cache
def _openapi() -> bytes:
    return encoding.dump(openapi.build(SECTIONS, DOCUMENTED_RULES))
