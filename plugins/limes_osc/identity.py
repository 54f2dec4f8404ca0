"""`limes identity`."""

import argparse

from limes_osc.base import Fields, LimesShowOne


class ShowIdentity(LimesShowOne):
    """Show whose your token is, what it is for, and with which roles"""

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """User, scope and roles."""
        found = self.limes.get("/identity")["identity"]
        scope = found["scope"] or {}
        project = scope.get("project", {})
        domain = project.get("domain") or scope.get("domain", {})
        return self.fields(
            parsed_args,
            {
                "User ID": found["user"]["id"],
                "User Name": found["user"]["name"],
                "Domain ID": domain.get("id"),
                "Domain Name": domain.get("name"),
                "Project ID": project.get("id"),
                "Project Name": project.get("name"),
                "System": scope.get("system"),
                "Roles": ", ".join(found["roles"]),
            },
        )
