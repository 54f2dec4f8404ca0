"""Requests for labels of projects."""

from limes.api import policy
from limes.api.call import GET, PUT
from limes.api.levels import PROJECT
from limes.labels import handlers

_ANSWER = {200: handlers.LabelsAnswer}

SECTIONS = {
    "projects": {
        f"{PROJECT}/labels": GET(handlers.show_labels, "project:show", _ANSWER, (404,))
        | PUT(handlers.set_labels, "project:set_labels", _ANSWER, (404, 422), body=handlers.LabelsBody)
    }
}

RULES = tuple(policy.rules("project", set_labels=("project_editor", "Replace the labels of a project.")))
