"""A whole Swift (account, container, object, proxy) in one process; run in the `real` environment with its folder as argument.

The stock daemons read storage policies from the default /etc folder only, so here they are read before.
"""

import os
import sys

import eventlet

eventlet.monkey_patch()

from eventlet import wsgi  # noqa: E402 - patched before
from swift.common import storage_policy, utils  # noqa: E402 - patched before

FOLDER = sys.argv[1]
utils.set_swift_dir(FOLDER)
storage_policy.reload_storage_policies()

from swift.common.wsgi import SwiftHttpProtocol, loadapp  # noqa: E402 - the policies have to be known

servers = []
for name in ("account", "container", "object", "proxy"):
    port = int(os.environ[f"SWIFT_{name.upper()}_PORT"])
    app = loadapp(f"{FOLDER}/{name}-server.conf")
    listener = eventlet.listen(("127.0.0.1", port))
    servers.append(eventlet.spawn(wsgi.server, listener, app, protocol=SwiftHttpProtocol, log_output=False))
for server in servers:
    server.wait()
