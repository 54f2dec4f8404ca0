"""The LIQUID protocol for servers that take a file, such as mod_wsgi."""

import os

os.environ.setdefault("LIMES_CONFIG", "/etc/limes/limes.yaml")
os.environ.setdefault("LIMES_LIQUID_SERVICE", "compute")

from limes.wsgi.liquid import application
