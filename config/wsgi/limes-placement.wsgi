"""The Placement API for servers that take a file, such as mod_wsgi."""

import os

os.environ.setdefault("LIMES_CONFIG", "/etc/limes/limes.yaml")

from limes.wsgi.placement import application
