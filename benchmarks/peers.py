"""nginx as the service behind the router, and as the proxy that the router is compared with."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin") or "nginx"

CONFIG = """\
daemon off; worker_processes 1; master_process off; pid {folder}/{name}.pid; error_log /dev/null crit;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000; client_body_buffer_size 128k;
  client_body_temp_path {folder}/{name}-body; proxy_temp_path {folder}/{name}-proxy;
  fastcgi_temp_path {folder}/{name}-fastcgi; uwsgi_temp_path {folder}/{name}-uwsgi; scgi_temp_path {folder}/{name}-scgi;
  {http}
}}
"""
SERVICE = """\
server {{ listen 127.0.0.1:{port} backlog=1024; default_type application/json; root /nonexistent;
  set $unit '{unit}'; set $group '{group}';
  location / {{ mirror /read; error_page 403 404 405 =200 @answer; }}
  location = /read {{ internal; return 204; }}
  location @answer {{ return 200 '{{"kind":"c","predictions":["{filling}"]}}'; }} }}
"""
"""`mirror` has the body read before the answer, as a model server does. A word is 4 kB at most, hence the variables."""

PROXY = """\
upstream service {{ server 127.0.0.1:{service}; keepalive 64; keepalive_requests 1000000000; }}
server {{ listen 127.0.0.1:{port} backlog=1024; proxy_buffers 8 32k; proxy_buffer_size 32k;
  location / {{ proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }} }}
"""
UNIT, GROUP = 50, 20


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def nginx(folder: Path, name: str, http: str) -> list[str]:
    """The command of an nginx with this configuration."""
    file = folder / f"{name}.conf"
    file.write_text(CONFIG.format(folder=folder, name=name, http=http))
    return [NGINX, "-e", "/dev/null", "-p", str(folder), "-c", str(file)]


@contextlib.contextmanager
def service(folder: Path, size: int, prefix: list[str]) -> Iterator[int]:
    """A service that answers with about *size* bytes; its port. *prefix*: words before its command."""
    port, count = free_port(), (size - 31) // UNIT
    filling = "$group" * (count // GROUP) + "$unit" * (count % GROUP)
    http = SERVICE.format(port=port, unit="y" * UNIT, group="$unit" * GROUP, filling=filling)
    popen = subprocess.Popen([*prefix, *nginx(folder, "service", http)])  # noqa: S603 - our own
    try:
        wait_until_listening(port)
        yield port
    finally:
        popen.kill()
        popen.wait()


def proxy(folder: Path, service_port: int) -> tuple[list[str], int]:
    """The command of a proxy in front of a service, and its port."""
    port = free_port()
    return nginx(folder, "proxy", PROXY.format(port=port, service=service_port)), port


def wait_until_listening(port: int) -> None:
    """Wait for whoever is to listen.

    Raises:
        RuntimeError: Nobody does within ten seconds.
    """
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"nobody listens on port {port}")
