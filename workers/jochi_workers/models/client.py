"""One request by pydantic-ai and the vendor's client. Imported where a provider is asked for, since both are heavy.

What the client sends goes through a transport that bounds the answer's bytes, follows no redirection and no proxy, and adds the
key: the client never has it, and no other header of its making goes out.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import httpx2
from pydantic import BaseModel
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputMode, OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings

from jochi_workers.models.failures import Rejected

_KEPT = ("host", "content-type", "content-length", "accept", "anthropic-version", "anthropic-beta")
TRUSTED = ssl.create_default_context()


class Transport(httpx2.AsyncBaseTransport):
    """For one request. ``asked``: the client made it; ``sent``: all of it went out; ``status``, ``headers``: of what came back;
    ``answered``: all of that came; ``why``: what broke the connection."""

    def __init__(self, headers: Mapping[str, str], most_bytes: int) -> None:
        self.asked = self.sent = self.answered = self.too_long = False
        self.status, self.why = 200, ""
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
        if self.status != 200:
            # Its words may quote the memory or the key: nobody reads them.
            raise Rejected("refused by the provider")
        content = bytearray()
        # As it came: packed bytes, which nobody asked for, would be few and become many.
        async for piece in answer.aiter_raw():
            content += piece
            if len(content) > self._most_bytes:
                self.too_long = True
                raise Rejected("answer too long")
        return bytes(content)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _trace(self, event: str, _: Mapping[str, Any]) -> None:
        self.sent = self.sent or event.endswith("send_request_body.complete")


async def request(
    transport: Transport,
    model: tuple[str, str, str],
    messages: Sequence[ModelMessage],
    output: type[str] | type[BaseModel],
    most_tokens: int,
    *,
    new_limit: bool,
) -> ModelResponse:
    """``model``: provider, name, address. ``new_limit``: OpenAI's own models of today refuse the older name of the limit of tokens,
    other endpoints don't know the newer one."""
    async with httpx2.AsyncClient(transport=transport, follow_redirects=False, trust_env=False, timeout=None) as http:
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


def _made(provider: str, name: str, url: str, http: httpx2.AsyncClient, new_limit: bool) -> Model:
    # The whole answer has its time-out elsewhere; a time-out of the client's would be for each piece.
    common: dict[str, Any] = {
        "api_key": "none",
        "base_url": url,
        "http_client": http,
        "max_retries": 0,
        "timeout": None,
    }
    vendor, models, providers = loaded(provider)
    if provider == "anthropic":
        maker = providers.AnthropicProvider(anthropic_client=vendor.AsyncAnthropic(**common))
        return cast(Model, models.AnthropicModel(name, provider=maker))
    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=new_limit)
    maker = providers.OpenAIProvider(openai_client=vendor.AsyncOpenAI(**common))
    return cast(Model, models.OpenAIChatModel(name, provider=maker, profile=profile))


def loaded(provider: str) -> list[Any]:
    """The packages of one vendor. It takes seconds the first time, so before the first request."""
    return [
        import_module(name.format(provider)) for name in ("{}", "pydantic_ai.models.{}", "pydantic_ai.providers.{}")
    ]
