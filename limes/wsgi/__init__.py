"""Composition roots for WSGI servers.

gunicorn calls `limes.wsgi:limes_app()`, `placement_app()` and `liquid_app()`. Other servers, such as uWSGI and
mod_wsgi, take the `application` of the modules `limes.wsgi.api`, `limes.wsgi.placement` and `limes.wsgi.liquid`. All of
them read `LIMES_CONFIG`.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any

from limes.composition.common import load_any_settings, load_settings, set_up_logs
from limes.errors import LimesError
from limes.settings import Settings

log = logging.getLogger("limes")

_APP_LOAD_ERROR = 4
"""The exit code by which gunicorn understands that starting another worker is no use."""


def limes_app() -> Any:
    from limes.api.app import create_app
    from limes.composition.api import build_api

    return _start(lambda settings: create_app(build_api(settings)))


def placement_app() -> Any:
    from limes.composition.placement import build_placement
    from limes.placement.app import create_app

    return _start(lambda settings: create_app(build_placement(settings)), load_any_settings)


def liquid_app() -> Any:
    """Returns the LIQUID protocol for the service that `LIMES_LIQUID_SERVICE` names."""
    from limes.composition.liquid import build_liquid
    from limes.liquid.app import create_app

    return _start(lambda settings: create_app(build_liquid(settings)))


def _start(build: Callable[[Settings], Any], load: Callable[[], Settings] = load_settings) -> Any:
    try:
        settings = load()
        set_up_logs(settings)
        return build(settings)
    except LimesError as error:
        log.critical("cannot start: %s", error)
        sys.exit(_APP_LOAD_ERROR)
