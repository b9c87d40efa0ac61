"""A local server that speaks Anthropic's `POST /v1/messages` and OpenAI's `POST /v1/chat/completions`, and fails as a test asks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.unit.stub_http import serving


@dataclass
class Answer:
    """What the stub does once: ``text`` and ``stop`` (Anthropic's word) in the right form, or ``body`` as it is. ``drip``: seconds
    between two bytes; ``hang``: says nothing until the test ends; ``close``: cuts the connection; ``cut``: after half of the body;
    ``drip_head``: seconds between two headers without end; ``first``: what it does before it says anything."""

    text: str = "A summary."
    stop: str | None = "end_turn"
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0.0
    hang: bool = False
    close: bool = False
    cut: bool = False
    drip_head: float = 0.0
    first: Callable[[], None] = field(default=lambda: None, repr=False)
    usage: bool = True
    refusal: str | None = None
    tool: bool = False


_OPENAI_STOP = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter", "tool_use": "tool_calls"}


@dataclass
class Stub:
    """``script``: what to do at the next requests; ``always``: after it. ``count``: the tokens of a text, where a test looks at how
    many there are; else each request has 11 and each answer 7."""

    url: str
    count: Callable[[str], int] | None = None
    script: list[Answer] = field(default_factory=list)
    always: Answer = field(default_factory=Answer)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)


@contextmanager
def stub_server() -> Iterator[Stub]:
    """A running stub on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            stub.requests.append(request)
            stub.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = stub.script.pop(0) if stub.script else stub.always
            answer.first()
            # Like a real one it keeps connections open, but for those that a test has it cut.
            self.close_connection = answer.hang or answer.close or answer.cut or answer.drip > 0 or answer.drip_head > 0
            if answer.hang:
                stub.done.wait()
            if answer.hang or answer.close:
                return
            body = (
                answer.body
                if answer.body is not None
                else json.dumps(_worded(self.path, request, answer, stub.count)).encode()
            )
            self.send_response(answer.status)
            while answer.drip_head and not stub.done.wait(answer.drip_head):
                self.send_header("X-More", "more")
                try:
                    self.flush_headers()
                except OSError:
                    return
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for byte in body if answer.drip else ():
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    if stub.done.wait(answer.drip):
                        return
                if not answer.drip:
                    self.wfile.write(body[: len(body) // 2] if answer.cut else body)
            except OSError:
                return

        def log_message(self, *_: Any) -> None: ...

    stub = Stub("")
    with serving(Handler, stub.done) as port:
        stub.url = f"http://127.0.0.1:{port}"
        yield stub


def _worded(path: str, request: dict[str, Any], answer: Answer, count: Callable[[str], int] | None) -> dict[str, Any]:
    if answer.status != 200:
        # Some endpoints quote what they were sent, key and all.
        return {"error": {"message": json.dumps(request), "type": "error"}}
    if path.split("?")[0] == "/v1/messages":
        content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}]
        if answer.tool:
            content = [{"type": "tool_use", "id": "t1", "name": "delete", "input": {}}]
        found = {"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "content": content}
        found |= {"stop_reason": answer.stop, "stop_sequence": None}
        return found | ({"usage": {"input_tokens": 11, "output_tokens": 7}} if answer.usage else {})
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    if answer.tool:
        call = {"id": "t1", "type": "function", "function": {"name": "delete", "arguments": "{}"}}
        message |= {"content": None, "tool_calls": [call]}
    stop = _OPENAI_STOP.get(answer.stop or "")
    found = {"id": "c1", "object": "chat.completion", "created": 1, "model": request["model"]}
    found |= {"choices": [{"index": 0, "message": message, "finish_reason": stop}]}
    sent, written = 11, 7
    if count is not None:
        # Each message has its role and its marks besides; the schema of an answer is read, too.
        texts = [each["content"] for each in request["messages"]]
        schema = request.get("response_format", {}).get("json_schema", {})
        sent = sum(count(text) + 4 for text in texts) + (count(json.dumps(schema)) if schema else 0)
        written = max(1, count(answer.text))
    used = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
    return found | ({"usage": used} if answer.usage else {})
