"""A local server that speaks OpenAI's `POST /v1/embeddings`, and fails in whatever way a test asks for."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.unit.stub_http import serving

DIMENSIONS = 8


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector that only this text has; not of length 1."""
    digest = hashlib.sha256(text.encode()).digest()
    return [float(byte) - 127.5 for byte in digest[:dimensions]]


def packed(vector: list[float]) -> str:
    """As OpenAI sends `encoding_format: base64`."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


@dataclass
class Answer:
    """What the stub does once. ``close``: cuts the connection; ``hang``: says nothing until the test ends; ``drip``: seconds
    between two bytes."""

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    close: bool = False
    hang: bool = False
    drip: float = 0.0
    change: Callable[[dict[str, Any]], Any] | None = None


@dataclass
class Stub:
    """``script``: what to do at the next requests; once it is used up they are answered rightly. ``always``: for each request."""

    url: str
    key: str | None = None
    script: list[Answer] = field(default_factory=list)
    always: Callable[[dict[str, Any]], Answer | None] = lambda request: None
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request."""
        return [request["input"] for request in self.requests]


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Answer:
    """An error as OpenAI words it."""
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
    return Answer(status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()})


@contextmanager
def stub_server() -> Iterator[Stub]:
    """A running stub on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            stub.requests.append(request)
            stub.authorizations.append(self.headers.get("Authorization"))
            answer = stub.always(request) or (stub.script.pop(0) if stub.script else None) or Answer()
            if answer.hang:
                stub.done.wait()
                answer.close = True
            if answer.close:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if self.path != "/v1/embeddings":
                answer = error(404, f"unknown path {self.path}")
            elif stub.key is not None and self.headers.get("Authorization") != f"Bearer {stub.key}":
                answer = error(
                    401, f"Incorrect API key provided: {self.headers.get('Authorization')}", "invalid_api_key"
                )
            body = answer.body if answer.body is not None else self._right(request, answer)
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                for byte in body if answer.drip else ():
                    self.wfile.write(bytes([byte]))
                    if stub.done.wait(answer.drip):
                        return
                if not answer.drip:
                    self.wfile.write(body)
            except OSError:
                self.close_connection = True

        def _right(self, request: dict[str, Any], answer: Answer) -> bytes:
            length = request.get("dimensions", DIMENSIONS)
            vectors = [vector_of(text, length) for text in request["input"]]
            as_base64 = request.get("encoding_format", "float") == "base64"
            data = [
                {"object": "embedding", "index": place, "embedding": packed(vector) if as_base64 else vector}
                for place, vector in enumerate(vectors)
            ]
            right = {
                "object": "list",
                "data": data,
                "model": request["model"],
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
            }
            return json.dumps(right if answer.change is None else answer.change(right)).encode()

        def log_message(self, *_: object) -> None:
            pass

    stub = Stub("")
    with serving(Handler, stub.done) as port:
        stub.url = f"http://127.0.0.1:{port}/v1"
        yield stub
