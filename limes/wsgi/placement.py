"""The Placement API, for WSGI servers that look for an `application`."""

from limes.wsgi import Application, placement_app

application = Application(placement_app)
