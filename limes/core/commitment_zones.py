"""Where commitments for one AZ meet usage whose AZ nobody knows."""

from limes.core.catalog import Catalog, Ref


def az_aware_refs(catalog: Catalog) -> list[Ref]:
    """The resources whose commitments are for one AZ."""
    behaviors = ((ref, catalog.behavior(ref)) for ref in catalog.refs())
    return [ref for ref, one in behaviors if one.commitment_durations and one.commitment_is_az_aware]


def refs_without_zones(catalog: Catalog) -> list[Ref]:
    """Those of them whose backend does not report usage AZ by AZ, as far as it says beforehand."""
    return [ref for ref in az_aware_refs(catalog) if (resource := catalog.find(ref)) and not resource.az_aware]
