"""The Limes Resource API, for WSGI servers that look for an `application`."""

from limes.wsgi import Application, limes_app

application = Application(limes_app)
