"""Usage whose availability zone is not known, of resources whose commitments are for one zone."""

from collections.abc import Iterator

from limes.composition.cluster import build_cluster
from limes.composition.identity import open_cloud
from limes.core.commitment_zones import az_aware_refs
from limes.db.engine import Engine
from limes.db.queries.usage import unplaced_usage
from limes.doctor.finding import Finding, warning
from limes.errors import LimesError
from limes.settings import Settings

_MEND = "let the backend report usage by zone (docs/adr/0014), or set commitment_is_az_aware: false for the resource"


def check_zones(name: str, engine: Engine, settings: Settings) -> Iterator[Finding]:
    """What is used in unknown zones. It is never sold, so that less can be committed to than there is room."""
    try:
        catalog = build_cluster(settings, open_cloud(settings)).catalog
    except LimesError:
        return  # the check of the configuration says why
    wanted = set(az_aware_refs(catalog))
    for ref, (usage, projects) in sorted(unplaced_usage(engine).items()):
        resource = catalog.find(ref)
        if ref in wanted and resource is not None:
            used = f"{resource.unit.render(usage)} of {'/'.join(ref)} used in unknown zones"
            text = f"{used} (projects: {projects}); commitments are for one zone, so this much is never sold"
            yield warning(f"{name}.zones", text, _MEND)
