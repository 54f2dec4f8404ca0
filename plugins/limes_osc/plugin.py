"""What python-openstackclient asks of a plugin (entry point `openstack.cli.extension`): options, and the client."""

import argparse
from typing import Any

from keystoneauth1.exceptions import CatalogException
from osc_lib import utils

from limes_osc.client import LimesClient, base_url

API_NAME = "limes"
API_VERSION_OPTION = "os_limes_api_version"
API_VERSIONS = ("1",)
DEFAULT_API_VERSION = "1"

SERVICE_TYPE = "resources"
"""Limes in Keystone's catalog."""


def make_client(manager: Any) -> LimesClient:
    """Returns the client, with the session of openstackclient's manager."""
    try:
        endpoint = manager.get_endpoint_for_service_type(
            SERVICE_TYPE, region_name=manager.region_name, interface=manager.interface
        )
    except CatalogException:
        endpoint = None
    return LimesClient(manager.session, base_url(endpoint))


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
