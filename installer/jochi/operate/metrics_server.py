"""Serves metrics over HTTP: `/metrics` for Prometheus, `/healthz` and `/readyz` for whoever starts and stops the process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from socket import AF_INET6, getaddrinfo
from threading import Thread
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer

from jochi.errors import JochiError, UsageError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

LOOPBACK = "127.0.0.1"

KEPT = 5.0
"""Seconds for which everybody who asks gets the same read of the database."""

Ready = Callable[[], str | None]
"""Why the process isn't ready; None: it is."""


def address(text: str) -> tuple[str, int]:
    """Host and port of `9747`, `:9747`, `0.0.0.0:9747` or `[::1]:9747`; loopback where no host is named. `UsageError`."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65535 or (":" in host and not host.startswith("[")):
        raise UsageError(
            f"{text!r} is no address to serve at", fix="write it as PORT or HOST:PORT, such as 0.0.0.0:9747"
        )
    return host.strip("[]") or LOOPBACK, int(port)


def application(registry: CollectorRegistry, ready: Ready) -> WSGIApplication:
    """The three paths; every other one is not found."""
    metrics = make_wsgi_app(registry)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/metrics":
            return metrics(environ, start_response)  # type: ignore[no-any-return]
        why: str | None = None
        status = HTTPStatus.OK
        if path == "/readyz":
            why = ready()
            status = HTTPStatus.OK if why is None else HTTPStatus.SERVICE_UNAVAILABLE
        elif path != "/healthz":
            status, why = HTTPStatus.NOT_FOUND, "there are /metrics, /healthz and /readyz"
        body = f"{'ok' if why is None else ' '.join(why.split())}\n".encode()
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
        start_response(f"{status.value} {status.phrase}", headers)
        return [] if environ.get("REQUEST_METHOD") == "HEAD" else [body]

    return answer


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """A line for each scrape tells nobody anything."""


class Server:
    """A server that answers in threads of its own until it is closed. ``port`` is the one that it got."""

    def __init__(self, registry: CollectorRegistry, ready: Ready, host: str, port: int) -> None:
        class Threading(ThreadingWSGIServer):
            pass

        try:
            family = getaddrinfo(host, port)[0][0]
            Threading.address_family = AF_INET6 if family == AF_INET6 else Threading.address_family
            self._server: WSGIServer = make_server(
                host, port, application(registry, ready), Threading, handler_class=_Silent
            )
        except OSError as error:
            raise JochiError(
                f"metrics can't be served: {error.strerror}",
                where=f"{host}:{port}",
                fix="name a free port, and a host of this machine",
            ) from None
        self.host, self.port = host, int(self._server.server_port)
        self._thread = Thread(target=self._server.serve_forever, name="jochi-metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops answering."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()
