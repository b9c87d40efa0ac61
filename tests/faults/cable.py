"""A connection that a test can cut."""

from __future__ import annotations

import contextlib
import socket
import threading


class Cable:
    """A TCP forwarder to the server that can be cut: then every connection breaks and no new one comes through.

    Another one that listens on the same port (``listen_on``) mends it.
    """

    def __init__(self, host: str, port: int, *, listen_on: int = 0) -> None:
        self._target = (host, port)
        self._near: list[socket.socket] = []
        self._far: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", listen_on))
        self.port = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._near.append(near)
                far = socket.create_connection(self._target)
                self._far.append(far)
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=(source, target), daemon=True).start()

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)

    def addresses(self) -> set[str]:
        """What the server sees its connections come from, as `host:port`."""
        found = set()
        for end in self._far:
            with contextlib.suppress(OSError):
                host, port = end.getsockname()[:2]
                found.add(f"{host}:{port}")
        return found

    def mended(self) -> Cable:
        """Cuts it; the new one listens where this one did."""
        self.cut()
        return Cable(*self._target, listen_on=self.port)

    def cut(self) -> None:
        _close(self._listener)
        self._accepting.join()  # a connection that comes at this moment is cut, too
        for end in (*self._near, *self._far):
            _close(end)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
