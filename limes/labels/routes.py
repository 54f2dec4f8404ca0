"""Requests for labels of projects."""

from limes.api import call, levels, policy
from limes.labels import handlers

_ANSWER = {200: handlers.LabelsAnswer}

SECTIONS = {
    "projects": {
        f"{levels.PROJECT}/labels": call.GET(handlers.show_labels, "project:show", _ANSWER, (404,))
        | call.PUT(handlers.set_labels, "project:set_labels", _ANSWER, (404, 422), body=handlers.LabelsBody)
    }
}

RULES = tuple(policy.rules("project", set_labels=("project_editor", "Replace the labels of a project.")))
