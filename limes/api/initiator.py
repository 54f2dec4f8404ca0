"""Who makes a request, for the history and the audit."""

import falcon

from limes import logs
from limes.audit.initiator import Initiator
from limes.auth.context import Identity

_LONGEST = 255


def initiator_of(req: falcon.Request, identity: Identity) -> Initiator:
    """The user behind the request, with everything that the client can make up cut to size."""
    *before, local = logs.request_id.get().split()
    return Initiator(
        name=_clean(identity.user_name),
        id=_clean(identity.user_id),
        user_domain=_clean(identity.user_domain_name),
        project_id=_clean(identity.project_id),
        project_name=_clean(identity.project_name),
        domain_id=_clean(identity.domain_id),
        domain_name=_clean(identity.domain_name),
        application_credential_id=_clean(identity.application_credential_id),
        address=_clean(req.remote_addr),
        agent=_clean(req.user_agent),
        request_id=local,
        global_request_id=before[0] if before else "",
        path=_clean(req.path),
    )


def _clean(text: str | None) -> str:
    """What databases and JSON can hold of a text: no NUL, no half surrogates, and not too much."""
    return (text or "")[:_LONGEST].replace("\0", "").encode("utf-8", "replace").decode()
