"""Free ports on the loopback."""

from __future__ import annotations

import socket
import sys

import psutil

from jochi.errors import UsageError
from jochi.localserver.errors import PortTaken

_HOST = "127.0.0.1"


def check(port: int) -> None:
    """`UsageError` for a number that is no port of an ordinary user."""
    if not 1024 <= port <= 65535:
        raise UsageError(f"{port} can't be the port", fix="give one from 1024 to 65535, or none for any free one")


def is_free(port: int) -> bool:
    """True when nobody listens on ``port`` and it can be bound."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        # Some systems let a second socket bind beside a listener on all addresses; a listener answers, though.
        if probe.connect_ex((_HOST, port)) == 0:
            return False
    with socket.socket() as bound:
        if sys.platform != "win32":
            # As the server does itself: connections of a server that just stopped don't count.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((_HOST, port))
        except OSError:
            return False
    return True


def any_free() -> int:
    """A port that the system says is free now."""
    with socket.socket() as bound:
        bound.bind((_HOST, 0))
        return int(bound.getsockname()[1])


def expect_free(port: int) -> None:
    """`PortTaken`, with the holder where the system tells it, when ``port`` is not free."""
    if not is_free(port):
        raise taken(port)


def taken(port: int) -> PortTaken:
    """The error for a port that another process has."""
    return PortTaken(
        f"port {port} is taken{_holder(port)}",
        where=f"{_HOST}:{port}",
        fix="give another --port, or none for any free one",
    )


def _holder(port: int) -> str:
    try:
        for connection in psutil.net_connections(kind="tcp"):
            if connection.laddr and connection.laddr.port == port and connection.status == psutil.CONN_LISTEN:
                if connection.pid is None:
                    return ""
                return f" by {psutil.Process(connection.pid).name()} (pid {connection.pid})"
    except psutil.Error:
        pass
    return ""
