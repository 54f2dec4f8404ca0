"""Version documents, without a token; whose token a request has, and what that may do."""

from collections.abc import Mapping

from limes.api.answers import Link
from limes.api.call import Call
from limes.api.parameters import Text
from limes.app import caller_answers as answers
from limes.catalog.catalog import Ref
from limes.kernel.errors import BadRequest
from limes.quota.rules import LowPrivLimit
from limes.web.call import Answer

DOMAIN_ID = Text("domain_id", "What may be done with this domain, and with every project of it.")
PROJECT_ID = Text("project_id", "What may be done with this project. Goes with `domain_id` only.")


def show_rights(call: Call) -> Answer:
    """Says what the request's own token may do: to the cloud, to a domain and to a project.

    Ids are not looked up: the answer says nothing of what exists.
    """
    domain_id, project_id = DOMAIN_ID.of(call.req), PROJECT_ID.of(call.req)
    if project_id and not domain_id:
        raise BadRequest("query parameter project_id: goes with domain_id only")
    domain = {"domain_id": domain_id} if domain_id else {}
    project = {**domain, "project_id": project_id} if project_id else domain
    deps, lowpriv = call.deps, call.limes.lowpriv

    def asks(rule: str, target: Mapping[str, str]) -> bool:
        return deps.policy.allows(rule, call.identity, target)

    of_domains, of_projects = _resources(call, lowpriv.domains), _resources(call, lowpriv.projects)
    can_take_back = call.limes.settings.commitments.self_delete_grace > 0  # new commitments, for a while
    others = {
        "grant_growing": of_projects.has_growing and asks("project:grant_quota", project),
        "take_back_commitments": can_take_back and asks("project:edit", project),
    }
    shown = answers.Rights(
        cloud=answers.cloud_rights(asks),
        domain=answers.rights_below(answers.DomainRights, "domain", asks, domain, of_domains),
        project=answers.rights_below(answers.ProjectRights, "project", asks, project, of_projects, **others),
    )
    return Answer(document=answers.RightsAnswer(rights=shown))


def _resources(call: Call, limits: Mapping[Ref, LowPrivLimit]) -> answers.Resources:
    """Returns the resources whose quota people set. Where no rule is about single resources, one stands for all."""
    with_quota = [ref for ref in call.catalog.refs() if call.catalog.tracks_quota(ref)]
    refs = [ref for ref in with_quota if call.catalog.autogrow(ref) is None]
    has_growing = len(refs) < len(with_quota)
    limited = [ref for ref in refs if ref in limits]
    if not call.deps.policy.mentions("service_type", "resource_name"):
        refs, limited = refs[:1], limited[:1]
    return answers.Resources(refs, limited, has_growing=has_growing)


def list_versions(call: Call) -> Answer:
    """Shows all versions."""
    return Answer(300, answers.VersionsAnswer(versions=[_version(call)]))  # 300, as OpenStack services answer


def show(call: Call) -> Answer:
    """Shows this version."""
    return Answer(document=answers.VersionAnswer(version=_version(call)))


def show_identity(call: Call) -> Answer:
    """Shows user, scope and roles of the request's own token: for clients that have no Keystone to ask."""
    return Answer(document=answers.render_identity(call.identity))


def _version(call: Call) -> answers.Version:
    base = (call.limes.settings.catalog_url or call.req.prefix).rstrip("/")
    links = [Link(rel="self", href=f"{base}/v1"), Link(rel="describedby", href=f"{base}/v1/", type="application/json")]
    return answers.Version(status="CURRENT", id="v1", links=links)
