"""The labels of a project."""

from limes.api.call import Call
from limes.labels import answers, bodies, store
from limes.projects.scope import find
from limes.web.call import Answer


def show_labels(call: Call) -> Answer:
    """Shows the labels of a project."""
    return Answer(document=answers.render_labels(store.labels_of(call.limes, call.place)))


def set_labels(call: Call) -> Answer:
    """Replaces all labels of a project: 200, with the new ones."""
    find(call.engine, call.place)
    labels = call.body(bodies.LabelsBody).labels
    store.replace_labels(call.as_caller(), call.place, labels)
    return Answer(document=answers.render_labels(labels))
