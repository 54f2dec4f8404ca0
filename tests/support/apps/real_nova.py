"""A whole Nova in one process: API, conductor, scheduler and computes with a fake hypervisor, over an in-process bus; run
in the `real` environment, with its folder as argument.

Makes the databases first. Every compute host is named in $NOVA_HOSTS.
"""

import os
import sys
import traceback
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

FOLDER = sys.argv[1]
CONFIG = f"{FOLDER}/nova.conf"
os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "true"
os.environ["OS_NOVA_CONFIG_DIR"] = FOLDER
sys.argv = ["nova", "--config-file", CONFIG]

from nova import monkey_patch  # noqa: E402 - nova reads its configuration's place from above

monkey_patch.patch(backend="threading")

import nova.cmd.manage  # noqa: E402 - patched before
import nova.conf  # noqa: E402 - patched before
import os_vif  # noqa: E402 - patched before
from nova import config, context, objects, service  # noqa: E402 - patched before
from nova.compute import rpcapi as compute  # noqa: E402 - patched before
from nova.conductor import rpcapi as conductor  # noqa: E402 - patched before
from nova.objects import host_mapping  # noqa: E402 - patched before
from nova.scheduler import rpcapi as scheduler  # noqa: E402 - patched before
from oslo_log import log  # noqa: E402 - patched before
from oslo_service import opts  # noqa: E402 - patched before
from paste import deploy  # noqa: E402 - patched before

CONF = nova.conf.CONF


def manage(*command: str) -> None:
    """One command in a child, because it leaves open databases and options behind."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            sys.argv = ["nova-manage", "--config-file", CONFIG, *command]
            code = nova.cmd.manage.main() or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit(f"nova-manage {' '.join(command)} failed")


def start(binary: str, topic: str, host: str) -> None:
    CONF.set_override("host", host)
    service.Service.create(binary=binary, topic=topic, host=host).start()


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class Handler(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        """Keeps quiet."""


manage("api_db", "sync")
manage("cell_v2", "map_cell0", "--database_connection", os.environ["NOVA_CELL0"])
manage("db", "sync")
manage("cell_v2", "create_cell", "--name", "cell1")
config.parse_args(sys.argv)
log.setup(CONF, "nova")
objects.register_all()
os_vif.initialize()
opts.register_service_opts(CONF)
hosts = os.environ["NOVA_HOSTS"].split()
if hosts:
    start("nova-conductor", conductor.RPC_TOPIC, "control")
    start("nova-scheduler", scheduler.RPC_TOPIC, "control")
    for name in hosts:
        start("nova-compute", compute.RPC_TOPIC, name)
    CONF.set_override("host", "control")
    host_mapping.discover_hosts(context.get_admin_context())
app = deploy.loadapp(f"config:{FOLDER}/api-paste.ini", name="osapi_compute")
make_server("127.0.0.1", int(os.environ["NOVA_PORT"]), app, Server, Handler).serve_forever()
