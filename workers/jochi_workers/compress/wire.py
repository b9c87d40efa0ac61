"""One HTTP request to a provider of summaries: bounded in time and size, never redirected, and silent about the key.

The standard library's client: both wire formats are one POST of JSON, and a vendor's package would bring its own retries and logs.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from jochi.errors import JochiError
from jochi_workers.compress.protocol import ProviderDown, ProviderUnusable, Rejected, Unsure
from jochi_workers.embeddings.openai_compatible import retry_after
from jochi_workers.embeddings.waiting import Waiting

_MOST_BYTES = 4_000_000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 20.0
_NO_MONEY_PAUSE = timedelta(minutes=10)


@dataclass(frozen=True)
class Limits:
    """``timeout``: seconds for one whole answer. ``patience``: seconds that one summary may spend waiting for others, with the
    time-out well below a lease. ``attempts`` at one request."""

    timeout: float = 60.0
    patience: float = 30.0
    attempts: int = 5


class Endpoint:
    """``url``: where requests go, checked by the caller; ``headers`` hold the key and are shown to nobody."""

    def __init__(self, url: str, headers: Mapping[str, str], limits: Limits, waiting: Waiting) -> None:
        self.url = url
        self._headers = {"content-type": "application/json", "accept": "application/json", **headers}
        self._limits = limits
        self._waiting = waiting

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r})"

    def ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that a request is answered with. What was refused before any work was done is asked again."""
        left = self._limits.patience
        for attempt in range(1, self._limits.attempts + 1):
            status, headers, content = self._post(json.dumps(body).encode())
            if status == 200:
                return _object(content)
            error, again, after = self._judged(status, headers)
            pause = after if after is not None else min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
            if not again or attempt == self._limits.attempts or pause > left:
                if again and isinstance(error, ProviderDown) and error.retry_after is None:
                    error.retry_after = timedelta(seconds=pause)
                raise error
            left -= pause
            if self._waiting.sleep(pause) is True:
                raise ProviderDown("the worker is stopping", retry_after=timedelta(0))
        raise AssertionError("the last attempt returned or raised")

    def _post(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        make: Any = http.client.HTTPConnection
        more: dict[str, Any] = {}
        if parts.scheme == "https":
            make, more = http.client.HTTPSConnection, {"context": ssl.create_default_context()}
        ends = time.monotonic() + self._limits.timeout
        connection = make(parts.hostname, parts.port, timeout=self._limits.timeout, **more)
        sent = False
        failure: JochiError
        try:
            connection.request("POST", parts.path, body=body, headers=self._headers)
            sent = True
            answer = connection.getresponse()
            try:
                content = self._read(connection, answer, ends)
            finally:
                answer.close()
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, content
        except TimeoutError:
            what = f"no answer within {self._limits.timeout:g} s"
            failure = Unsure(what, where=self.url) if sent else ProviderDown(what, where=self.url)
        except (OSError, http.client.HTTPException) as error:
            what = f"no connection ({type(error).__name__})"
            failure = Unsure(what, where=self.url) if sent else ProviderDown(what, where=self.url)
        finally:
            connection.close()
        # Outside of the handler: what the library raised, whose frames know the key, isn't in the traceback.
        raise failure

    def _read(self, connection: Any, answer: http.client.HTTPResponse, ends: float) -> bytes:
        found = bytearray()
        while True:
            left = ends - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if connection.sock is not None:
                connection.sock.settimeout(left)
            piece = answer.read1(65_536)
            if not piece:
                if answer.length:
                    raise http.client.IncompleteRead(b"", answer.length)
                return bytes(found)
            found += piece
            if len(found) > _MOST_BYTES:
                raise Rejected("answer too long")

    def _judged(self, status: int, headers: Mapping[str, str]) -> tuple[JochiError | Rejected, bool, float | None]:
        """(what is wrong, whether the same request may do later, seconds to wait). Its own words may quote the memory."""
        what = f"the endpoint answers {status}"
        if status == 402:
            return ProviderDown(what, where=self.url, retry_after=_NO_MONEY_PAUSE), False, None
        if status in (408, 409, 425, 429) or status >= 500:
            after = retry_after(headers, self._waiting.wall())
            pause = None if after is None else timedelta(seconds=after)
            return ProviderDown(what, where=self.url, retry_after=pause), True, after
        if status in (400, 413, 422):
            return Rejected("refused by the provider", 0, 0), False, None
        fixes = {
            401: "the key is missing or wrong: name its environment variable (--compress-key-variable)",
            403: "this key may not use this model",
            404: "is this a model of the endpoint, and is its address right?",
        }
        return ProviderUnusable(what, where=self.url, fix=fixes.get(status)), False, None


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Rejected("broken answer")
    return found
