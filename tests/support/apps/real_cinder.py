"""A whole Cinder (API, scheduler, one volume service for each backend) in one process: FILE PORT.

Run in the `real` environment. The bus between them is oslo.messaging's fake one, so they have to be in one process.
"""

import os
import sys

FILE, PORT = sys.argv[1], int(sys.argv[2])
sys.path.insert(0, os.path.dirname(__file__))
sys.argv = ["cinder", "--config-file", FILE]

from cinder import monkey_patch  # noqa: E402 - arguments first, oslo.config reads them

monkey_patch.patch()

import eventlet  # noqa: E402 - patched before
import oslo_service.backend as backend  # noqa: E402 - patched before

backend.init_backend(backend.BackendType.EVENTLET)

from cinder import service  # noqa: E402 - the backend is chosen before
from cinder.cmd import volume as volume_command  # noqa: E402 - the backend is chosen before
from cinder.wsgi import wsgi as cinder_wsgi  # noqa: E402 - the backend is chosen before
from eventlet import wsgi  # noqa: E402 - patched before
from oslo_config import cfg  # noqa: E402 - arguments first


class OwnRow(service.Service):
    """A service that says of itself that it is alive. Cinder keeps the id of the row that a process reports to in its
    class: several services in one process would all write, with their own AZ, into the row of the last one.
    """

    def report_state(self) -> None:
        service.Service.service_id = self.origin_service_id
        super().report_state()


app = cinder_wsgi.initialize_application()
OwnRow.create(binary="cinder-scheduler").start()
for name in cfg.CONF.enabled_backends:
    cfg.CONF.register_opt(volume_command.host_opt, group=name)
    OwnRow.create(host=f"{cfg.CONF.host}@{name}", service_name=name, binary="cinder-volume", coordination=True).start()
wsgi.server(eventlet.listen(("127.0.0.1", PORT)), app, log_output=False)
