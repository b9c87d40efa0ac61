"""The life of a stub server: a free port of this machine, a thread, and nothing left in the end."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], done: threading.Event) -> Iterator[int]:
    """Runs ``handler``; yields the port. ``done`` is set before the end: what hangs waits for it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_port
    finally:
        done.set()
        server.shutdown()
        server.server_close()
        thread.join()


def left_open(url: str) -> list[Any]:
    """This process's sockets to a server that aren't closed."""
    port = urlsplit(url).port
    sockets = [one for one in gc.get_objects() if type(one) is socket.socket and one.fileno() >= 0]
    return [one for one in sockets if f", {port})" in str(one).partition("raddr=")[2]]
