"""A database as the Go Limes leaves it, with the small cloud of `tests.api.world` in it, for several of its releases.

Names and types of tables and columns are facts about that program; everything else is ours.
"""

from typing import Any

import psycopg2

CAPACITY = [
    ("compute", "cores", "az-one", 100, 33, '[{"az": "az-one"}]'),
    ("compute", "cores", "az-two", 101, 0, '[{"az": "az-two"}]'),
    ("compute", "ram", "any", 8192, None, ""),
]
DOMAINS = {1: ("uuid-for-germany", "germany"), 2: ("uuid-for-france", "france")}
DOMAIN_QUOTAS = [
    (1, "compute", "cores", 100),
    (1, "compute", "ram", 4096),
    (1, "volume", "capacity", 0),
    (2, "compute", "cores", 50),
]
PROJECTS = {
    11: ("uuid-for-berlin", "berlin", "uuid-for-germany", 1),
    12: ("uuid-for-dresden", "dresden", "uuid-for-germany", 1),
    13: ("uuid-for-paris", "paris", "uuid-for-france", 2),
}
SCRAPED = {11: "1970-01-01 00:16:50.5", 12: "1970-01-01 00:17:00.5", 13: None}
QUOTAS = [
    # project, service, resource, quota, backend quota, usage by AZ: (usage, physical usage, subresources)
    (11, "compute", "cores", 20, 20, {"any": (0, None, ""), "az-one": (2, None, ""), "az-two": (3, None, "")}),
    (11, "compute", "ram", 1024, 2048, {"any": (512, 128, "")}),
    (11, "compute", "gpus", None, None, {"az-one": (1, None, '[{"id": "gpu-1"}]')}),
    (11, "volume", "capacity", 10, -1, {"any": (3, None, ""), "az-one": (0, None, "")}),
    (12, "compute", "cores", 30, 30, {"az-one": (31, None, ""), "az-two": (0, None, "")}),
    (12, "compute", "ram", 0, 0, {"any": (0, None, "")}),
]
YEAR_2026 = "2026-01-01 00:00:00"
COMMITMENTS = [
    # id, project, service, resource, az, amount, duration, state, created, confirm by, confirmed, expires, superseded,
    # predecessor, transfer status, token
    (3, 11, "compute", "cores", "az-one", 10, "1 year", "superseded", "2025-06-01", None, "2025-06-01", "2026-06-01",
     "2025-07-01", None, "", None),
    (4, 11, "compute", "cores", "az-one", 4, "1 year", "active", "2025-07-01", None, "2025-06-01", "2026-06-01",
     None, 3, "unlisted", "feed" * 12),
    (5, 11, "compute", "cores", "az-one", 6, "1 year", "", "2025-07-01", None, "2025-06-01", "2026-06-01",
     None, 3, "", None),
    (7, 12, "compute", "cores", "az-two", 7, "60 minutes", "planned", "2025-12-01", "2026-03-01", None, "2026-03-02",
     None, None, "", None),
    (8, 12, "compute", "cores", "az-one", 1, "1 year", "pending", "2025-12-01", "2025-12-02", None, "2026-12-02",
     None, None, "", None),
    (9, 11, "volume", "capacity", "az-one", 2, "1 year", "expired", "2023-12-01", None, "2023-12-01", "2024-12-01",
     None, None, "", None),
]  # fmt: skip


class GoLimes:
    """One database, which is made with the shape of a schema version."""

    def __init__(self, url: str, version: int) -> None:
        self.url = url
        self.version = version
        self.by_name = version <= 58
        self._connection = psycopg2.connect(url)
        self._connection.autocommit = True
        self.run("CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY, dirty BOOLEAN NOT NULL)")
        self.run("INSERT INTO schema_migrations VALUES (%s, FALSE)", version)
        for statement in self._tables().split(";"):
            if statement.strip():
                self.run(statement)
        self._fill()

    def run(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """Runs a statement."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        self._connection.close()

    def _tables(self) -> str:
        time = "TIMESTAMP" if self.by_name else "TIMESTAMPTZ"
        return _COMMON + (self._by_name(time) if self.by_name else self._by_id(time))

    def _commitment_columns(self, time: str) -> str:
        version = self.version
        columns = [
            "amount BIGINT NOT NULL, duration TEXT NOT NULL",
            f"{'status' if version >= 65 else 'state'} TEXT NOT NULL",
            f"created_at {time} NOT NULL, creator_uuid TEXT NOT NULL, creator_name TEXT NOT NULL",
            f"confirm_by {time}, confirmed_at {time}, expires_at {time} NOT NULL, superseded_at {time}",
            "transfer_status TEXT NOT NULL DEFAULT ''",
            "transfer_token TEXT NOT NULL DEFAULT ''" if version < 44 else "transfer_token TEXT UNIQUE",
        ]
        if version <= 49:
            columns.append("predecessor_id BIGINT REFERENCES project_commitments ON DELETE RESTRICT")
        else:
            columns.append("creation_context_json JSONB NOT NULL, supersede_context_json JSONB")
        if version >= 57:
            columns.append("uuid TEXT NOT NULL UNIQUE")
        if version >= 71:
            columns.append("deleted_at TIMESTAMPTZ")
        return ", ".join(columns)

    def _by_name(self, time: str) -> str:
        version = self.version
        bursting = ", has_bursting BOOLEAN NOT NULL DEFAULT TRUE" if version <= 38 else ""
        capacitor = ", capacitor_id TEXT NOT NULL" if version <= 51 else ""
        liquid = ", unit TEXT NOT NULL DEFAULT '', liquid_version BIGINT NOT NULL DEFAULT 0" if version >= 54 else ""
        most = "max_quota_from_admin" if version < 45 else "max_quota_from_outside_admin"
        more = f", {most} BIGINT, override_quota_from_config BIGINT" if version >= 38 else ""
        more += ", max_quota_from_local_admin BIGINT" if version >= 45 else ""
        text = f"""
            CREATE TABLE cluster_services (id BIGSERIAL PRIMARY KEY, type TEXT NOT NULL UNIQUE);
            CREATE TABLE cluster_resources (id BIGSERIAL PRIMARY KEY, service_id BIGINT NOT NULL
                REFERENCES cluster_services ON DELETE CASCADE, name TEXT NOT NULL{capacitor}{liquid});
            CREATE TABLE cluster_az_resources (id BIGSERIAL PRIMARY KEY, resource_id BIGINT NOT NULL
                REFERENCES cluster_resources ON DELETE CASCADE, az TEXT NOT NULL, raw_capacity BIGINT NOT NULL,
                usage BIGINT, subcapacities TEXT NOT NULL DEFAULT '');
            CREATE TABLE projects (id BIGSERIAL PRIMARY KEY, domain_id BIGINT NOT NULL REFERENCES domains,
                name TEXT NOT NULL, uuid TEXT NOT NULL UNIQUE, parent_uuid TEXT NOT NULL DEFAULT ''{bursting});
            CREATE TABLE project_services (id BIGSERIAL PRIMARY KEY, project_id BIGINT NOT NULL REFERENCES projects,
                type TEXT NOT NULL, scraped_at {time}, stale BOOLEAN NOT NULL DEFAULT FALSE,
                scrape_duration_secs REAL NOT NULL DEFAULT 0, checked_at {time},
                scrape_error_message TEXT NOT NULL DEFAULT '', next_scrape_at {time} NOT NULL DEFAULT NOW());
            CREATE TABLE project_resources (id BIGSERIAL PRIMARY KEY, service_id BIGINT NOT NULL
                REFERENCES project_services, name TEXT NOT NULL, quota BIGINT, backend_quota BIGINT{more});
            CREATE TABLE project_az_resources (id BIGSERIAL PRIMARY KEY, resource_id BIGINT NOT NULL
                REFERENCES project_resources, az TEXT NOT NULL, quota BIGINT, usage BIGINT NOT NULL,
                physical_usage BIGINT, subresources TEXT NOT NULL DEFAULT '',
                historical_usage TEXT NOT NULL DEFAULT '');
            CREATE TABLE project_commitments (id BIGSERIAL PRIMARY KEY, az_resource_id BIGINT NOT NULL
                REFERENCES project_az_resources, {self._commitment_columns(time)});
            CREATE TABLE project_rates (service_id BIGINT NOT NULL REFERENCES project_services, name TEXT NOT NULL,
                rate_limit BIGINT, window_ns BIGINT, usage_as_bigint TEXT NOT NULL);
        """
        if version <= 39:
            text += """
            CREATE TABLE domain_services (id BIGSERIAL PRIMARY KEY, domain_id BIGINT NOT NULL REFERENCES domains,
                type TEXT NOT NULL);
            CREATE TABLE domain_resources (id BIGSERIAL PRIMARY KEY, service_id BIGINT NOT NULL
                REFERENCES domain_services, name TEXT NOT NULL, quota BIGINT NOT NULL);
            """
        if version >= 49:
            text += "CREATE TABLE project_mail_notifications (id BIGSERIAL PRIMARY KEY, subject TEXT);"
        return text

    def _by_id(self, time: str) -> str:
        prefix = "cluster_" if self.version <= 61 else ""
        quota = "" if self.version >= 70 else "quota BIGINT, backend_quota BIGINT,"
        quota += " max_quota_from_local_admin BIGINT," if self.version <= 66 else ""
        quota += " forbid_autogrowth BOOLEAN NOT NULL DEFAULT FALSE," if self.version >= 62 else ""
        return f"""
            CREATE TABLE {prefix}services (id BIGSERIAL PRIMARY KEY, type TEXT NOT NULL UNIQUE);
            CREATE TABLE {prefix}resources (id BIGSERIAL PRIMARY KEY, service_id BIGINT NOT NULL
                REFERENCES {prefix}services, name TEXT NOT NULL, unit TEXT NOT NULL DEFAULT '',
                liquid_version BIGINT NOT NULL DEFAULT 0);
            CREATE TABLE {prefix}az_resources (id BIGSERIAL PRIMARY KEY, resource_id BIGINT NOT NULL
                REFERENCES {prefix}resources, az TEXT NOT NULL, raw_capacity BIGINT NOT NULL, usage BIGINT,
                subcapacities TEXT NOT NULL DEFAULT '');
            CREATE TABLE projects (id BIGSERIAL PRIMARY KEY, domain_id BIGINT NOT NULL REFERENCES domains,
                name TEXT NOT NULL, uuid TEXT NOT NULL UNIQUE, parent_uuid TEXT NOT NULL DEFAULT '');
            CREATE TABLE project_services (id BIGSERIAL PRIMARY KEY, project_id BIGINT NOT NULL REFERENCES projects,
                service_id BIGINT NOT NULL REFERENCES {prefix}services, scraped_at {time},
                stale BOOLEAN NOT NULL DEFAULT FALSE, scrape_duration_secs REAL NOT NULL DEFAULT 0, checked_at {time},
                scrape_error_message TEXT NOT NULL DEFAULT '', next_scrape_at {time} NOT NULL DEFAULT NOW());
            CREATE TABLE project_resources (id BIGSERIAL PRIMARY KEY, project_id BIGINT NOT NULL REFERENCES projects,
                resource_id BIGINT NOT NULL REFERENCES {prefix}resources, {quota} max_quota_from_outside_admin BIGINT,
                override_quota_from_config BIGINT);
            CREATE TABLE project_az_resources (id BIGSERIAL PRIMARY KEY, project_id BIGINT NOT NULL REFERENCES projects,
                az_resource_id BIGINT NOT NULL REFERENCES {prefix}az_resources, quota BIGINT, usage BIGINT NOT NULL,
                physical_usage BIGINT, subresources TEXT NOT NULL DEFAULT '',
                historical_usage TEXT NOT NULL DEFAULT '', backend_quota BIGINT);
            CREATE TABLE project_commitments (id BIGSERIAL PRIMARY KEY, project_id BIGINT NOT NULL REFERENCES projects,
                az_resource_id BIGINT NOT NULL REFERENCES {prefix}az_resources, {self._commitment_columns(time)});
            CREATE TABLE project_rates (id BIGSERIAL PRIMARY KEY, project_id BIGINT NOT NULL REFERENCES projects,
                rate_limit BIGINT, window_ns BIGINT, usage_as_bigint TEXT NOT NULL);
            CREATE TABLE project_mail_notifications (id BIGSERIAL PRIMARY KEY, subject TEXT);
        """

    # -- data --------------------------------------------------------------------------------------------------------

    def insert(self, table: str, **values: object) -> int:
        """Inserts a row, and answers its id."""
        marks = ", ".join(["%s"] * len(values))
        sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks}) RETURNING id"
        ((id_,),) = self.run(sql, *values.values())
        assert isinstance(id_, int)
        return id_

    def _fill(self) -> None:
        prefix = "cluster_" if self.version <= 61 else ""
        if self.version <= 51:
            self.run("CREATE TABLE cluster_capacitors (capacitor_id TEXT PRIMARY KEY, scraped_at TIMESTAMP)")
            self.run("INSERT INTO cluster_capacitors VALUES ('inventory', '1970-01-01 00:15:00')")
        services = {name: self.insert(f"{prefix}services", type=name) for name in ("compute", "volume")}
        self.resources = {}
        for service, name in (("compute", "cores"), ("compute", "ram"), ("compute", "gpus"), ("volume", "capacity")):
            extra = {"capacitor_id": "inventory"} if self.version <= 51 else {}
            if self.version >= 54:
                unit = {"ram": "MiB", "capacity": "GiB"}.get(name, "piece" if self.version >= 82 else "")
                extra |= {"unit": unit, "liquid_version": 1}
            self.resources[service, name] = self.insert(
                f"{prefix}resources", service_id=services[service], name=name, **extra
            )
        self.zones: dict[tuple[str, str, str], int] = {}
        for service, name, az, raw, usage, sub in CAPACITY:
            self.zones[service, name, az] = self.insert(
                f"{prefix}az_resources", resource_id=self.resources[service, name], az=az, raw_capacity=raw,
                usage=usage, subcapacities=sub,
            )  # fmt: skip
        for id_, (uuid, name) in DOMAINS.items():
            self.insert("domains", id=id_, uuid=uuid, name=name)
        if self.version <= 39:
            for domain, service, name, quota in DOMAIN_QUOTAS:
                owner = self.insert("domain_services", domain_id=domain, type=service)
                self.insert("domain_resources", service_id=owner, name=name, quota=quota)
        for id_, (uuid, name, parent, domain) in PROJECTS.items():
            bursting = {"has_bursting": name == "dresden"} if self.version <= 38 else {}
            self.insert("projects", id=id_, uuid=uuid, name=name, parent_uuid=parent, domain_id=domain, **bursting)
        self._fill_services(services)
        self.rows: dict[tuple[int, str, str, str], int] = {}
        """The rows of projects' usage by AZ: project, service, resource, AZ."""
        self.owners: dict[tuple[int, str, str], int] = {}
        """The rows of projects' resources: project, service, resource."""
        for row in QUOTAS:
            (self._quota_by_name if self.by_name else self._quota_by_id)(*row)
        for row in COMMITMENTS:
            self.commit(*row)

    def _fill_services(self, services: dict[str, int]) -> None:
        self.services = {}
        for project in PROJECTS:
            for service in services:
                which = {"type": service} if self.by_name else {"service_id": services[service]}
                time = SCRAPED[project] and SCRAPED[project] + ("" if self.by_name else "+00")
                self.services[project, service] = self.insert(
                    "project_services", project_id=project, scraped_at=time, checked_at=time, **which
                )

    def _zone(self, service: str, name: str, az: str) -> int:
        """The cluster's row for an AZ, which is made if there is no capacity in it."""
        prefix = "cluster_" if self.version <= 61 else ""
        if (service, name, az) not in self.zones:
            self.zones[service, name, az] = self.insert(
                f"{prefix}az_resources", resource_id=self.resources[service, name], az=az, raw_capacity=0
            )
        return self.zones[service, name, az]

    def _quota_by_name(self, project: Any, service: Any, name: Any, quota: Any, backend: Any, zones: Any) -> None:
        id_ = self.insert(
            "project_resources", service_id=self.services[project, service], name=name, quota=quota,
            backend_quota=backend,
        )  # fmt: skip
        self.owners[project, service, name] = id_
        for az, (usage, physical, sub) in zones.items():
            self.rows[project, service, name, az] = self.insert(
                "project_az_resources", resource_id=id_, az=az, usage=usage, physical_usage=physical, subresources=sub
            )

    def _quota_by_id(self, project: Any, service: Any, name: Any, quota: Any, backend: Any, zones: Any) -> None:
        values = {} if self.version >= 70 else {"quota": quota, "backend_quota": backend}
        self.owners[project, service, name] = self.insert(
            "project_resources", project_id=project, resource_id=self.resources[service, name], **values
        )
        for az, (usage, physical, sub) in zones.items():
            self.rows[project, service, name, az] = self.insert(
                "project_az_resources", project_id=project, az_resource_id=self._zone(service, name, az), usage=usage,
                physical_usage=physical, subresources=sub,
            )  # fmt: skip
        if self.version >= 70:
            total = sum(usage for usage, _, _ in zones.values())
            self.insert(
                "project_az_resources", project_id=project, az_resource_id=self._zone(service, name, "total"),
                usage=total, quota=quota, backend_quota=backend,
            )  # fmt: skip

    def commit(self, id_: Any, project: Any, service: Any, name: Any, az: Any, amount: Any, duration: Any, state: Any, created: Any, confirm_by: Any, confirmed: Any, expires: Any,
               superseded: Any, before: Any, transfer: Any, token: Any) -> None:  # fmt: skip
        """Stores a commitment as this release would."""
        if self.version >= 65:
            state = {"active": "confirmed", "": "confirmed"}.get(state, state)
        place = (
            {"az_resource_id": self.rows[project, service, name, az]}
            if self.by_name
            else {"az_resource_id": self._zone(service, name, az), "project_id": project}
        )
        values = {
            "amount": amount, "duration": duration, "status" if self.version >= 65 else "state": state,
            "creator_uuid": "u-1", "creator_name": "ada@germany", "transfer_status": transfer,
            "transfer_token": token or ("" if self.version < 44 else None),
        }  # fmt: skip
        zone = "" if self.by_name else "+00"
        times = {"created_at": created, "confirm_by": confirm_by, "confirmed_at": confirmed, "expires_at": expires,
                 "superseded_at": superseded}  # fmt: skip
        values |= {key: value and f"{value} 00:00:00{zone}" for key, value in times.items()}
        if self.version <= 49:
            values["predecessor_id"] = before
        else:
            related = f'{{"reason": "split", "related_ids": [{before}]}}' if before else '{"reason": "create"}'
            values["creation_context_json"] = related
        if self.version >= 57:
            values["uuid"] = f"00000000-0000-4000-8000-{id_:012}"
        self.insert("project_commitments", id=id_, **place, **values)


_COMMON = """
    CREATE TABLE domains (id BIGSERIAL PRIMARY KEY, name TEXT NOT NULL, uuid TEXT NOT NULL UNIQUE);
"""
