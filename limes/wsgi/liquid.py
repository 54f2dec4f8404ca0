"""The LIQUID protocol, for WSGI servers that look for an `application`. `LIMES_LIQUID_SERVICE` names the service."""

from limes.wsgi import Application, liquid_app

application = Application(liquid_app)
