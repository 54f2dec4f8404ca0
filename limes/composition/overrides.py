"""The file of quota overrides, which is read again whenever it has changed."""

import logging
import threading
from pathlib import Path

from limes.core.catalog import Catalog
from limes.core.constraints import NO_OVERRIDES, QuotaOverrides, parse_overrides
from limes.errors import ConfigError
from limes.settings import read_yaml

log = logging.getLogger(__name__)

_Signature = tuple[int, ...] | None
"""What tells one state of the file from another. None if there is no file."""


class OverridesFile:
    """What `quota_overrides_path` names. Threads may share it.

    While a changed file cannot be used, the last good one stays in force: quota of many projects would move otherwise.
    """

    def __init__(self, path: Path | None, catalog: Catalog) -> None:
        """Reads the file; without a path there are no overrides. Raises `ConfigError` with all problems."""
        self._path = path
        self._catalog = catalog
        self._lock = threading.Lock()
        self._is_valid = True
        self._signature = _look_at(path) if path is not None else None
        self._overrides = self._read(path) if path is not None else NO_OVERRIDES

    def current(self) -> QuotaOverrides:
        """Returns the overrides of the file as it is now, or as it was when it could be used last."""
        if self._path is not None:
            with self._lock:
                self._follow(self._path)
        return self._overrides

    def is_valid(self) -> bool:
        """Returns whether the file can be used as it is now."""
        self.current()
        return self._is_valid

    def _follow(self, path: Path) -> None:
        signature = _look_at(path)  # before reading: what changes meanwhile is read the next time
        if signature == self._signature:
            return
        self._signature = signature
        try:
            self._overrides = self._read(path)
            self._is_valid = True
            log.info("%s has changed: quota overrides: %d", path, len(self._overrides))
        except ConfigError as error:
            self._is_valid = False
            for problem in error.problems:
                log.error("%s", problem)
            log.error("%s has changed and cannot be used: the last good overrides stay in force", path)

    def _read(self, path: Path) -> QuotaOverrides:
        return parse_overrides(read_yaml(path), self._catalog)


def _look_at(path: Path) -> _Signature:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
