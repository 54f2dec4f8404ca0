"""The Limes API over a keystoneauth session: paths in, documents out, refusals as errors with the server's words.

With what python-openstackclient asks of a plugin (entry point `openstack.cli.extension`): options, and the client."""

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import Any

import requests
from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions import CatalogException
from keystoneauth1.session import Session
from osc_lib import utils
from osc_lib.exceptions import CommandError

Json = dict[str, Any]
Query = Sequence[tuple[str, str]]

_HINTS = {
    401: "the token is not accepted",
    412: "someone else changed a quota in the meantime, and nothing was written: check the new figures and try again",
    423: "not ready yet",
    503: "try again in a few seconds",
}


_ABOUT_THE_WISH = (409, 412, 422, 423)
"""With these statuses the server's words say everything, and the address of the request nothing."""
_FORBIDDEN = "the roles of this token do not allow it; openstack limes identity show lists them"
_UNKNOWN = ("no such project", "no such domain")
_DISCOVER = re.compile(r"try to POST (/domains(?:/\S+/projects)?/discover)")
"""What a missing project or domain may need, in the words of the API."""


class Refused(CommandError):
    """An answer that is no success. The message is what a user should read; `status` is that of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class LimesClient:
    def __init__(self, session: Session, url: str) -> None:
        self._adapter = Adapter(session, endpoint_override=url, client_name="limes-osc", raise_exc=False)
        self.guess = ""
        """What was taken for granted to make requests at all; said if one is refused."""
        self.instead = ""
        """What to do if Limes does not know the project or domain of the token."""

    def get(
        self, path: str, query: Query = (), headers: Mapping[str, str] | None = None, *, secret: bool = False
    ) -> Json:
        return document_of(self.request("GET", path, query, headers=headers, secret=secret))

    def get_with_condition(self, path: str, query: Query = ()) -> tuple[Json, dict[str, str]]:
        """Returns the same, and headers with which a request is refused if the quotas have changed meanwhile; no
        headers if the server sends no entity tag. Proxies that compress make the tag a weak one, but it is that of
        quotas and not of bytes."""
        answer = self.request("GET", path, query)
        tag = answer.headers.get("ETag")
        return document_of(answer), {} if tag is None else {"If-Match": tag.removeprefix("W/")}

    def discover(self, path: str, key: str) -> list[Json]:
        """Looks for new domains or projects, and returns the ones that were found, with their ids."""
        answer = self.request("POST", path)
        return list(document_of(answer)[key]) if answer.status_code == 202 else []

    def request(
        self,
        method: str,
        path: str,
        query: Query = (),
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        accept: Sequence[int] = (),
        *,
        secret: bool = False,
    ) -> requests.Response:
        """Sends any request. `secret` keeps it out of the log of `--debug`, for transfer tokens. Raises `Refused` for
        400 and above, unless the answer is JSON with a status in `accept`."""
        answer: requests.Response = self._adapter.request(
            f"/v1{path}",
            method,
            params=list(query),
            headers=dict(headers or {}),
            log=not secret,
            **({} if body is None else {"json": body}),
        )
        if answer.status_code >= 400 and not (answer.status_code in accept and _is_json(answer)):
            lines = _explain(answer)
            guess = self.guess if answer.status_code in (403, 404) else ""
            instead = self.instead if lines[0].startswith(_UNKNOWN) else ""
            raise Refused(answer.status_code, "\n".join([*lines, *filter(None, (guess, instead))]))
        return answer


def document_of(answer: requests.Response) -> Json:
    """Returns the JSON object of an answer. Raises `CommandError` if it is none: then something else answers there."""
    try:
        document = answer.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise CommandError(f"{answer.url} does not answer as Limes does; is the address right?")
    return document


def _is_json(answer: requests.Response) -> bool:
    return answer.headers.get("Content-Type", "").startswith("application/json")


def _as_command(found: re.Match[str]) -> str:
    kind = "project" if "/projects/" in found[1] else "domain"
    return f"try `openstack limes {kind} discover`"


def _explain(answer: requests.Response) -> list[str]:
    text = answer.json() if _is_json(answer) else answer.text
    words = _DISCOVER.sub(_as_command, text.strip() if isinstance(text, str) else str(text))
    hint = _FORBIDDEN if words.startswith("Forbidden") else _HINTS.get(answer.status_code, "")
    request = answer.request
    where = f"HTTP {answer.status_code}"
    if answer.status_code not in _ABOUT_THE_WISH:
        where = f"{request.method} {(request.path_url or '').partition('?')[0]}: {where}"
    return [words, f"{hint} ({where})".lstrip()]


API_NAME = "limes"
API_VERSION_OPTION = "os_limes_api_version"
API_VERSIONS = ("1",)
DEFAULT_API_VERSION = "1"


def make_client(manager: Any) -> LimesClient:
    try:
        endpoint = manager.get_endpoint_for_service_type(
            "resources", region_name=manager.region_name, interface=manager.interface
        )
    except CatalogException:
        endpoint = None
    if not endpoint:
        raise CommandError(
            "where is Limes? Keystone's catalog has no service of type 'resources' in this region: name an address"
            " with --os-limes-endpoint or OS_LIMES_ENDPOINT"
        )
    return LimesClient(manager.session, endpoint.rstrip("/").removesuffix("/v1"))


def build_option_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Adds the options that all commands share. What is not given leaves clouds.yaml its say."""
    parser.add_argument(
        "--os-limes-api-version",
        metavar="<limes-api-version>",
        default=utils.env("OS_LIMES_API_VERSION", default=None),
        help=f"Version of the Limes API, default={DEFAULT_API_VERSION} (Env: OS_LIMES_API_VERSION)",
    )
    parser.add_argument(
        "--os-limes-endpoint",
        metavar="<limes-endpoint>",
        dest="resources_endpoint_override",
        default=utils.env("OS_LIMES_ENDPOINT", default=None),
        help="Address of Limes, instead of that in Keystone's catalog (Env: OS_LIMES_ENDPOINT;"
        " clouds.yaml: resources_endpoint_override)",
    )
    for level in ("domain", "project"):
        parser.add_argument(
            f"--os-limes-{level}",
            metavar=f"<{level}>",
            dest=f"limes_{level}",
            default=utils.env(f"OS_LIMES_{level.upper()}", default=None),
            help=f"The {level} (name or ID) that limes commands are about if they name none, instead of the token's"
            f" (Env: OS_LIMES_{level.upper()}; clouds.yaml: limes_{level})",
        )
    return parser
