"""Why quotas are what they are."""

from limes.api import parameters
from limes.api.call import Call
from limes.reports.explain import explain_quotas
from limes.reports.explanation import ExplanationsAnswer, render_explanation
from limes.web.call import Answer


def explain_project_quotas(call: Call) -> Answer:
    """Says what made a project's quotas what they are, and within which bounds the caller could set them."""
    return _explain(call, with_growth=bool(parameters.RESOURCE.of(call.req)))


def explain_domain_quotas(call: Call) -> Answer:
    """Says what made a domain's quotas what they are, and within which bounds the caller could set them."""
    return _explain(call)


def _explain(call: Call, *, with_growth: bool = False) -> Answer:
    permissions = call.quota_permissions(call.selection().refs)
    explanations = explain_quotas(call.limes, call.place, permissions, with_growth=with_growth)
    with_origin = call.allows(f"{call.level}:show_history")
    shown = [render_explanation(call.catalog, each, with_origin=with_origin) for each in explanations]
    return Answer(document=ExplanationsAnswer(explanations=shown))
