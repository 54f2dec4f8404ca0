"""Python's HTTP server, for tests."""

import logging
import sys
from http.server import ThreadingHTTPServer
from typing import Any

log = logging.getLogger(__name__)


class HttpServer(ThreadingHTTPServer):
    """One that logs its errors in a line. Python's writes them to standard error, from a thread that may outlive its
    test, and so into what another test reads there."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.warning("%s: %r", client_address, sys.exc_info()[1])
