"""What a liquid says of itself: `GET /v1/info`."""

import logging
import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from limes.backends import BackendError, ConfigError, ResourceDef, Unit
from limes_plugins.openstack.client import ServiceClient

log = logging.getLogger(__name__)


class ResourceInfo(BaseModel):
    """One resource. Keys that are not used here are ignored: newer liquids may say more."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    unit: Unit = Unit.COUNT
    category: str | None = Field(default=None, alias="categoryName")
    topology: Literal["flat", "az-aware", "az-separated"] = "flat"
    has_capacity: bool = Field(default=False, alias="hasCapacity")
    has_quota: bool = Field(default=False, alias="hasQuota")
    needs_demand: bool = Field(default=False, alias="needsResourceDemand")

    @field_validator("unit", mode="before")
    @classmethod
    def _without_factor(cls, value: Any) -> Any:
        if isinstance(value, str) and re.fullmatch(r"\d+ ?[KMGTPE]?i?B", value):
            known = ", ".join(unit for unit in Unit if unit.is_measured)
            raise ValueError(
                f"the unit {value!r} has a factor, which Limes does not know: a quota that is no multiple of it could"
                f" never be in force (known: {known})"
            )
        return value

    def definition(self, name: str) -> ResourceDef:
        """Returns the resource as Limes knows it."""
        return ResourceDef(
            name,
            self.unit,
            self.category or "",
            tracks_quota=self.has_quota,
            az_aware=self.topology != "flat",
            az_separated=self.topology == "az-separated",
        )


class ServiceInfo(BaseModel):
    """The whole description."""

    model_config = ConfigDict(frozen=True)

    version: int
    resources: Mapping[str, ResourceInfo] = Field(default_factory=dict)
    usage_needs_project: bool = Field(default=False, alias="usageReportNeedsProjectMetadata")
    quota_needs_project: bool = Field(default=False, alias="quotaUpdateNeedsProjectMetadata")


class InfoKeeper:
    """Has the description at hand. Safe to use from many threads.

    It is asked for when it is needed first, unless the file has it, and again when a report names another version. What
    Limes took over at its start stays until the next one, so a change is logged.
    """

    def __init__(self, client: ServiceClient, file: Path | None) -> None:
        self._client = client
        self._file = file
        self._lock = threading.Lock()
        self._info: ServiceInfo | None = None

    def get(self) -> ServiceInfo:
        """Returns the description that this process began with. Raises `ConfigError` or `BackendError` without one."""
        with self._lock:
            if self._info is None:
                self._info = self._read() or self._fetch()
            return self._info

    def check(self, report: Mapping[str, Any]) -> None:
        """Looks whether a report belongs to another version of the description."""
        version = report.get("infoVersion")
        known = self.get()
        if version == known.version:
            return
        with self._lock:
            fetched = self._fetch()
            if fetched.resources == known.resources:
                self._info = fetched
            else:
                log.warning(
                    "%s has other resources now (version %s instead of %s): restart Limes to take them over",
                    self._client.name,
                    version,
                    known.version,
                )

    def _fetch(self) -> ServiceInfo:
        document = self._client.get("/v1/info")
        try:
            info = ServiceInfo.model_validate(document)
        except ValidationError as error:
            raise BackendError(f"GET /v1/info: {_first(error)}") from None
        if self._file is not None:
            _write(self._file, orjson.dumps(document, option=orjson.OPT_INDENT_2))
        return info

    def _read(self) -> ServiceInfo | None:
        if self._file is None:
            return None
        try:
            return ServiceInfo.model_validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            reason = _first(error) if isinstance(error, ValidationError) else error
            raise ConfigError([f"info_file: {self._file}: {reason} (delete it to have it made anew)"]) from None


def _first(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _write(file: Path, data: bytes) -> None:
    """Replaces the file as a whole, for other processes may read it."""
    try:
        draft = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
        draft.write_bytes(data)
        draft.replace(file)
    except OSError as error:
        log.warning("the description of a liquid cannot be kept in %s: %s", file, error)
