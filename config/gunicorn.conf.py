"""gunicorn for both HTTP APIs, as the Procfile starts it. What you set below overrides Limes's own settings."""

from limes.app.composition.gunicorn_conf import *  # noqa: F403 - gunicorn reads the names of this file

# timeout = 120
# max_requests = 100_000
# forwarded_allow_ips = "10.0.0.1"
