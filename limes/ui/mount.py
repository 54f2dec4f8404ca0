"""Everything below `/ui`."""

from limes.ui.files import AssetEndpoint, PageEndpoint
from limes.ui.headers import SECURITY_HEADERS
from limes.ui.session import ScopesEndpoint, SessionEndpoint
from limes.web.mount import Mount


def dashboard(session: SessionEndpoint, scopes: ScopesEndpoint) -> Mount:
    """The table of its routes. Raises `StartupError` if the page is not built."""
    page = PageEndpoint()
    return Mount(
        "/ui",
        (
            ("/ui", page),
            ("/ui/session", session),
            ("/ui/session/scopes", scopes),
            ("/ui/assets/{name}", AssetEndpoint()),
            ("/ui/{page:path}", page),
        ),
        SECURITY_HEADERS,
    )
