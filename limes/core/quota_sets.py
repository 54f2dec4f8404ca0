"""Preset sizes: quotas of several resources under one name, such as `medium`."""

from collections.abc import Mapping
from dataclasses import dataclass

from limes.core.catalog import Ref


@dataclass(frozen=True, slots=True)
class QuotaSet:
    """One size. Domains and projects have the same ones."""

    name: str
    description: str
    quotas: Mapping[Ref, int]
    """In the units of the resources."""
