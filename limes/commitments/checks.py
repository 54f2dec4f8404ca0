"""What `limes doctor` examines: whether all usage can be covered by commitments."""

from collections.abc import Iterator

from limes.app.context import Limes
from limes.commitments.rules import az_aware_refs
from limes.kernel.findings import Finding, warning
from limes.usage.project_sums import unplaced_usage

_REPORT_ZONES = (
    "let the backend report usage by zone (docs/adr/0014), or set commitment_is_az_aware: false for the resource"
)


def check_zones(name: str, limes: Limes) -> Iterator[Finding]:
    """What is used in unknown zones. It is never sold, so that less can be committed to than there is room."""
    catalog, wanted = limes.catalog, set(az_aware_refs(limes.catalog))
    for ref, (usage, projects) in sorted(unplaced_usage(limes.engine).items()):
        resource = catalog.find(ref)
        if ref in wanted and resource is not None:
            used = f"{resource.unit.render(usage)} of {'/'.join(ref)} used in unknown zones"
            text = f"{used} (projects: {projects}); commitments are for one zone, so this much is never sold"
            yield warning(f"{name}.zones", text, _REPORT_ZONES)


CHECKS = (check_zones,)
