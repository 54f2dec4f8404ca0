"""Parts that request bodies of several features share."""

from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, StrictInt, StrictStr, StringConstraints, model_validator

from limes.web.call import RequestBody

AnyPart = TypeVar("AnyPart", bound=RequestBody)
Amount = Annotated[StrictInt, Field(ge=0)]
"""A negative number is no amount; the use case decides whether zero is one."""
UnitName = Annotated[StrictStr | None, AfterValidator(lambda name: None if name == "UNSPECIFIED" else name)]


class QuotaBody(RequestBody):
    """The document of PUT and simulate-put. `null` is one that changes nothing."""

    @model_validator(mode="before")
    @classmethod
    def read_null(cls, document: Any) -> Any:
        return {} if document is None else document


class OfService(RequestBody, Generic[AnyPart]):
    type: StrictStr
    resources: tuple[AnyPart, ...] | None = None


class OfScope(RequestBody, Generic[AnyPart]):
    services: tuple[AnyPart, ...] | None = None


class OfCommitment(RequestBody, Generic[AnyPart]):
    commitment: AnyPart


class OfDomain(QuotaBody, Generic[AnyPart]):
    domain: AnyPart | None = None


class OfProject(QuotaBody, Generic[AnyPart]):
    project: AnyPart | None = None


MOST_CHARACTERS = 2000


def _without_control_characters(text: str) -> str:
    if any(not (character.isprintable() or character in "\n\t") for character in text.replace("\r\n", "\n")):
        raise ValueError("control characters are not allowed")
    return text.replace("\r\n", "\n")


Text = Annotated[
    StrictStr, StringConstraints(strip_whitespace=True, max_length=MOST_CHARACTERS),
    AfterValidator(_without_control_characters),
]  # fmt: skip
NeededText = Annotated[Text, Field(min_length=1)]


class StrictBody(RequestBody):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
