"""HAProxy and nginx in front of several hosts, as the guide to two hosts has them, but without TLS and in less time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import requests

from tests.hosts.hosts import Cloud, Host
from tests.setup.needs import HAPROXY, NGINX
from tests.support.machine import require
from tests.support.processes import ServerProcess, free_port

PROCESSES = ("api", "placement")

_HAPROXY = """
global
    log stdout format raw local0
defaults
    mode http
    timeout connect 3s
    timeout client 60s
    timeout server {patience}s
    timeout check {patience}s
    timeout http-request 10s
    timeout http-keep-alive 60s
    http-reuse safe
    retries 3
    option redispatch 1
    retry-on conn-failure empty-response
    option httpchk GET /healthcheck?only=process
    http-check expect status 200
    default-server check inter 300ms fastinter 100ms fall 2 rise 2
frontend state
    bind 127.0.0.1:{state}
    stats enable
    stats uri /
"""
_HAPROXY_PART = """
frontend {name}
    bind 127.0.0.1:{port}
    default_backend {name}
backend {name}
    http-request disable-l7-retry if {{ method POST PATCH }}
"""
_NGINX = """
pid {root}/nginx.pid;
error_log stderr;
worker_processes 1;
events {{}}
http {{
    access_log off;
    client_body_temp_path {root}/body;
    proxy_temp_path {root}/proxy;
    fastcgi_temp_path {root}/fastcgi;
    uwsgi_temp_path {root}/uwsgi;
    scgi_temp_path {root}/scgi;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_connect_timeout 3s;
    proxy_read_timeout {patience}s;
    proxy_next_upstream error timeout;
    proxy_next_upstream_tries 2;
    add_header X-Upstream $upstream_addr always;
"""
_NGINX_PART = """
    upstream {name} {{
        zone {name} 64k;
{servers}
        keepalive 32;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass http://{name}; }}
    }}
"""


class Proxy(Protocol):
    """One address for each API, whatever hosts there are."""

    process: ServerProcess

    def send(self, process: str, method: str, path: str, **options: Any) -> requests.Response:
        """Sends a request to `api` or `placement`."""
        ...


class _Proxy:
    def __init__(self, command: Sequence[str | Path], config: Path, folder: Path) -> None:
        self.ports = {name: free_port() for name in PROCESSES}
        self.config = config
        self.process = ServerProcess(command, ready=self._answers, log=folder / f"{config.stem}.log")

    def _answers(self) -> bool:
        try:
            return all(self.send(name, "GET", "/healthcheck").status_code == 200 for name in PROCESSES)
        except requests.RequestException:
            return False

    def send(self, process: str, method: str, path: str, **options: Any) -> requests.Response:
        """Each request has a connection of its own, as those of many clients do."""
        with requests.Session() as session:
            session.trust_env = False
            return session.request(method, f"http://127.0.0.1:{self.ports[process]}{path}", timeout=200, **options)


class HAProxy(_Proxy):
    """Asks each host's health."""

    def __init__(self, cloud: Cloud, hosts: Sequence[Host], patience: int = 60) -> None:
        config = cloud.folder / "haproxy.cfg"
        super().__init__([require(HAPROXY), "-db", "-f", config], config, cloud.folder)
        self._state = free_port()
        text = _HAPROXY.format(state=self._state, patience=patience)
        for name in PROCESSES:
            text += _HAPROXY_PART.format(name=name, port=self.ports[name])
            text += "".join(f"    server host{host.number} {host.at(name)}\n" for host in hosts)
        config.write_text(text)

    def uses(self, host: Host) -> bool:
        """Whether it sends requests to both APIs of the host."""
        lines = requests.get(f"http://127.0.0.1:{self._state}/;csv", timeout=60).text.splitlines()
        rows = [line.split(",") for line in lines]
        states = {row[0]: row[17] for row in rows if row[1:2] == [f"host{host.number}"]}
        return all(states[name] == "UP" for name in PROCESSES)


class Nginx(_Proxy):
    """Finds out that a host is gone by requests that fail."""

    def __init__(self, cloud: Cloud, hosts: Sequence[Host], patience: int = 60) -> None:
        root = cloud.folder / "nginx"
        root.mkdir()
        config = root / "nginx.conf"
        command = [require(NGINX), "-p", root, "-c", config, "-g", "daemon off; user root;"]
        super().__init__(command, config, cloud.folder)
        text = _NGINX.format(root=root, patience=patience)
        for name in PROCESSES:
            servers = "\n".join(f"        server {host.at(name)} max_fails=1 fail_timeout=1s;" for host in hosts)
            text += _NGINX_PART.format(name=name, port=self.ports[name], servers=servers)
        config.write_text(text + "}\n")

    def uses(self, host: Host) -> bool:
        """Whether the host has answered a request to each of its APIs. A host that did not answer is tried again after a
        second; if the other one goes before that, there is none left."""
        answers = {name: self.send(name, "GET", "/healthcheck") for name in PROCESSES}
        return all(answers[name].headers["x-upstream"].endswith(host.at(name)) for name in PROCESSES)
