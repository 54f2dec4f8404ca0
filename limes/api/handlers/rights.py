"""What the caller may do."""

from collections.abc import Mapping

from limes.api import parameters
from limes.api.answers.rights import Resources, Rights, RightsAnswer, cloud_rights, domain_rights, project_rights
from limes.api.call import Call
from limes.core.catalog import Ref
from limes.core.quota import LowPrivLimit
from limes.errors import BadRequest
from limes.web.call import Answer


def show_rights(call: Call) -> Answer:
    """Says what the request's own token may do: to the cloud, to a domain and to a project.

    Ids are not looked up: the answer says nothing of what exists.
    """
    domain_id, project_id = parameters.DOMAIN_ID.of(call.req), parameters.PROJECT_ID.of(call.req)
    if project_id and not domain_id:
        raise BadRequest("query parameter project_id: goes with domain_id only")
    domain = {"domain_id": domain_id} if domain_id else {}
    project = {**domain, "project_id": project_id} if project_id else domain
    deps = call.deps

    def asks(rule: str, target: Mapping[str, str]) -> bool:
        return deps.policy.allows(rule, call.identity, target)

    shown = Rights(
        cloud=cloud_rights(asks),
        domain=domain_rights(asks, domain, _resources(call, call.limes.lowpriv.domains)),
        project=project_rights(
            asks,
            project,
            _resources(call, call.limes.lowpriv.projects),
            can_take_back=call.limes.settings.commitments.self_delete_grace > 0,
        ),
    )
    return Answer(document=RightsAnswer(rights=shown))


def _resources(call: Call, limits: Mapping[Ref, LowPrivLimit]) -> Resources:
    """Returns the resources whose quota people set. Where no rule is about single resources, one stands for all."""
    with_quota = [ref for ref in call.catalog.refs() if call.catalog.tracks_quota(ref)]
    refs = [ref for ref in with_quota if call.catalog.autogrow(ref) is None]
    has_growing = len(refs) < len(with_quota)
    limited = [ref for ref in refs if ref in limits]
    if not call.deps.policy.mentions("service_type", "resource_name"):
        refs, limited = refs[:1], limited[:1]
    return Resources(refs, limited, has_growing=has_growing)
