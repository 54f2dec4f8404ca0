"""What errors say, made comparable: clients look for upstream's words (Nova's functional tests do, for example)."""

import re
from collections.abc import Mapping
from typing import Any

_LIST = re.compile(r"'([^']*, [^']*)'")
_TRAITS = re.compile(r"(No such trait\(s\)): .*")
_MADE_UP = re.compile(r"^(Unable to create resource provider .*), \S+:(?= Object action)")
"""The UUID of a provider that was not created may be one that the server thought of."""

_DELIBERATE = (
    # upstream shows what its database, its JSON parser and its interpreter say
    (r"Update conflict: \(.*IntegrityError", r"Update conflict: there is inventory of class \w+ already\."),
    (r"Malformed JSON: ", r"Malformed JSON: "),
    (r"Invalid microversion: invalid version string: (.*); .*", r"Invalid microversion: invalid version string: "),
    # it shows its regular expressions, of which ours forbid a line feed at the end
    (r"(.*) does not match '.*'", r".* does not match '.*'"),
    (r"Invalid query string parameters: '' does not match", r"Invalid query string parameters: '' should be non-empty"),
    # it answers UUIDs without dashes in some places
    (r"Allocation for resource provider '\w{32}'", r"Allocation for resource provider '[\w-]{36}'"),
    # of several mistakes in one body or parameter it tells another one
    (r"JSON does not validate: ", r"JSON does not validate: "),
    (r".*member_of", r"Forbidden member_of parameters are not supported in the specified microversion"),
    # it takes UTF-8 in a path for Latin-1
    (r"No such .*[^\x00-\x7f]", r"No such .*[^\x00-\x7f]"),
    (r".*CUSTOM_[^\x00-\x7f]", r".*CUSTOM_[^\x00-\x7f]"),
    # it has no words for DELETE of all inventories below 1.5
    (r"$", r"The method specified is not allowed for this resource\."),
)


def text_of(error: Mapping[str, Any]) -> str:
    """The part of an error's detail that says what is wrong: on one line, lists in order, without the JSON schema."""
    text = " ".join(error["detail"].partition("\n\n")[2].split())
    text = text.partition(" Failed validating ")[0]
    text = _MADE_UP.sub(r"\1 ...:", text)
    text = _TRAITS.sub(r"\1", text)
    return _LIST.sub(lambda found: "'" + ", ".join(sorted(found[1].split(", "))) + "'", text)


def is_deliberate(theirs: str, ours: str) -> bool:
    """Whether two texts differ for one of the reasons above."""
    return any(re.match(one, theirs) and re.match(other, ours) for one, other in _DELIBERATE)
