"""What the collector's use cases tell whoever counts. The default counts nothing; `limes.metrics.jobs` does."""


class Telemetry:
    """Called after the commit of what it tells, from any thread. Nothing may be raised, and nothing takes long."""

    def drift_found(self, service_type: str) -> None:
        """A scrape found a project whose backend quota somebody else has changed."""

    def drift_repaired(self, service_type: str) -> None:
        """The backend was told the right quota again."""

    def lease_taken_over(self, task: str) -> None:
        """A task of this kind (a job's name, without its service) was claimed, and its former claim had never ended."""


SILENT = Telemetry()
"""Counts nothing."""
