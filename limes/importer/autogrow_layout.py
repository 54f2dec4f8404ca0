"""What the Go Limes keeps for its model `autogrow`, as queries that always give the same columns (`Layout`)."""

from typing import Any

from peewee import JOIN, Select, Table, Value, fn

from limes.core.catalog import ANY_AZ
from limes.importer.layout import TOTAL_AZ, Layout, Rows


class AutogrowLayout(Layout):
    """One version of the schema, with these queries besides."""

    @property
    def bounds(self) -> Rows:
        """project, service, resource, max_quota, forbids_autogrowth: where projects have bounded their quota."""
        row = self.quotas.alias("q")
        columns = (row.c.project, row.c.service, row.c.resource, row.c.max_quota, row.c.forbids_autogrowth)
        return Select([row], columns).where(row.c.max_quota.is_null(False) | row.c.forbids_autogrowth)

    @property
    def overrides(self) -> Rows:
        row = self.quotas.alias("q")
        project: Any = Table("projects")
        domain: Any = Table("domains")
        names = (domain.c.name.alias("domain"), project.c.name.alias("project"))
        return (
            Select([row], [*names, row.c.service, row.c.resource, row.c.override])
            .join(project, on=project.c.id == row.c.project)
            .join(domain, on=domain.c.id == project.c.domain_id)
            .where(row.c.override.is_null(False))
        )

    @property
    def az_quotas(self) -> Rows:
        """project, service, resource, az, quota, is_split.

        Where the quotas by AZ do not add up to the project's quota, that is in no particular AZ, and not split.
        """
        part, other, whole = self._parts().alias("p"), self._parts().alias("o"), self.quotas.alias("w")
        key = (part.c.project, part.c.service, part.c.resource)
        split = Select([part], [*key, part.c.az, part.c.quota, Value(True).alias("is_split")]).where(part.c.adds_up)
        other_key = (other.c.project, other.c.service, other.c.resource)
        known = Select([other], other_key).where(other.c.adds_up).group_by(*other_key).alias("k")
        quota = fn.COALESCE(whole.c.quota, 0).alias("quota")
        whole_key = (whole.c.project, whole.c.service, whole.c.resource)
        in_any = [*whole_key, Value(ANY_AZ).alias("az"), quota, Value(False).alias("is_split")]
        rest = Select([whole], in_any).join(known, JOIN.LEFT_OUTER, on=_is_same(known, whole))
        return split.union_all(rest.where(known.c.project.is_null()))

    def _parts(self) -> Rows:
        row: Any = Table("project_az_resources")
        parts = self.with_place(row, row, row.c.quota).where(row.c.quota.is_null(False))
        parts, whole = self._without_total(parts).alias("p"), self.quotas.alias("w")
        key = (parts.c.project, parts.c.service, parts.c.resource)
        adds_up = whole.c.quota == fn.SUM(parts.c.quota).over(partition_by=key)
        columns = [*key, parts.c.az, parts.c.quota, adds_up.alias("adds_up")]
        return Select([parts], columns).join(whole, on=_is_same(whole, parts))

    @property
    def usage_histories(self) -> Rows:
        row: Any = Table("project_az_resources")
        query = self.with_place(row, row, row.c.usage, row.c.historical_usage.alias("history"))
        return self._without_total(query.where(row.c.historical_usage.not_in(["", "{}"])))

    def _without_total(self, query: Rows) -> Rows:
        if self.is_by_name:
            return query
        az, _, _ = self.cluster_tables()
        return query.where(az.c.az != TOTAL_AZ)

    @property
    def dropped_quotas(self) -> dict[str, Rows]:
        part = self._parts().alias("p")
        text = "quotas by AZ that do not add up to the project's quota"
        return {text: Select([part], [Value(1).alias("one")]).where(~part.c.adds_up)}


def _is_same(one: Any, other: Any) -> Any:
    return (
        (one.c.project == other.c.project) & (one.c.service == other.c.service) & (one.c.resource == other.c.resource)
    )
