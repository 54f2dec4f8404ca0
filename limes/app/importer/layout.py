"""The tables of the Go Limes, by the version of its schema, as queries that give the columns of the rows in `source`.

Three shapes are known:

- 36 to 58: `project_services.type`; each level has its own names of services and resources. Domains have quota of
  their own up to 39, and projects a bursting flag up to 38.
- 60 to 69: the project's rows refer to the cluster's services and resources.
- 70 to 82: quota stands in the AZ row `total`.

59 is the state half-way through a migration, with both shapes at once. It is refused, as are all others.
"""

from functools import reduce
from operator import and_
from typing import Any

from msgspec import Struct
from peewee import JOIN, Case, Cast, Expression, Select, Table, Value, fn

from limes.catalog.catalog import ANY_AZ
from limes.kernel.errors import ConfigError

OLDEST, HALF_WAY, NEWEST = 36, 59, 82
TOTAL_AZ = "total"

_table: Any = Table
Rows = Any
"""A SELECT. For those on plain tables peewee has no types."""


class Layout(Struct, frozen=True):
    version: int

    def __post_init__(self) -> None:
        """Raises `ConfigError` for a version whose shape is not known."""
        known = f"{OLDEST} to {NEWEST}, without {HALF_WAY}"
        if self.version < OLDEST:
            advice = "let a Go Limes of early 2024 start on it once, which brings it up"
        elif self.version == HALF_WAY:
            advice = "let its own Limes finish the migration"
        elif self.version > NEWEST:
            advice = "use a newer release of this Limes"
        else:
            return
        raise ConfigError([f"the source's schema has version {self.version}, but only {known} are known: {advice}"])

    @property
    def is_by_name(self) -> bool:
        return self.version < HALF_WAY

    @property
    def has_domain_quota(self) -> bool:
        """Whether domains have quota of their own. Later releases show the sum of their projects' quotas."""
        return self.version <= 39

    @property
    def has_totals(self) -> bool:
        return self.version >= 70

    # -- services and resources --------------------------------------------------------------------------------------

    @property
    def capacity(self) -> Rows:
        az, resource, service = self.cluster_tables()
        capacitor = resource.c.capacitor_id if self.version <= 51 else Value("")
        return (
            az.select(
                service.c.type.alias("service"),
                resource.c.name.alias("resource"),
                capacitor.alias("capacitor"),
                *(az.c.az, az.c.raw_capacity, az.c.usage, az.c.subcapacities),
            )
            .join(resource, on=resource.c.id == az.c.resource_id)
            .join(service, on=service.c.id == resource.c.service_id)
            .where(az.c.az != TOTAL_AZ)
        )

    @property
    def capacitors(self) -> Rows:
        """name, scraped_at. Later releases scrape the capacity of a service with its usage."""
        if self.version <= 51:
            row = _table("cluster_capacitors")
            return row.select(row.c.capacitor_id.alias("name"), _epoch(row.c.scraped_at).alias("scraped_at"))
        nobody = [Value("").alias("name"), Cast(Value(None), "double precision").alias("scraped_at")]
        return Select(columns=nobody).where(Value(False))

    @property
    def units(self) -> Rows | None:
        """service, resource, unit; None where the database does not say."""
        if self.version < 54:
            return None
        _, resource, service = self.cluster_tables()
        unit = Case(None, [(resource.c.unit == "piece", "")], resource.c.unit)
        return (
            resource.select(service.c.type.alias("service"), resource.c.name.alias("resource"), unit.alias("unit"))
            .join(service, on=service.c.id == resource.c.service_id)
            .where(resource.c.liquid_version > 0)
        )

    @property
    def domains(self) -> Rows:
        domain = _table("domains")
        return domain.select(domain.c.uuid, domain.c.name)

    @property
    def domain_quotas(self) -> Rows:
        domain = _table("domains")
        if self.has_domain_quota:
            service, resource = _table("domain_services"), _table("domain_resources")
            return (
                resource.select(
                    domain.c.uuid.alias("domain"),
                    service.c.type.alias("service"),
                    resource.c.name.alias("resource"),
                    resource.c.quota,
                )
                .join(service, on=service.c.id == resource.c.service_id)
                .join(domain, on=domain.c.id == service.c.domain_id)
            )
        quota, project = self.quotas.alias("q"), _table("projects")
        key = (domain.c.uuid, quota.c.service, quota.c.resource)
        return (
            Select([quota], [key[0].alias("domain"), *key[1:], fn.SUM(quota.c.quota).cast("bigint").alias("quota")])
            .join(project, on=project.c.id == quota.c.project)
            .join(domain, on=domain.c.id == project.c.domain_id)
            .where(quota.c.quota.is_null(False))
            .group_by(*key)
        )

    @property
    def projects(self) -> Rows:
        row, domain = _table("projects"), _table("domains")
        bursting = row.c.has_bursting if self.version <= 38 else Value(False)
        return row.select(
            *(row.c.id, row.c.uuid, row.c.name, row.c.parent_uuid),
            *(domain.c.uuid.alias("domain"), bursting.alias("has_bursting")),
        ).join(domain, on=domain.c.id == row.c.domain_id)

    @property
    def services(self) -> Rows:
        row = _table("project_services")
        _, _, service = self.cluster_tables()
        query = row.select(
            row.c.project_id.alias("project"),
            (row.c.type if self.is_by_name else service.c.type).alias("service"),
            _epoch(row.c.scraped_at).alias("scraped_at"),
            _epoch(row.c.checked_at).alias("checked_at"),
            row.c.stale,
            row.c.scrape_duration_secs.alias("duration"),
            row.c.scrape_error_message.alias("error"),
        )
        return query if self.is_by_name else query.join(service, on=service.c.id == row.c.service_id)

    @property
    def quotas(self) -> Rows:
        row = _table("project_resources")
        bounds = self._bounds(row)
        if self.is_by_name:
            owner = _table("project_services")
            columns = _aliases(owner.c.project_id, owner.c.type, row.c.name)
            query = row.select(*columns, row.c.quota, row.c.backend_quota, *bounds)
            return query.join(owner, on=owner.c.id == row.c.service_id)
        az, resource, service = self.cluster_tables()
        amounts = _table("project_az_resources") if self.has_totals else row
        columns = _aliases(row.c.project_id, service.c.type, resource.c.name)
        query = (
            row.select(*columns, amounts.c.quota, amounts.c.backend_quota, *bounds)
            .join(resource, on=resource.c.id == row.c.resource_id)
            .join(service, on=service.c.id == resource.c.service_id)
        )
        if not self.has_totals:
            return query
        is_total = (az.c.resource_id == resource.c.id) & (az.c.az == TOTAL_AZ)
        is_of_project = (amounts.c.az_resource_id == az.c.id) & (amounts.c.project_id == row.c.project_id)
        return query.join(az, JOIN.LEFT_OUTER, on=is_total).join(amounts, JOIN.LEFT_OUTER, on=is_of_project)

    def _bounds(self, row: Any) -> tuple[Any, Any, Any]:
        """What bounds quota of the model autogrow. For a while, a project's admins and those above had one each."""
        most: Any
        if self.version < 38:
            most = Cast(Value(None), "bigint")
        elif self.version < 45:
            most = row.c.max_quota_from_admin
        elif self.version < 67:
            most = fn.LEAST(row.c.max_quota_from_outside_admin, row.c.max_quota_from_local_admin)
        else:
            most = row.c.max_quota_from_outside_admin
        forbids = row.c.forbid_autogrowth if self.version >= 62 else Value(False)
        override = row.c.override_quota_from_config if self.version >= 38 else Cast(Value(None), "bigint")
        return most.alias("max_quota"), forbids.alias("forbids_autogrowth"), override.alias("override")

    @property
    def usages(self) -> Rows:
        row = _table("project_az_resources")
        figures = (row.c.usage, row.c.physical_usage, row.c.subresources, row.c.historical_usage.alias("history"))
        return self._without_total(self.with_place(row, row, *figures))

    @property
    def commitments(self) -> Rows:
        row = _table("project_commitments")
        if self.version <= 49:
            predecessor = row.c.predecessor_id
        else:
            related = Expression(row.c.creation_context_json, "->", "related_ids")
            predecessor = Expression(related, "->>", 0).cast("bigint")
        times = ("created_at", "confirm_by", "confirmed_at", "expires_at", "superseded_at")
        query = self.with_place(
            row,
            _table("project_az_resources") if self.is_by_name else row,
            row.c.id,
            (row.c.uuid if self.version >= 57 else Cast(Value(None), "text")).alias("uuid"),
            *(row.c.amount, row.c.duration, row.c.creator_uuid, row.c.creator_name, row.c.transfer_status),
            (row.c.status if self.version >= 65 else row.c.state).alias("state"),
            *(_epoch(getattr(row.c, name)).alias(name) for name in times),
            predecessor.alias("predecessor"),
            fn.NULLIF(row.c.transfer_token, "").alias("transfer_token"),
        )
        return query if self.version < 71 else query.where(row.c.deleted_at.is_null())

    def with_place(self, row: Any, az_row: Any, *columns: Any) -> Rows:
        """Returns the columns of `row`, with project, service, resource and AZ, which hang on `az_row`."""
        if self.is_by_name:
            owner, resource = _table("project_services"), _table("project_resources")
            names = _aliases(owner.c.project_id, owner.c.type, resource.c.name)
            query = row.select(*names, az_row.c.az, *columns)
            if az_row is not row:
                query = query.join(az_row, on=az_row.c.id == row.c.az_resource_id)
            query = query.join(resource, on=resource.c.id == az_row.c.resource_id)
            return query.join(owner, on=owner.c.id == resource.c.service_id)
        az, resource, service = self.cluster_tables()
        query = row.select(*_aliases(row.c.project_id, service.c.type, resource.c.name), az.c.az, *columns)
        return (
            query.join(az, on=az.c.id == row.c.az_resource_id)
            .join(resource, on=resource.c.id == az.c.resource_id)
            .join(service, on=service.c.id == resource.c.service_id)
        )

    # -- for the model `autogrow` ------------------------------------------------------------------------------------

    @property
    def bounds(self) -> Rows:
        """Where projects have bounded their quota."""
        row = self.quotas.alias("q")
        columns = (*_key(row), row.c.max_quota, row.c.forbids_autogrowth)
        return Select([row], columns).where(row.c.max_quota.is_null(False) | row.c.forbids_autogrowth)

    @property
    def overrides(self) -> Rows:
        row = self.quotas.alias("q")
        project, domain = _table("projects"), _table("domains")
        names = (domain.c.name.alias("domain"), project.c.name.alias("project"))
        return (
            Select([row], [*names, row.c.service, row.c.resource, row.c.override])
            .join(project, on=project.c.id == row.c.project)
            .join(domain, on=domain.c.id == project.c.domain_id)
            .where(row.c.override.is_null(False))
        )

    @property
    def az_quotas(self) -> Rows:
        """Where the quotas by AZ do not add up to the project's quota, that is in no particular AZ, and not split."""
        part, other, whole = self._parts().alias("p"), self._parts().alias("o"), self.quotas.alias("w")
        split = Select([part], [*_key(part), part.c.az, part.c.quota, Value(True).alias("is_split")]).where(
            part.c.adds_up
        )
        known = Select([other], _key(other)).where(other.c.adds_up).group_by(*_key(other)).alias("k")
        quota = fn.COALESCE(whole.c.quota, 0).alias("quota")
        in_any = [*_key(whole), Value(ANY_AZ).alias("az"), quota, Value(False).alias("is_split")]
        rest = Select([whole], in_any).join(known, JOIN.LEFT_OUTER, on=_is_same(known, whole))
        return split.union_all(rest.where(known.c.project.is_null()))

    def _parts(self) -> Rows:
        row = _table("project_az_resources")
        parts = self.with_place(row, row, row.c.quota).where(row.c.quota.is_null(False))
        parts, whole = self._without_total(parts).alias("p"), self.quotas.alias("w")
        adds_up = whole.c.quota == fn.SUM(parts.c.quota).over(partition_by=_key(parts))
        columns = [*_key(parts), parts.c.az, parts.c.quota, adds_up.alias("adds_up")]
        return Select([parts], columns).join(whole, on=_is_same(whole, parts))

    @property
    def usage_histories(self) -> Rows:
        return self.usages.where(_table("project_az_resources").c.historical_usage.not_in(["", "{}"]))

    def _without_total(self, query: Rows) -> Rows:
        if self.is_by_name:
            return query
        az, _, _ = self.cluster_tables()
        return query.where(az.c.az != TOTAL_AZ)

    # -- what has no place here --------------------------------------------------------------------------------------

    @property
    def dropped(self) -> dict[str, Rows]:
        """What is not imported, by a text that says so."""
        commitment = _table("project_commitments")
        dropped = {"rates of projects: the Resource API has none": _all(_table("project_rates"))}
        if self.version >= 49:
            dropped["mails that wait to be sent"] = _all(_table("project_mail_notifications"))
        if self.version >= 71:
            dropped["commitments that were deleted"] = _all(commitment).where(commitment.c.deleted_at.is_null(False))
        part = self._parts().alias("p")
        dropped["quotas by AZ that do not add up to the project's quota"] = _all(part).where(~part.c.adds_up)
        return dropped

    @property
    def complete(self) -> dict[str, Rows]:
        """All rows that each of the queries above, by its name, has to give: none may be lost in a join."""
        commitment = _table("project_commitments")
        kept = _all(commitment).where(commitment.c.deleted_at.is_null()) if self.version >= 71 else _all(commitment)
        usage, (az, _, _) = _table("project_az_resources"), self.cluster_tables()
        usages = _all(usage)
        if not self.is_by_name:
            usages = usages.where(usage.c.az_resource_id.not_in(az.select(az.c.id).where(az.c.az == TOTAL_AZ)))
        return {
            "projects": _all(_table("projects")),
            "services": _all(_table("project_services")),
            "quotas": _all(_table("project_resources")),
            "usages": usages,
            "commitments": kept,
        }

    def cluster_tables(self) -> tuple[Any, Any, Any]:
        prefix = "cluster_" if self.version <= 61 else ""
        return _table(f"{prefix}az_resources"), _table(f"{prefix}resources"), _table(f"{prefix}services")


def _all(table: Any) -> Any:
    return Select([table], [Value(1).alias("one")])


def _aliases(project: Any, service: Any, resource: Any) -> tuple[Any, ...]:
    return project.alias("project"), service.alias("service"), resource.alias("resource")


def _key(rows: Any) -> tuple[Any, ...]:
    return rows.c.project, rows.c.service, rows.c.resource


def _is_same(one: Any, other: Any) -> Any:
    return reduce(and_, (mine == yours for mine, yours in zip(_key(one), _key(other), strict=True)))


def _epoch(column: Any) -> Any:
    """Returns seconds since the epoch. Times without a zone are UTC there."""
    return fn.date_part("epoch", column)
