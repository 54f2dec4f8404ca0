"""The tables of the Go Limes, by the version of its schema, as SQL that always gives the same columns.

Three shapes are known:

- 36 to 58: `project_services.type`; each level names its services and resources by itself. Domains have quota of their
  own up to 39, and projects a bursting flag up to 38.
- 60 to 69: the project's rows refer to the cluster's services and resources.
- 70 to 82: quota stands in the AZ row `total`.

59 is the half-way state of one migration, with both shapes at once, and is refused like everything else.
"""

from dataclasses import dataclass

from limes.errors import ConfigError

OLDEST, HALF_WAY, NEWEST = 36, 59, 82
TOTAL_AZ = "total"


@dataclass(frozen=True, slots=True)
class Layout:
    """One version of the schema."""

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
        """Whether each level names its services and resources by itself."""
        return self.version < HALF_WAY

    @property
    def has_domain_quota(self) -> bool:
        """Whether domains have quota of their own. Later releases show the sum of their projects'."""
        return self.version <= 39

    @property
    def has_totals(self) -> bool:
        """Whether quota stands in the AZ row `total`."""
        return self.version >= 70

    @property
    def _prefix(self) -> str:
        return "cluster_" if self.version <= 61 else ""

    # -- what there is -----------------------------------------------------------------------------------------------

    @property
    def capacity(self) -> str:
        """service, resource, capacitor, az, raw_capacity, usage, subcapacities."""
        capacitor = "r.capacitor_id" if self.version <= 51 else "''"
        return (
            f"SELECT s.type AS service, r.name AS resource, {capacitor} AS capacitor, a.az, a.raw_capacity, a.usage,"
            f" a.subcapacities FROM {self._prefix}az_resources a JOIN {self._prefix}resources r ON r.id = a.resource_id"
            f" JOIN {self._prefix}services s ON s.id = r.service_id WHERE a.az <> '{TOTAL_AZ}'"
        )

    @property
    def capacitors(self) -> str:
        """name, scraped_at. Later releases scrape the capacity of a service with its usage."""
        if self.version <= 51:
            return f"SELECT capacitor_id AS name, {_epoch('scraped_at')} AS scraped_at FROM cluster_capacitors"
        return "SELECT '' AS name, NULL::double precision AS scraped_at WHERE FALSE"

    @property
    def units(self) -> str | None:
        """service, resource, unit; None where the database does not say."""
        if self.version < 54:
            return None
        return (
            f"SELECT s.type AS service, r.name AS resource, CASE WHEN r.unit = 'piece' THEN '' ELSE r.unit END AS unit"
            f" FROM {self._prefix}resources r JOIN {self._prefix}services s ON s.id = r.service_id"
            " WHERE r.liquid_version > 0"
        )

    @property
    def domains(self) -> str:
        """uuid, name."""
        return "SELECT uuid, name FROM domains"

    @property
    def domain_quotas(self) -> str:
        """domain, service, resource, quota."""
        if self.has_domain_quota:
            return (
                "SELECT d.uuid AS domain, s.type AS service, r.name AS resource, r.quota FROM domain_resources r"
                " JOIN domain_services s ON s.id = r.service_id JOIN domains d ON d.id = s.domain_id"
            )
        return (
            "SELECT d.uuid AS domain, q.service, q.resource, SUM(q.quota)::bigint AS quota"
            f" FROM ({self.quotas}) q JOIN projects p ON p.id = q.project JOIN domains d ON d.id = p.domain_id"
            " WHERE q.quota IS NOT NULL GROUP BY d.uuid, q.service, q.resource"
        )

    @property
    def projects(self) -> str:
        """id, uuid, name, parent_uuid, domain, has_bursting."""
        bursting = "p.has_bursting" if self.version <= 38 else "FALSE"
        return (
            f"SELECT p.id, p.uuid, p.name, p.parent_uuid, d.uuid AS domain, {bursting} AS has_bursting"
            " FROM projects p JOIN domains d ON d.id = p.domain_id"
        )

    @property
    def services(self) -> str:
        """project, service, scraped_at, checked_at, stale, duration, error."""
        name, join = ("ps.type", "") if self.is_by_name else ("s.type", self._join_services)
        return (
            f"SELECT ps.project_id AS project, {name} AS service, {_epoch('ps.scraped_at')} AS scraped_at,"
            f" {_epoch('ps.checked_at')} AS checked_at, ps.stale, ps.scrape_duration_secs AS duration,"
            f" ps.scrape_error_message AS error FROM project_services ps{join}"
        )

    @property
    def quotas(self) -> str:
        """project, service, resource, quota, backend_quota."""
        if self.is_by_name:
            return (
                "SELECT ps.project_id AS project, ps.type AS service, pr.name AS resource, pr.quota, pr.backend_quota"
                " FROM project_resources pr JOIN project_services ps ON ps.id = pr.service_id"
            )
        values, join = "pr.quota, pr.backend_quota", ""
        if self.has_totals:
            values = "t.quota, t.backend_quota"
            join = (
                f" LEFT JOIN az_resources a ON a.resource_id = r.id AND a.az = '{TOTAL_AZ}'"
                " LEFT JOIN project_az_resources t ON t.az_resource_id = a.id AND t.project_id = pr.project_id"
            )
        return (
            f"SELECT pr.project_id AS project, s.type AS service, r.name AS resource, {values}"
            f" FROM project_resources pr JOIN {self._prefix}resources r ON r.id = pr.resource_id"
            f" JOIN {self._prefix}services s ON s.id = r.service_id{join}"
        )

    @property
    def usages(self) -> str:
        """project, service, resource, az, usage, physical_usage, subresources."""
        values = "pa.usage, pa.physical_usage, pa.subresources"
        if self.is_by_name:
            return (
                f"SELECT ps.project_id AS project, ps.type AS service, pr.name AS resource, pa.az, {values}"
                " FROM project_az_resources pa JOIN project_resources pr ON pr.id = pa.resource_id"
                " JOIN project_services ps ON ps.id = pr.service_id"
            )
        return (
            f"SELECT pa.project_id AS project, s.type AS service, r.name AS resource, a.az, {values}"
            f" FROM project_az_resources pa{self._join_az} WHERE a.az <> '{TOTAL_AZ}'"
        )

    @property
    def commitments(self) -> str:
        """id, uuid, project, service, resource, az, amount, duration, state, and times and people."""
        if self.is_by_name:
            project, service, resource, az = "ps.project_id", "ps.type", "pr.name", "pa.az"
            join = (
                " JOIN project_az_resources pa ON pa.id = c.az_resource_id"
                " JOIN project_resources pr ON pr.id = pa.resource_id"
                " JOIN project_services ps ON ps.id = pr.service_id"
            )
        else:
            project, service, resource, az = "c.project_id", "s.type", "r.name", "a.az"
            join = self._join_az.replace("pa.az_resource_id", "c.az_resource_id")
        uuid = "c.uuid" if self.version >= 57 else "NULL::text"
        state = "c.status" if self.version >= 65 else "c.state"
        before = "c.predecessor_id" if self.version <= 49 else "(c.creation_context_json->'related_ids'->>0)::bigint"
        deleted = "c.deleted_at IS NULL" if self.version >= 71 else "TRUE"
        return (
            f"SELECT c.id, {uuid} AS uuid, {project} AS project, {service} AS service, {resource} AS resource,"
            f" {az} AS az, c.amount, c.duration, {state} AS state, {_epoch('c.created_at')} AS created_at,"
            f" c.creator_uuid, c.creator_name, {_epoch('c.confirm_by')} AS confirm_by,"
            f" {_epoch('c.confirmed_at')} AS confirmed_at, {_epoch('c.expires_at')} AS expires_at,"
            f" {_epoch('c.superseded_at')} AS superseded_at, {before} AS predecessor, c.transfer_status,"
            f" NULLIF(c.transfer_token, '') AS transfer_token FROM project_commitments c{join} WHERE {deleted}"
        )

    # -- what has no place here --------------------------------------------------------------------------------------

    @property
    def dropped(self) -> dict[str, str]:
        """What is not imported, with SQL that counts it."""
        found = {
            "rates of projects: the Resource API has none": "SELECT COUNT(*) FROM project_rates",
            "quotas by AZ, which the autogrow model gives: quota here is for all AZs": (
                f"SELECT COUNT(*) FROM project_az_resources pa WHERE pa.quota IS NOT NULL{self._not_total}"
            ),
            "historical usage, of which the autogrow model makes quota": (
                "SELECT COUNT(*) FROM project_az_resources WHERE historical_usage NOT IN ('', '{}')"
            ),
        }
        if self.version >= 49:
            found["mails that wait to be sent"] = "SELECT COUNT(*) FROM project_mail_notifications"
        if self.version >= 71:
            sql = "SELECT COUNT(*) FROM project_commitments WHERE deleted_at IS NOT NULL"
            found["commitments that were deleted"] = sql
        for column, first, last in (
            ("max_quota_from_admin", 38, 44),
            ("max_quota_from_outside_admin", 45, NEWEST),
            ("override_quota_from_config", 38, NEWEST),
        ):
            if first <= self.version <= last:
                sql = f"SELECT COUNT(*) FROM project_resources WHERE {column} IS NOT NULL"
                found[f"{column}, for the autogrow model (constraints_path is what there is here)"] = sql
        return found

    @property
    def counts(self) -> dict[str, str]:
        """How many rows each of the statements above has to give, by its name: none may be lost in a join."""
        kept = " WHERE c.deleted_at IS NULL" if self.version >= 71 else ""
        return {
            "projects": "SELECT COUNT(*) FROM projects",
            "services": "SELECT COUNT(*) FROM project_services",
            "quotas": "SELECT COUNT(*) FROM project_resources",
            "usages": f"SELECT COUNT(*) FROM project_az_resources pa WHERE TRUE{self._not_total}",
            "commitments": f"SELECT COUNT(*) FROM project_commitments c{kept}",
        }

    @property
    def _not_total(self) -> str:
        if self.is_by_name:
            return ""
        return f" AND pa.az_resource_id NOT IN (SELECT id FROM {self._prefix}az_resources WHERE az = '{TOTAL_AZ}')"

    @property
    def _join_services(self) -> str:
        return f" JOIN {self._prefix}services s ON s.id = ps.service_id"

    @property
    def _join_az(self) -> str:
        return (
            f" JOIN {self._prefix}az_resources a ON a.id = pa.az_resource_id"
            f" JOIN {self._prefix}resources r ON r.id = a.resource_id"
            f" JOIN {self._prefix}services s ON s.id = r.service_id"
        )


def _epoch(column: str) -> str:
    """Seconds since the epoch. Times without a zone are UTC there."""
    return f"EXTRACT(EPOCH FROM {column})::double precision"
