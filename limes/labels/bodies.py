"""Request bodies about labels. Unknown keys are refused: they would be lost."""

from pydantic import StrictStr

from limes.api.bodies import StrictBody


class LabelsBody(StrictBody):
    """All labels that a project shall have: values by key."""

    labels: dict[StrictStr, StrictStr]
