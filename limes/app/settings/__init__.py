"""The configuration file as frozen pydantic models. `load()` reports every problem at once."""

from limes.app.settings.load import load, parse, read_yaml, url_with_password
from limes.app.settings.root import Settings

__all__ = ["Settings", "load", "parse", "read_yaml", "url_with_password"]
