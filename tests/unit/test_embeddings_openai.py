"""The OpenAI-compatible provider against a server that speaks the real protocol, with every fault it can have."""

from __future__ import annotations

import json
import logging
import math
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from tests.unit.stub_http import left_open
from tests.unit.stub_openai import DIMENSIONS, Answer, Stub, error, packed, stub_server, vector_of

from jochi.errors import UsageError
from jochi_workers.embeddings.openai_compatible import Limits, OpenAICompatible
from jochi_workers.embeddings.protocol import PROBE, ProviderDown, ProviderUnusable, TextsRefused
from jochi_workers.embeddings.vectors import normalised
from jochi_workers.models.access import OPENAI_KEY
from jochi_workers.models.timing import RateLimit, Timing, interruptible

KEY = "sk-tests-0123456789"
TEXTS = ["one", "two", "three"]


class Time:
    """A clock that only sleeping moves. ``stop_at``: the sleep that a Ctrl-C cuts short."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.stop_at: int | None = None

    def sleep(self, seconds: float) -> bool:
        self.slept.append(seconds)
        self.now += seconds
        return self.stop_at == len(self.slept)

    def waiting(self, jitter: float = 1.0) -> Timing:
        return Timing(
            sleep=self.sleep, monotonic=lambda: self.now, wall=lambda: 1_000.0 + self.now, jitter=lambda: jitter
        )


@pytest.fixture(scope="module")
def server() -> Iterator[Stub]:
    with stub_server() as made:
        yield made


@pytest.fixture
def stub(server: Stub, monkeypatch: pytest.MonkeyPatch) -> Stub:
    for name in (OPENAI_KEY, "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server.key = None
    server.script = []
    server.always = lambda request: None
    server.requests.clear()
    server.authorizations.clear()
    return server


@pytest.fixture
def time() -> Time:
    return Time()


Make = Callable[..., OpenAICompatible]


@pytest.fixture
def make(stub: Stub, time: Time) -> Make:
    return lambda **options: OpenAICompatible(
        "tests-model", **{"base_url": stub.url, "waiting": time.waiting(), **options}
    )


def vectors(texts: list[str]) -> list[list[float]]:
    return [normalised(vector_of(text)) for text in texts]


def given(provider: OpenAICompatible, texts: list[str] = TEXTS) -> list[list[float]]:
    return [result.vector for result in provider.embed(texts)]


# -- what goes right ---------------------------------------------------------------------------------------------------


def test_vectors_of_length_one_in_the_order_of_the_texts(make: Make, stub: Stub) -> None:
    provider = make()
    assert given(provider) == vectors(TEXTS)
    assert all(math.isclose(math.hypot(*vector), 1) for vector in given(provider))
    assert stub.requests[0] == {"input": TEXTS, "model": "tests-model", "encoding_format": "float"}
    assert [result.unknown_share for result in provider.embed(TEXTS)] == [None] * 3
    assert provider.embed([]) == []


def test_dimensions_are_sent_where_given_and_found_out_where_not(make: Make, stub: Stub) -> None:
    shortened = make(dimensions=4)
    assert shortened.dimensions == 4
    assert len(given(shortened)[0]) == 4
    assert stub.requests == [{"input": TEXTS, "model": "tests-model", "encoding_format": "float", "dimensions": 4}]
    asking = make()
    assert (asking.dimensions, asking.dimensions) == (DIMENSIONS, DIMENSIONS)
    assert stub.texts[1:] == [[PROBE]], "asked once"


def test_the_index_decides_and_not_the_order_of_arrival(make: Make, stub: Stub) -> None:
    stub.script = [Answer(change=lambda right: {**right, "data": right["data"][::-1]})]
    assert given(make()) == vectors(TEXTS)


def test_base64_is_understood(make: Make, stub: Stub) -> None:
    def as_base64(right: dict[str, Any]) -> dict[str, Any]:
        return {**right, "data": [{**item, "embedding": packed(item["embedding"])} for item in right["data"]]}

    stub.script = [Answer(change=as_base64)]
    assert given(make()) == vectors(TEXTS), "the stub's numbers are exact in 32 bits"


def test_requests_keep_to_both_limits(make: Make, stub: Stub) -> None:
    provider = make(limits=Limits(texts=2, tokens=10))
    texts = ["a", "b", "c", "x" * 27, "d", "y" * 60, "e"]  # 27 bytes count 9 tokens, 60 count 20
    assert given(provider, texts) == vectors(texts)
    assert stub.texts == [["a", "b"], ["c", "x" * 27], ["d"], ["y" * 60], ["e"]]


# -- faults that pass ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(make: Make, stub: Stub, time: Time, status: int) -> None:
    stub.script = [error(status), error(status)]
    assert given(make()) == vectors(TEXTS)
    assert time.slept == [0.5, 1.0], "doubling"


def test_pauses_are_spread_by_chance_and_bounded(stub: Stub, time: Time) -> None:
    provider = OpenAICompatible(
        "m", base_url=stub.url, waiting=time.waiting(jitter=0.0), limits=Limits(attempts=8, patience=1000)
    )
    stub.script = [error(503)] * 8
    with pytest.raises(ProviderDown, match="503"):
        provider.embed(TEXTS)
    assert time.slept == [0.25, 0.5, 1, 2, 4, 8, 10]
    assert len(stub.requests) == 8


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry_After": "7"}, 7.0),
        ({"Retry_After": "0.5"}, 0.5),
        ({"retry_after_ms": "1500", "Retry_After": "9"}, 1.5),
        ({"Retry_After": "Thu, 01 Jan 1970 00:16:52 GMT"}, 12.0),
        ({"Retry_After": "soon"}, 0.5),
        ({"Retry_After": "nan"}, 0.5),
        ({"Retry_After": "-3"}, 0.5),
    ],
)
def test_retry_after_is_honoured(make: Make, stub: Stub, time: Time, headers: dict[str, str], seconds: float) -> None:
    stub.script = [error(429, **headers)]
    assert given(make()) == vectors(TEXTS)
    assert time.slept == [seconds]


def test_a_longer_pause_than_patience_is_left_to_the_worker(make: Make, stub: Stub, time: Time) -> None:
    stub.script = [error(429, Retry_After="31")]
    with pytest.raises(ProviderDown) as down:
        make().embed(TEXTS)
    assert (down.value.retry_after, time.slept) == (timedelta(seconds=31), [])
    stub.script = [error(429, Retry_After="29"), error(429, Retry_After="2")]
    with pytest.raises(ProviderDown) as down:
        make().embed(TEXTS)
    assert (down.value.retry_after, time.slept) == (timedelta(seconds=2), [29]), "patience is for one embed altogether"


@pytest.mark.parametrize(("status", "code"), [(429, "insufficient_quota"), (402, None)])
def test_an_account_without_quota_is_not_asked_again(
    make: Make, stub: Stub, time: Time, status: int, code: str
) -> None:
    stub.script = [error(status, code=code)]
    with pytest.raises(ProviderDown) as down:
        make().embed(TEXTS)
    assert (len(stub.requests), time.slept, down.value.retry_after) == (1, [], timedelta(minutes=10))


def test_a_connection_that_breaks(make: Make, stub: Stub) -> None:
    stub.script = [Answer(close=True), Answer(close=True)]
    assert given(make()) == vectors(TEXTS)
    assert len(stub.requests) == 3


@pytest.mark.parametrize("answer", [Answer(hang=True), Answer(drip=0.05)], ids=["hangs", "drips"])
@pytest.mark.exhaustive
def test_one_whole_answer_has_its_time(make: Make, stub: Stub, time: Time, answer: Answer) -> None:
    stub.always = lambda request: answer
    with pytest.raises(ProviderDown, match=r"no answer within 0\.1 s"):
        make(limits=Limits(timeout=0.1)).embed(TEXTS)
    assert len(time.slept) == 4
    assert left_open(stub.url) == []


@pytest.mark.parametrize("answer", [Answer(), Answer(close=True), error(503), error(401), Answer(body=b"{")], ids=str)
def test_every_request_closes_its_connection(make: Make, stub: Stub, answer: Answer) -> None:
    stub.always = lambda request: answer
    with suppress(ProviderDown, ProviderUnusable, TextsRefused):
        make().embed(TEXTS)
    assert stub.requests
    assert left_open(stub.url) == []


def test_an_answer_without_end(make: Make, stub: Stub) -> None:
    stub.script = [Answer(body=b" " * 2_000_000)] * 5
    with pytest.raises(TextsRefused, match="answer too long"):
        make(limits=Limits(most_bytes=1_000_000)).embed(TEXTS)


def test_nobody_listens(stub: Stub, time: Time) -> None:
    provider = OpenAICompatible("m", base_url="http://127.0.0.1:9/v1", waiting=time.waiting())
    with pytest.raises(ProviderDown, match="no connection"):
        provider.embed(TEXTS)
    assert len(time.slept) == 4


def test_ctrl_c_ends_a_pause(make: Make, stub: Stub, time: Time) -> None:
    time.stop_at = 1
    stub.script = [error(503)] * 9
    with pytest.raises(ProviderDown, match="stopping"):
        make().embed(TEXTS)
    assert len(stub.requests) == 1


def test_a_real_pause_ends_when_the_worker_is_to_stop() -> None:
    answers = iter([False, True, True])
    began = monotonic()
    assert interruptible(lambda: next(answers)).sleep(30) is True
    assert monotonic() - began < 30
    assert interruptible(lambda: False).sleep(0.01) is False


# -- faults that don't ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "says"), [(401, "key"), (403, "key"), (404, "tests-model"), (405, "405"), (410, "410")]
)
def test_fatal_ones_are_not_tried_again(make: Make, stub: Stub, time: Time, status: int, says: str) -> None:
    stub.script = [error(status)]
    with pytest.raises(ProviderUnusable, match=says):
        make().embed(TEXTS)
    assert (len(stub.requests), time.slept) == (1, [])


@pytest.mark.parametrize("status", [400, 413, 422])
def test_refused_texts_are_told_from_a_refused_model(make: Make, stub: Stub, status: int) -> None:
    stub.script = [error(status, "this quotes: one, two, three", "too_long")]
    with pytest.raises(TextsRefused, match="too_long") as refused:
        make().embed(TEXTS)
    assert len(stub.requests) == 1
    assert "quotes" not in str(refused.value), "an error may quote a memory's text"
    stub.script = [error(status, "dimensions\nare not supported")]
    with pytest.raises(TextsRefused, match="dimensions are not supported"):
        make().embed([PROBE])


def _item(**change: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda right: {**right, "data": [{**right["data"][0], **change}, *right["data"][1:]]}


BAD = {
    "broken JSON": Answer(body=b'{"data": [{"index": 0, "embed'),
    "a page of a proxy": Answer(body=b"<html>Bad gateway</html>", headers={"Content-Type": "text/html"}),
    "nothing": Answer(body=b""),
    "another thing": Answer(body=b'["data"]'),
    "null": Answer(body=b"null"),
    "no data": Answer(change=lambda right: {"object": "list"}),
    "data null": Answer(change=lambda right: {**right, "data": None}),
    "one too few": Answer(change=lambda right: {**right, "data": right["data"][1:]}),
    "one too many": Answer(change=lambda right: {**right, "data": [*right["data"], right["data"][0]]}),
    "an index twice": Answer(change=_item(index=1)),
    "an index beyond": Answer(change=_item(index=3)),
    "an index below": Answer(change=_item(index=-1)),
    "one index missing": Answer(change=_item(index=None)),
    "an index as text": Answer(change=_item(index="0")),
    "numbers as text": Answer(change=_item(embedding=["1.0"] * DIMENSIONS)),
    "true and false": Answer(change=_item(embedding=[True] * DIMENSIONS)),
    "no base64": Answer(change=_item(embedding="not base64!")),
    "half a float": Answer(change=_item(embedding="AAAA")),
    "no embedding": Answer(change=_item(embedding=None)),
    "nested": Answer(change=_item(embedding=[[1.0] * DIMENSIONS])),
}


@pytest.mark.parametrize("name", BAD)
def test_an_answer_of_no_use_is_asked_for_again_and_then_refused(make: Make, stub: Stub, name: str) -> None:
    stub.script = [BAD[name]]
    assert given(make()) == vectors(TEXTS)
    stub.script = [BAD[name]] * 5
    with pytest.raises(TextsRefused, match="of no use"):
        make().embed(TEXTS)
    assert stub.script == []


@pytest.mark.parametrize("value", ["null", "NaN", "Infinity", "-Infinity"])
def test_a_value_that_is_no_number_reaches_the_one_that_refuses_that_text(make: Make, stub: Stub, value: str) -> None:
    good = json.dumps(vector_of("good"))
    body = f'{{"data": [{{"index": 0, "embedding": {good}}}, {{"index": 1, "embedding": [1.0, {value}]}}]}}'
    stub.script = [Answer(body=body.encode())]
    first, second = given(make(), ["good", "bad"])
    assert first == normalised(vector_of("good"))
    assert not all(math.isfinite(number) for number in second)


# -- the key ----------------------------------------------------------------------------------------------------------


def test_the_key_comes_from_a_variable_or_a_file(
    make: Make, stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.key = KEY
    monkeypatch.setenv("TESTS_KEY", KEY)
    assert given(make(key_variable="TESTS_KEY")) == vectors(TEXTS)
    file = tmp_path / "key"
    file.write_text(KEY + "\n")
    assert given(make(key_file=file)) == vectors(TEXTS)


def test_openai_s_own_key_goes_to_openai_alone(make: Make, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OPENAI_KEY, KEY)
    make().embed(TEXTS)
    assert KEY not in str(stub.authorizations)
    make(key_variable=OPENAI_KEY).embed(TEXTS)
    assert stub.authorizations[-1] == f"Bearer {KEY}", "but where somebody names it"
    monkeypatch.delenv(OPENAI_KEY)
    with pytest.raises(UsageError, match=OPENAI_KEY):
        OpenAICompatible("text-embedding-3-small")


@pytest.mark.parametrize("text", ["", "  \n", "zwei Wörter", "a b", "ké", "a\nb"])
def test_what_is_no_key_is_refused_without_showing_it(tmp_path: Path, stub: Stub, text: str) -> None:
    file = tmp_path / "secret-holder"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="secret-holder") as refused:
        OpenAICompatible("m", base_url=stub.url, key_file=file)
    assert not text.strip() or text.strip() not in str(refused.value)
    with pytest.raises(UsageError, match="can't be read"):
        OpenAICompatible("m", base_url=stub.url, key_file=tmp_path / "nowhere")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_error_log_or_repr_shows_the_key(
    make: Make, stub: Stub, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("TESTS_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    stub.always = lambda request: error(status, f"the key {KEY} is no good", KEY)
    provider = make(key_variable="TESTS_KEY", limits=Limits(attempts=1))
    for texts in (TEXTS, [PROBE]):
        with pytest.raises((ProviderDown, ProviderUnusable, TextsRefused)) as caught:
            provider.embed(texts)
        error_ = caught.value
        assert error_.__cause__ is error_.__context__ is None, "the library's own error holds the request"
        assert KEY not in "".join(traceback.format_exception(error_)) + repr(error_)
    assert stub.authorizations[-1] == f"Bearer {KEY}"
    assert KEY not in repr(provider) + caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:80",
        "ftp://host/v1",
        "http://",
        "https://user:pw@host/v1",
        "https://host/v1?key=pw",
        "https://h/v1#pw",
    ],
)
def test_addresses_that_are_none_or_hold_a_secret(url: str) -> None:
    with pytest.raises(UsageError, match="address") as refused:
        OpenAICompatible("m", base_url=url)
    assert "pw" not in str(refused.value)


# -- rate limits ------------------------------------------------------------------------------------------------------


def test_a_rate_limit_of_requests_holds_over_any_minute(time: Time) -> None:
    limit = RateLimit(requests_per_minute=2, monotonic=lambda: time.now)
    assert [limit.admit(1), limit.admit(1)] == [0, 0]
    assert limit.admit(1) == 60
    time.now = 59.9
    assert limit.admit(1) == pytest.approx(0.1)
    time.now = 60
    assert [limit.admit(1), limit.admit(1)] == [0, 0], "the first two have left the window"
    assert limit.admit(1) == 60


def test_a_rate_limit_of_tokens_frees_what_leaves_the_window(time: Time) -> None:
    limit = RateLimit(tokens_per_minute=10, monotonic=lambda: time.now)
    assert limit.admit(6) == 0
    time.now = 20
    assert limit.admit(4) == 0
    assert limit.admit(1) == 40, "when the first six leave"
    assert limit.admit(7) == 60, "six are not enough"
    time.now = 60
    assert limit.admit(6) == 0
    assert limit.admit(11) == 60, "more than the limit: once the window is empty"
    time.now = 120
    assert limit.admit(11) == 0
    with pytest.raises(ValueError, match="at least 1"):
        RateLimit(tokens_per_minute=0)


def test_the_provider_keeps_to_the_rate_limit(stub: Stub, time: Time) -> None:
    rate = RateLimit(requests_per_minute=2, monotonic=lambda: time.now)
    waiting = time.waiting()
    provider = OpenAICompatible(
        "m", base_url=stub.url, rate=rate, waiting=waiting, limits=Limits(texts=1, patience=200)
    )
    provider.embed(["a", "b", "c", "d", "e"])
    assert time.slept == [60, 60]
    impatient = OpenAICompatible("m", base_url=stub.url, rate=rate, waiting=waiting)
    impatient.embed(["f"])
    with pytest.raises(ProviderDown) as down:
        impatient.embed(["g"])
    assert down.value.retry_after == timedelta(seconds=60)
