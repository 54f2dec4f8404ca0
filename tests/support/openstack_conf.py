"""What the configuration files of all OpenStack services have in common."""

from collections.abc import Mapping


def keystone_authtoken(credentials: Mapping[str, str]) -> str:
    """The section by which a service validates tokens. `credentials` are a service user's password login."""
    lines = [
        "[keystone_authtoken]",
        "auth_type = password",
        f"www_authenticate_uri = {credentials['auth_url']}",
        "service_token_roles_required = true",
        *(f"{key} = {value}" for key, value in credentials.items()),
    ]
    return "\n".join(lines) + "\n"
