"""An installation that the doctor looks at: healthy, until a test breaks it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from limes.app.doctor.examination import Diagnosis, examine
from limes.kernel.findings import Finding, Level

DOMAIN = {"id": "d-north", "name": "north", "projects": [{"id": "p-berlin", "name": "berlin", "parent_id": "d-north"}]}


class LateClock:
    """A clock that is off by so many seconds."""

    def __init__(self, ahead: float) -> None:
        self._ahead = timedelta(seconds=ahead)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def monotonic(self) -> float:
        return 0.0


class Patient:
    """Change `document` (the configuration) and `environ`, then `examine()`."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.path = folder / "limes.yaml"
        self.environ = {"LIMES_CONFIG": str(self.path)}
        self.document: dict[str, Any] = {
            "availability_zones": ["az-one"],
            "database": {"url": database_url},
            "discovery": {"method": "static", "params": {"domains": [DOMAIN]}},
            "services": [
                {
                    "service_type": "storage",
                    "type": "static",
                    "params": {"area": "storage", "resources": {"capacity": {"unit": "GiB", "usage": 1}}},
                }
            ],
            "capacitors": [{"id": "racks", "type": "manual", "params": {"values": {"storage": {"capacity": 100}}}}],
            "identity": {"method": "sample", "sample": {}},
        }

    def write(self) -> str:
        """Writes the file, and answers its path."""
        self.path.write_text(yaml.safe_dump(self.document))
        self.path.chmod(0o600)
        return str(self.path)

    def examine(self, **options: Any) -> Diagnosis:
        """What the doctor says."""
        self.write()
        return examine(environ=self.environ, **{"timeout": 30.0, **options})

    def findings(self, check: str, **options: Any) -> list[Finding]:
        """What the doctor says of one check and those below it."""
        found = self.examine(only=[check.partition(".")[0]], **options).findings
        return [one for one in found if f"{one.check}.".startswith(f"{check}.")]

    def finding(self, check: str, **options: Any) -> Finding:
        """The only thing that the doctor says of one check."""
        found = self.findings(check, **options)
        assert len(found) == 1, found
        return found[0]

    def ailment(self, check: str, **options: Any) -> tuple[str, str, str]:
        """Level, message and mend of the only finding of a check, which is no good one."""
        one = self.finding(check, **options)
        assert one.level in (Level.WARNING, Level.PROBLEM), one
        return one.level.value, one.message, one.mend
