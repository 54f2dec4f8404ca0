"""The LIQUID protocol, for WSGI servers that look for an `application`. `LIMES_LIQUID_SERVICE` names the service."""

from limes.wsgi import liquid_app
from limes.wsgi.application import Application

application = Application(liquid_app)
