"""Answers about labels."""

from collections.abc import Mapping

from limes.kernel.validation.shape import Shape


class LabelsAnswer(Shape):
    """The labels of a project: values by key, sorted by key."""

    labels: dict[str, str]


def render_labels(labels: Mapping[str, str]) -> LabelsAnswer:
    return LabelsAnswer(labels=dict(sorted(labels.items())))
