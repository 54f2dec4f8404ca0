"""The Limes Resource API, for WSGI servers that look for an `application`."""

from limes.wsgi import limes_app
from limes.wsgi.application import Application

application = Application(limes_app)
