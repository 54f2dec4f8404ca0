"""The query string as pairs of key and value, in the order in which they were written; and the values, from text to
frozen types: amounts of resources, traits, aggregates and UUIDs.

The texts of the errors are part of the API: clients show their last line to people (placement-behaviour, points 5,
33 and 34).
"""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import parse_qsl
from uuid import UUID

from msgspec import Struct

from limes.kernel.errors import BadRequest
from limes.placement.errors import UNDEFINED

MAX_PARAMETERS = 1000

Pairs = Sequence[tuple[str, str]]


def parse_pairs(query_string: str) -> list[tuple[str, str]]:
    """Decodes `a=1&b=2` (`;` separates as well). A key without value has the empty string. Raises `QueryError` when it
    is not UTF-8 or has more than `MAX_PARAMETERS` parameters."""
    text = query_string.replace(";", "&")
    if text.count("&") >= MAX_PARAMETERS:
        raise QueryError(f"The query string has too many parameters: at most {MAX_PARAMETERS} are accepted.")
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as error:
        raise invalid(str(error)) from None


def values_of(pairs: Pairs, key: str) -> list[str]:
    return [value for name, value in pairs if name == key]


BAD_VALUE = "placement.query.bad_value"
MISSING_VALUE = "placement.query.missing_value"
DUPLICATE_KEY = "placement.query.duplicate_key"


class QueryError(BadRequest):
    """A query string that cannot be answered. `code` is the error code that clients see from microversion 1.23."""

    def __init__(self, message: str, code: str = UNDEFINED) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> QueryError:
    """Returns an error in the form that Placement's clients know: `Invalid query string parameters: ...`."""
    return QueryError(f"Invalid query string parameters: {message}")


ANY_TRAITS_SINCE = 39
FORBIDDEN_TRAITS_SINCE = 22
FORBIDDEN_AGGREGATES_SINCE = 32
REPEATED_AGGREGATES_SINCE = 24


class Traits(Struct, frozen=True):
    """`required`: at least one of each set. `forbidden`: none of these. Names as the client wrote them."""

    required: tuple[frozenset[str], ...] = ()
    forbidden: frozenset[str] = frozenset()

    @property
    def all_of(self) -> frozenset[str]:
        """The traits that are required without alternative: the ones alone in their set."""
        return frozenset(name for names in self.required if len(names) == 1 for name in names)

    @property
    def any_of(self) -> tuple[frozenset[str], ...]:
        return tuple(names for names in self.required if len(names) > 1)

    def conflicts(self) -> list[str]:
        return sorted({name for names in self.required if names <= self.forbidden for name in names})

    def names(self) -> Iterable[str]:
        yield from self.forbidden
        for names in self.required:
            yield from names


class Aggregates(Struct, frozen=True):
    """`member_of`: in at least one of each set. `forbidden`: in none of these. Written as `aggregate_name` does."""

    member_of: tuple[frozenset[str], ...] = ()
    forbidden: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.member_of or self.forbidden)


def parse_resources(text: str) -> dict[str, int]:
    """`VCPU:2,MEMORY_MB:1024` as amounts by resource class; of a repeated class the last amount counts."""
    if not text.strip():
        raise QueryError(_badly_formed("empty string"))
    amounts: dict[str, int] = {}
    for item in text.split(","):
        name, colon, amount_text = item.partition(":")
        if not colon or ":" in amount_text:
            raise QueryError(_badly_formed(item))
        try:
            amount = int(amount_text)
        except ValueError:
            raise QueryError(
                f"Requested resource {name} expected positive integer amount. Got: {amount_text}."
            ) from None
        if amount < 1:
            raise QueryError(f"Requested resource {name} requires amount >= 1. Got: {amount}.")
        amounts[name] = amount
    return amounts


def _badly_formed(got: str) -> str:
    return (
        "Badly formed resources parameter. Expected resources query string parameter in form: "
        f"?resources=VCPU:2,MEMORY_MB:1024. Got: {got}."
    )


def parse_traits(texts: Sequence[str], minor: int) -> Traits:
    """Returns the values of `required` (or `root_required`) at microversion 1.`minor`. From 1.39 all of `texts` must
    hold, before that only the last one counts."""
    required: list[frozenset[str]] = []
    forbidden: set[str] = set()
    for text in texts if minor >= ANY_TRAITS_SINCE else texts[-1:]:
        if text.startswith("in:"):
            required.append(_any_of(text, minor))
            continue
        for name in _trait_names(text, text, _example(minor)):
            if not name.startswith("!"):
                required.append(frozenset([name]))
            elif minor >= FORBIDDEN_TRAITS_SINCE:
                forbidden.add(name.lstrip("!"))
            else:
                raise invalid(f"Expected 'required' parameter value of the form: {_example(minor)}. Got: {text}")
    return Traits(tuple(dict.fromkeys(required)), frozenset(forbidden))


def _any_of(text: str, minor: int) -> frozenset[str]:
    form = "in:HW_CPU_X86_VMX,CUSTOM_MAGIC"
    if minor < ANY_TRAITS_SINCE:
        raise invalid(f"The format '{form}' only supported since microversion 1.{ANY_TRAITS_SINCE}. Got: {text}")
    names = _trait_names(text.removeprefix("in:"), text, form)
    if any(name.startswith("!") for name in names):
        raise invalid(f"The format '{form}' does not support forbidden traits. Got: {text}")
    return frozenset(names)


def _trait_names(text: str, whole: str, example: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(name.lstrip("!") for name in names):
        raise invalid(f"Expected 'required' parameter value of the form: {example}. Got an empty trait in: {whole}")
    return names


def _example(minor: int) -> str:
    return "HW_CPU_X86_VMX,!CUSTOM_MAGIC" if minor >= FORBIDDEN_TRAITS_SINCE else "HW_CPU_X86_VMX,CUSTOM_MAGIC"


def parse_aggregates(texts: Sequence[str], minor: int) -> Aggregates:
    """Returns the values of `member_of` at microversion 1.`minor`; all of `texts` must hold."""
    if minor < REPEATED_AGGREGATES_SINCE and len(texts) > 1:
        raise QueryError("Multiple member_of parameters are not supported")
    member_of: list[frozenset[str]] = []
    forbidden: set[str] = set()
    for text in texts:
        negated = text.startswith("!")
        if negated and minor < FORBIDDEN_AGGREGATES_SINCE:
            raise QueryError("Forbidden member_of parameters are not supported in the specified microversion")
        names = _aggregate_names(text.removeprefix("!"), text)
        if negated:
            forbidden.update(names)
        else:
            member_of.append(names)
    return Aggregates(tuple(member_of), frozenset(forbidden))


def _aggregate_names(text: str, whole: str) -> frozenset[str]:
    if text.startswith("in:"):
        values = text.removeprefix("in:").split(",")
    elif "," in text:
        raise QueryError(
            "Multiple values for 'member_of' must be prefixed with the 'in:' or '!in:' keyword using the valid "
            f"microversion. Got: {whole}"
        )
    else:
        values = [text]
    names = set()
    for value in values:
        name = aggregate_name(value)
        if name is None:
            raise invalid(f"Expected 'member_of' parameter to contain valid UUID(s). Got: {value}")
        names.add(name)
    return frozenset(names)


def aggregate_name(text: str) -> str | None:
    """Returns what an aggregate is known by, or None if `text` is no UUID. As in OpenStack Placement, it is the text
    that the client wrote: a UUID with and without dashes are two aggregates. Forms longer than a UUID (in braces, as a
    URN) do not fit in the database, and stand for the usual form."""
    usual = normal_uuid(text)
    return text if usual is not None and len(text) <= len(usual) else usual


def parse_in_tree(text: str) -> str:
    """Returns the UUID of a provider, in lower case with dashes. Spaces around it are no part of it."""
    uuid = normal_uuid(text.strip())
    if uuid is None:
        raise invalid(f"Expected 'in_tree' parameter to be a format of uuid. Got: {text}")
    return uuid


def normal_uuid(text: str) -> str | None:
    """Returns the UUID in lower case with dashes; None if it is none. Dashes, braces, `urn:uuid:` are optional."""
    digits = text.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "")
    try:
        parsed = UUID(digits)
    except ValueError:
        return None
    # UUID() reads digits as int() does, which forgives spaces and underscores; an identifier must not
    return str(parsed) if parsed.hex == digits.lower() else None


def check_names(traits: Traits, known: Mapping[str, object]) -> None:
    """Raises `QueryError` if a trait does not exist."""
    unknown = sorted({name for name in traits.names() if name not in known})
    if unknown:
        raise QueryError(f"No such trait(s): {', '.join(unknown)}.")


def check_classes(amounts: Mapping[str, int], known: Mapping[str, object]) -> None:
    """Raises `QueryError` if a resource class does not exist."""
    for name in amounts:
        if name not in known:
            raise QueryError(f"Invalid resource class in resources parameter: No such resource class {name}.")
