"""What lives in the test Keystone: two domains with projects, users of every role, and a service catalog.

Every user's password is `PASSWORD`. All names are unique across domains, so that tests can say just `berlin`.
"""

from dataclasses import dataclass, field

from keystoneauth1.adapter import Adapter

PASSWORD = "test-secret"
REGION = "RegionOne"

ROLES = ("cloud_resource_admin", "cloud_resource_viewer", "resource_admin", "resource_viewer")
"""Besides Keystone's own admin, manager, member, reader and service."""

DOMAINS = ("north", "south")

PROJECTS: dict[str, tuple[str, str | None]] = {
    # name: (domain, parent project)
    "service": ("default", None),
    "berlin": ("north", None),
    "dresden": ("north", "berlin"),
    "hamburg": ("north", None),
    "munich": ("south", None),
    "vienna": ("south", None),
}

USERS: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    # name: (domain, {scope: roles}); a scope is `project:NAME`, `domain:NAME` or `system`
    "limes": ("default", {"project:service": ("admin", "service", "cloud_resource_admin"), "system": ("admin",)}),
    "placement": ("default", {"project:service": ("admin", "service")}),
    "operator": ("default", {"project:service": ("cloud_resource_admin", "admin"), "system": ("admin",)}),
    "auditor": ("default", {"project:service": ("cloud_resource_viewer", "reader"), "system": ("reader",)}),
    "north-admin": ("north", {"domain:north": ("resource_admin", "member"), "project:berlin": ("resource_admin",)}),
    "south-admin": ("south", {"domain:south": ("resource_admin", "member")}),
    "berlin-admin": ("north", {"project:berlin": ("resource_admin", "member")}),
    "berlin-member": ("north", {"project:berlin": ("member",)}),
    "berlin-viewer": ("north", {"project:berlin": ("resource_viewer", "reader")}),
    "munich-member": ("south", {"project:munich": ("member",)}),
}

CATALOG = {
    # type: (name, URL); tests that start the service point the entry at it
    "resources": ("limes", "http://127.0.0.1:9/"),
    "placement": ("placement", "http://127.0.0.1:9/"),
    "network": ("neutron", "http://127.0.0.1:9/"),
    "object-store": ("swift", "http://127.0.0.1:9/"),
    "block-storage": ("cinder", "http://127.0.0.1:9/"),
    "shared-file-system": ("manila", "http://127.0.0.1:9/"),
    "compute": ("nova", "http://127.0.0.1:9/"),
    "image": ("glance", "http://127.0.0.1:9/"),
}


@dataclass
class Seeded:
    """The ids of everything, by name."""

    domains: dict[str, str] = field(default_factory=lambda: {"default": "default"})
    projects: dict[str, str] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    services: dict[str, str] = field(default_factory=dict)


def create(api: Adapter, collection: str, **attributes: object) -> str:
    """POSTs one object (`collection` is such as `projects`) and answers its id."""
    noun = collection.removesuffix("s")
    answer = api.post(f"/{collection}", json={noun: attributes})
    return str(answer.json()[noun]["id"])


def seed(api: Adapter) -> Seeded:
    """Makes everything above in a freshly bootstrapped Keystone; takes about 2 s."""
    made = Seeded()
    made.roles = {role["name"]: role["id"] for role in api.get("/roles").json()["roles"]}
    made.users["admin"] = next(user["id"] for user in api.get("/users?name=admin").json()["users"])
    made.projects["admin"] = next(one["id"] for one in api.get("/projects?name=admin").json()["projects"])
    made.services["identity"] = next(one["id"] for one in api.get("/services?type=identity").json()["services"])
    for name in ROLES:
        made.roles[name] = create(api, "roles", name=name)
    for name in DOMAINS:
        made.domains[name] = create(api, "domains", name=name)
    for name, (domain, parent) in PROJECTS.items():
        extra = {"parent_id": made.projects[parent]} if parent else {}
        made.projects[name] = create(api, "projects", name=name, domain_id=made.domains[domain], **extra)
    for name, (domain, scopes) in USERS.items():
        made.users[name] = create(api, "users", name=name, password=PASSWORD, domain_id=made.domains[domain])
        for scope, roles in scopes.items():
            for role in roles:
                api.put(f"{_scope_path(made, scope)}/users/{made.users[name]}/roles/{made.roles[role]}")
    for kind, (name, url) in CATALOG.items():
        made.services[kind] = create(api, "services", type=kind, name=name)
        for interface in ("public", "internal", "admin"):
            create(api, "endpoints", service_id=made.services[kind], interface=interface, region_id=REGION, url=url)
    return made


def _scope_path(made: Seeded, scope: str) -> str:
    kind, _, name = scope.partition(":")
    if kind == "system":
        return "/system"
    ids = made.projects if kind == "project" else made.domains
    return f"/{kind}s/{ids[name]}"
