"""Discovery, and scrapes on demand."""

from limes.api.answers import Id
from limes.api.call import Call
from limes.collector import discover as discovery
from limes.kernel.validation.shape import Shape
from limes.web.call import Answer


class NewDomainsAnswer(Shape):
    """Domains that were not known before."""

    new_domains: list[Id]


class NewProjectsAnswer(Shape):
    """Projects that were not known before."""

    new_projects: list[Id]


def discover_domains(call: Call) -> Answer:
    """Looks for new domains in Keystone: 204 if there are none, else 202 and their ids."""
    uuids = discovery.discover_domains(call.as_caller())
    return Answer(202, NewDomainsAnswer(new_domains=[*map(Id, uuids)])) if uuids else Answer(204)


def discover_projects(call: Call) -> Answer:
    """Looks for new projects in Keystone: 204 if there are none, else 202 and their ids."""
    uuids = discovery.discover_projects(call.as_caller(), call.params["domain_id"])
    return Answer(202, NewProjectsAnswer(new_projects=[*map(Id, uuids)])) if uuids else Answer(204)


def sync(call: Call) -> Answer:
    """Asks for a scrape as soon as possible: 202 without a body."""
    discovery.request_sync(call.as_caller(), call.params["domain_id"], call.params["project_id"])
    return Answer(202)
