"""The labels of a project: what requests bring and what is answered."""

from collections.abc import Mapping

from limes.api.bodies import StrictBody
from limes.api.call import Call
from limes.kernel.validation.shape import Shape
from limes.labels import labels, rules
from limes.projects.scope import find
from limes.web.call import Answer


class LabelsBody(StrictBody):
    """All labels that a project shall have."""

    labels: rules.Labels


class LabelsAnswer(Shape):
    """The labels of a project, sorted by key."""

    labels: rules.Labels


def show_labels(call: Call) -> Answer:
    """Shows the labels of a project."""
    return _answer(labels.labels_of(call.limes, call.place))


def set_labels(call: Call) -> Answer:
    """Replaces all labels of a project: 200, with the new ones."""
    find(call.engine, call.place)
    wanted = call.body(LabelsBody).labels
    labels.replace_labels(call.as_caller(), call.place, wanted)
    return _answer(wanted)


def _answer(found: Mapping[str, str]) -> Answer:
    return Answer(document=LabelsAnswer(labels=dict(sorted(found.items()))))
