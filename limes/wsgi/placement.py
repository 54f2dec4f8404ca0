"""The Placement API, for WSGI servers that look for an `application`."""

from limes.wsgi import placement_app
from limes.wsgi.application import Application

application = Application(placement_app)
