"""What a batch comes to: stored, failed, given back. One bad text never fails the others; a provider's own trouble fails none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from jochi.errors import JochiError, Refused
from jochi.policy import load_policy
from jochi.text.content import content_hash
from jochi_workers.embeddings.handler import EmbedHandler
from jochi_workers.embeddings.protocol import PROBE, ProviderDown, ProviderUnusable, TextsRefused, TextVector
from jochi_workers.handler import PAUSE, Outcome

MODEL = "tests-model"
POLICY = load_policy().policy.embedding.model_copy(update={"model": MODEL, "dimensions": 2})
GOOD = [0.6, 0.8]


class Fake:
    """A provider that answers by what a text says: `poison` refuses the batch, the rest of ``special`` as given."""

    model = MODEL
    dimensions = 2

    def __init__(self, **special: TextVector | JochiError) -> None:
        self.special = special
        self.asked: list[list[str]] = []
        self.short = 0

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        self.asked.append(list(texts))
        found = []
        for text in texts:
            answer = self.special.get(text.split()[0], TextVector(GOOD, 0.0))
            if isinstance(answer, JochiError):
                raise answer
            found.append(answer)
        return found[self.short :]

    def close(self) -> None:
        pass


POISON = TextsRefused("that text is too long")
DOWN = ProviderDown("no answer", retry_after=timedelta(seconds=7))


def rows(*texts: str | None) -> list[dict[str, Any]]:
    """Rows whose key is the text, for the tests to name."""
    return [{"key": str(text), "kind": "Belief", "content": text, "content_hash": "v1:stale"} for text in texts]


def work(
    provider: Fake, given: list[dict[str, Any]], *, chunk: int = 64, stopping: Callable[[], bool] | None = None
) -> Outcome:
    outcome = EmbedHandler(provider, POLICY, chunk=chunk, stopping=stopping or (lambda: False)).handle(given)
    settled = [result.key for result in outcome.done] + list(outcome.failed) + outcome.returned
    assert sorted(settled) == sorted(row["key"] for row in given), "every key is in exactly one place"
    return outcome


def done(outcome: Outcome) -> list[str]:
    return sorted(result.key for result in outcome.done)


def test_vectors_carry_model_and_the_hash_of_the_text_that_was_embedded() -> None:
    outcome = work(Fake(), rows("one", "two"))
    stored = {"embedding": GOOD, "embedding_model": MODEL, "embedding_unknown": 0.0}
    assert {result.key: result.values for result in outcome.done} == {
        "one": {**stored, "embedding_hash": content_hash("one")},
        "two": {**stored, "embedding_hash": content_hash("two")},
    }
    assert (outcome.failed, outcome.returned, outcome.stopped_by, outcome.pause) == ({}, [], None, timedelta(0))


@pytest.mark.parametrize("places", [[0], [5], [9], [0, 9], [3, 4, 5], list(range(1, 10))])
def test_bad_texts_fail_alone(places: list[int]) -> None:
    texts = [f"{'poison' if n in places else 'fine'} {n}" for n in range(10)]
    provider = Fake(poison=POISON)
    outcome = work(provider, rows(*texts))
    assert set(outcome.failed) == {texts[n] for n in places}
    assert set(outcome.failed.values()) == {POISON.what}
    assert done(outcome) == sorted(text for text in texts if text.startswith("fine"))
    assert outcome.stopped_by is None


def test_a_provider_that_refuses_everything_is_to_blame_itself() -> None:
    provider = Fake(poison=POISON, A=TextsRefused("the parameter dimensions is unknown"))  # PROBE begins with A
    outcome = work(provider, rows("poison 1", "poison 2"))
    assert outcome.failed == {}
    assert len(outcome.returned) == 2
    assert isinstance(outcome.stopped_by, ProviderDown)
    assert "dimensions is unknown" in str(outcome.stopped_by)
    assert [len(asked) for asked in provider.asked] == [2, 1]


@pytest.mark.parametrize(
    ("vector", "says"),
    [
        ([0.6], "1 numbers instead of 2"),
        ([0.6, 0.8, 0.0], "3 numbers instead of 2"),
        ([], "0 numbers"),
        ([math.nan, 1.0], "no finite"),
        ([math.inf, 1.0], "no finite"),
        ([0.0, 0.0], "zero"),
        ([1e-13, 0.0], "zero"),
        (["1", "2"], "no finite"),
        ([None, 1.0], "no finite"),
        ([True, False], "no finite"),
    ],
)
def test_vectors_that_must_not_be_stored(vector: list[Any], says: str) -> None:
    outcome = work(Fake(odd=TextVector(vector)), rows("odd", "fine"))
    assert says in outcome.failed["odd"]
    assert done(outcome) == ["fine"]
    alone = work(Fake(odd=TextVector(vector)), rows("odd"))
    assert list(alone.failed) == ["odd"], "the probe was fine"


def test_a_vector_just_long_enough_is_stored() -> None:
    assert done(work(Fake(odd=TextVector([2e-12, 0.0])), rows("odd"))) == ["odd"]


def test_a_model_that_changed_its_length_stops_the_worker_and_fails_nothing() -> None:
    wrong = TextVector([1.0, 0.0, 0.0])
    outcome = work(Fake(fine=wrong, A=wrong), rows("fine 1", "fine 2"))
    assert (outcome.failed, len(outcome.returned)) == ({}, 2)
    assert isinstance(outcome.stopped_by, ProviderUnusable)


def test_a_provider_that_is_down_keeps_what_is_done_and_gives_the_rest_back() -> None:
    outcome = work(Fake(down=DOWN), rows("a", "b", "cc", "down now", "eeeeeeeeeee", "ffffffffffff"), chunk=2)
    assert done(outcome) == ["a", "b"]
    assert sorted(outcome.returned) == ["cc", "down now", "eeeeeeeeeee", "ffffffffffff"]
    assert (outcome.failed, outcome.stopped_by, outcome.pause) == ({}, DOWN, timedelta(seconds=7))
    assert work(Fake(down=ProviderDown("no")), rows("down")).pause == PAUSE


def test_down_in_the_middle_of_a_split_keeps_both_findings() -> None:
    provider = Fake(poison=POISON, down=DOWN)
    outcome = work(provider, rows("poison", "fine 00", "fine 000", "down 000"))
    assert list(outcome.failed) == ["poison"]
    assert done(outcome) == ["fine 00"]
    assert sorted(outcome.returned) == ["down 000", "fine 000"]


def test_an_unusable_provider_ends_the_batch() -> None:
    outcome = work(Fake(key=ProviderUnusable("wrong key")), rows("key", "fine fine"))
    assert (outcome.done, outcome.failed) == ([], {})
    assert isinstance(outcome.stopped_by, ProviderUnusable)
    assert outcome.pause == timedelta(0), "waiting won't help"


def test_a_provider_that_loses_a_vector_is_never_taken_at_its_word() -> None:
    provider = Fake()
    provider.short = 1
    outcome = work(provider, rows("a", "b"))
    assert (outcome.done, outcome.failed, len(outcome.returned)) == ([], {}, 2)


def test_ctrl_c_gives_back_what_has_not_begun() -> None:
    answers = iter([False, True])
    outcome = work(Fake(), rows("a", "bb", "ccc"), chunk=2, stopping=lambda: next(answers))
    assert (done(outcome), outcome.returned, outcome.pause) == (["a", "bb"], ["ccc"], timedelta(0))


def test_ctrl_c_in_a_pause_of_the_provider_is_no_error() -> None:
    answers = iter([False, True])
    outcome = work(Fake(down=DOWN), rows("down"), stopping=lambda: next(answers))
    assert (outcome.returned, outcome.stopped_by, outcome.pause) == (["down"], None, timedelta(0))


@pytest.mark.parametrize(("share", "stored"), [(0.3, True), (0.300001, False), (1.0, False), (0.0, True), (None, True)])
def test_what_the_model_cannot_read_gets_no_vector_and_the_share_is_told(share: float | None, stored: bool) -> None:
    (result,) = work(Fake(odd=TextVector(GOOD, share)), rows("odd")).done
    assert result.values["embedding"] == (GOOD if stored else None)
    assert result.values["embedding_unknown"] == share
    assert result.values["embedding_hash"] == content_hash("odd")


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_where_there_is_no_text_nobody_is_asked(text: str | None) -> None:
    provider = Fake()
    (result,) = work(provider, rows(text)).done
    assert (result.values["embedding"], result.values["embedding_unknown"], provider.asked) == (None, 1.0, [])


@pytest.mark.parametrize("change", [{"model": "other"}, {"dimensions": 3}])
def test_a_provider_that_is_not_the_policy_s_is_refused_with_two_ways_out(change: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        EmbedHandler(Fake(), POLICY.model_copy(update=change))
    assert "start the worker with" in (refused.value.fix or "")
    assert "jochi install" in (refused.value.fix or "")


def test_check_finds_trouble_before_anything_is_leased() -> None:
    EmbedHandler(Fake(), POLICY).check()
    wrong: list[tuple[TextVector | JochiError, type[JochiError]]] = [
        (TextVector([1.0]), ProviderUnusable),
        (TextsRefused("no such parameter"), ProviderUnusable),
        (ProviderUnusable("no key"), ProviderUnusable),
        (DOWN, ProviderDown),
    ]
    for answer, error in wrong:
        with pytest.raises(error):
            EmbedHandler(Fake(A=answer), POLICY).check()
    assert PROBE.startswith("A ")
