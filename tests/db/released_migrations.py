"""Migrations of all releases. They only go forward: a database that has one keeps what it did."""

from hashlib import sha256
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_LIST = Path(__file__).with_name("released_migrations.txt")


def _migrations() -> dict[str, Path]:
    folders = ("limes/db/migrations", "limes/placement/migrations")
    files = (path for folder in folders for path in sorted((_ROOT / folder).glob("*.py")) if path.name != "__init__.py")
    return {path.relative_to(_ROOT).as_posix(): path for path in files}


MIGRATIONS = _migrations()
"""All there are, by their paths in the checkout, with what they import from beside them."""


def digest(path: str) -> str:
    """Of its text without what it imports, which may move."""
    lines = MIGRATIONS[path].read_text().splitlines()
    return sha256("\n".join(line for line in lines if not line.startswith(("import ", "from "))).encode()).hexdigest()


def released() -> dict[str, str]:
    """The digest that each had when it was released, by its path."""
    lines = (line.split() for line in _LIST.read_text().splitlines())
    return {path: found for found, path in lines}


if __name__ == "__main__":  # `python -m tests.db.released_migrations` at a release: adds those that are new
    old = released()
    _LIST.write_text("".join(f"{old.get(path) or digest(path)}  {path}\n" for path in MIGRATIONS))
