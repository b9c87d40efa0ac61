"""What goes to a provider and comes back: pydantic-ai and the vendors' clients, over a transport of our own. Imported where a
provider is asked for, since all of them are heavy.

The transport bounds the answer's bytes, follows no redirection and no proxy, and adds the key: the clients never have it, and no
other header of their making goes out. Each request has its own connection, which is closed with it, however it ends.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar, cast

import httpx2
from pydantic import BaseModel
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputMode, OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings

T = TypeVar("T")
_KEPT = ("host", "content-type", "content-length", "accept", "anthropic-version", "anthropic-beta")
_MOST_BYTES_OF_AN_ERROR = 65_536
TRUSTED = ssl.create_default_context()


class TransferStopped(Exception):
    """The transport doesn't hand on what came: it says why itself."""


class Transport(httpx2.AsyncBaseTransport):
    """For one request. ``asked``: the client made it; ``sent``: its body went out, at least in part; ``status``, ``headers``: of
    what came back; ``error``: the body of another status than 200; ``too_long``, ``complete``: more bytes came than are allowed, or
    all of them; ``why``: what broke the connection."""

    def __init__(self, headers: Mapping[str, str], most_bytes: int) -> None:
        self.asked = self.sent = self.answered = self.too_long = False
        self.status, self.why, self.error = 200, "", b""
        self.headers: Mapping[str, str] = {}
        self._added = {**headers, "accept-encoding": "identity", "user-agent": "jochi"}
        self._most_bytes = most_bytes
        self._inner = httpx2.AsyncHTTPTransport(verify=TRUSTED, trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = {name: value for name, value in request.headers.items() if name in _KEPT} | self._added
        more: Any = {"headers": headers, "extensions": {**request.extensions, "trace": self._trace}}
        self.asked = True
        try:
            own = httpx2.Request(request.method, request.url, content=request.content, **more)
            answer = await self._inner.handle_async_request(own)
            try:
                content = await self._read(answer)
            finally:
                await answer.aclose()
        except httpx2.HTTPError as error:
            self.why = type(error).__name__
            raise
        self.answered = True
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=content)

    async def _read(self, answer: httpx2.Response) -> bytes:
        self.status, self.headers = answer.status_code, answer.headers
        content = bytearray()
        # As it came: packed bytes, which nobody asked for, would be few and become many.
        async for piece in answer.aiter_raw():
            content += piece
            if len(content) > (self._most_bytes if self.status == 200 else _MOST_BYTES_OF_AN_ERROR):
                self.too_long = True
                raise TransferStopped
        if self.status != 200:
            # Its words may quote the memory or the key: no client gets to see them.
            self.error = bytes(content)
            raise TransferStopped
        return bytes(content)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _trace(self, event: str, _: Mapping[str, Any]) -> None:
        self.sent = self.sent or event.endswith("send_request_body.started")


def exchange(
    transport: Transport, request: Callable[[httpx2.AsyncClient], Coroutine[Any, Any, T]], seconds: float
) -> T:
    """What ``request`` makes of one request and its whole answer; `asyncio.TimeoutError` where they take longer."""

    async def all_of_it() -> T:
        # Each answer has one time-out; one of the client's would be for each piece.
        async with httpx2.AsyncClient(
            transport=transport, follow_redirects=False, trust_env=False, timeout=None
        ) as client:
            return await request(client)

    return asyncio.run(asyncio.wait_for(all_of_it(), seconds))


async def complete(
    http: httpx2.AsyncClient,
    model: tuple[str, str, str],
    messages: Sequence[ModelMessage],
    output: type[str] | type[BaseModel],
    most_tokens: int,
    *,
    new_limit: bool,
) -> ModelResponse:
    """``model``: provider, name, address. ``new_limit``: OpenAI's own models of today refuse the older name of the limit of tokens,
    other endpoints don't know the newer one."""
    made = _made(*model, http, new_limit)
    parameters = ModelRequestParameters()
    if issubclass(output, BaseModel):
        # Where the model can't be held to a schema, it is told the schema.
        mode: OutputMode = "native" if made.profile.get("supports_json_schema_output") else "prompted"
        schema = OutputObjectDefinition(output.model_json_schema(), name=output.__name__)
        parameters = ModelRequestParameters(output_mode=mode, output_object=schema)
    limit = ModelSettings(max_tokens=most_tokens)
    return await model_request(
        made, messages, model_settings=limit, model_request_parameters=parameters, instrument=False
    )


async def embed(http: httpx2.AsyncClient, model: str, url: str, texts: list[str], dimensions: int | None) -> bytes:
    """The answer as it came: endpoints differ in more than the vendor's client reads."""
    asked: dict[str, Any] = {} if dimensions is None else {"dimensions": dimensions}
    client = import_module("openai").AsyncOpenAI(**_options(url, http))
    answer = await client.embeddings.with_raw_response.create(
        input=texts, model=model, encoding_format="float", **asked
    )
    return cast(bytes, answer.content)


def _made(provider: str, name: str, url: str, http: httpx2.AsyncClient, new_limit: bool) -> Model:
    vendor, models, providers = load_packages(provider)
    if provider == "anthropic":
        maker = providers.AnthropicProvider(anthropic_client=vendor.AsyncAnthropic(**_options(url, http)))
        return cast(Model, models.AnthropicModel(name, provider=maker))
    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=new_limit)
    maker = providers.OpenAIProvider(openai_client=vendor.AsyncOpenAI(**_options(url, http)))
    return cast(Model, models.OpenAIChatModel(name, provider=maker, profile=profile))


def _options(url: str, http: httpx2.AsyncClient) -> dict[str, Any]:
    return {"api_key": "none", "base_url": url, "http_client": http, "max_retries": 0, "timeout": None}


def load_packages(provider: str) -> list[Any]:
    """The packages of one vendor. It takes seconds the first time, so before the first request."""
    return [
        import_module(name.format(provider)) for name in ("{}", "pydantic_ai.models.{}", "pydantic_ai.providers.{}")
    ]
