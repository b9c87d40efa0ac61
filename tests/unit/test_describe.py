"""What a description may say, and who makes it (docs/reference/descriptions.md)."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from tests.unit.stub_chat import Answer, Stub, stub_server

from jochi.cli.worker import making
from jochi.policy import load_policy
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import BatchOutput, ModelMaker, OfflineMaker, shares
from jochi_workers.derive.describe import DescriptionOutput
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.handler import Outcome
from jochi_workers.models import Model
from jochi_workers.models.model import at_most
from jochi_workers.worker import Stop

DESCRIBE = derivation("describe")
RELATION = {
    "to": "s/firm",
    "name": "Firm",
    "type": "work_at",
    "notes": ["Anna joined Firm.", "Anna leads Firm since 2024."],
}


def row(*notes: str, **more: Any) -> dict[str, Any]:
    inputs = [{"key": f"s/{n}", "content": text} for n, text in enumerate(("Anna", *notes))]
    return {
        **{"key": "s/0", "inputs": inputs, "thing": "Person", "before": None, "relations": []},
        **{"tokens": 40, "sentence_tokens": 20, "most_tokens": 200, "few": False},
        **more,
    }


SAID = ("Anna moved to Berlin in 2021.", "Anna paints harbours.")


@pytest.mark.parametrize(
    ("given", "output", "reasons"),
    [
        (row(*SAID), DescriptionOutput(description="Anna paints harbours."), ()),
        (row(*SAID), DescriptionOutput(description="Anna moved to Berlin in 2022."), ("made up date",)),
        (row(*SAID), DescriptionOutput(description="Anna paints Paris."), ("made up name",)),
        (row(*SAID, before="Anna has 3 dogs."), DescriptionOutput(description="Anna has 3 dogs and paints."), ()),
        (row(*SAID), DescriptionOutput(description="Anna has 3 dogs and paints."), ("made up number",)),
        (row(*SAID), DescriptionOutput(description=" "), ("empty",)),
        (row(*SAID, tokens=5), DescriptionOutput(description="Anna paints harbours."), ("too long",)),
        (row(*SAID, tokens=6), DescriptionOutput(description="Anna paints harbours."), ()),
        (
            row(*SAID, relations=[RELATION]),
            DescriptionOutput(description="Anna paints."),
            ("not a sentence for each relationship",),
        ),
        (
            row(*SAID, relations=[RELATION]),
            DescriptionOutput(description="Anna paints.", relations=["Anna leads Firm since 2023."]),
            ("made up date",),
        ),
        (
            row(*SAID, relations=[RELATION]),
            DescriptionOutput(description="Anna paints.", relations=["Anna leads Firm."]),
            (),
        ),
    ],
)
def test_what_may_be_stored(given: dict[str, Any], output: DescriptionOutput, reasons: tuple[str, ...]) -> None:
    assert DESCRIBE.faults(given, output, Estimate())[:1] == reasons


def test_without_a_model_the_notes_stand_as_they_are_and_pass_the_checks() -> None:
    before = "Anna paints harbours.\nAnna likes rye."
    given = row(*SAID, before=before, relations=[RELATION])
    made = OfflineMaker(DESCRIBE, Estimate()).make(given).output
    assert made == DescriptionOutput(
        description="\n".join([*SAID, "Anna likes rye."]), relations=["Anna leads Firm since 2024."]
    )
    one = OfflineMaker(DESCRIBE, Estimate()).make(row("Rye is grain. It makes bread.", thing="Concept")).output
    assert one == DescriptionOutput(description="Rye is grain.")
    for each, of in ((made, given), (one, row("Rye is grain. It makes bread."))):
        assert DESCRIBE.faults(of, each, Estimate()) == ()


def test_all_that_a_model_reads_is_fenced_data_or_reserved_for() -> None:
    given = row(*SAID, before="Anna likes rye.", relations=[RELATION])
    assert DESCRIBE.texts(given) == [
        *("Name: Anna", "So far: Anna likes rye.", *SAID),
        "Relationship 1 to Firm (work_at):\nAnna leads Firm since 2024.\nAnna joined Firm.",
    ]
    assert "Anna" not in DESCRIBE.prompt().filled(**DESCRIBE.words(given))


@pytest.mark.parametrize(("little", "by"), [('small_model = "little"', "little"), ("", "big")])
def test_a_small_model_for_what_is_little(tmp_path: Any, little: str, by: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(f'[policy]\nname = "p"\nextends = "default"\n[derive.describe]\nderiving = true\n{little}\n')
    client: Any = SimpleNamespace(policy=load_policy(file))
    options = {"model": "big", "base_url": "http://127.0.0.1:9/v1"}
    [handler] = making(client, Stop(), "openai", options, only="describe")
    of: Any = handler
    assert [of._of({"few": few}).model for few in (True, False)] == [by, "big"]


@pytest.fixture
def stub() -> Iterator[Stub]:
    with stub_server() as running:
        yield running


def several(
    stub: Stub, rows: list[dict[str, Any]], room: int = 1_000, at_once: int = 3
) -> tuple[DeriveHandler, Outcome]:
    big, little = (
        ModelMaker(DESCRIBE, Model("openai", name, base_url=f"{stub.url}/v1"), None, DESCRIBE.batch_prompt(), at_once)
        for name in ("big", "little")
    )
    handler = DeriveHandler(DESCRIBE, big, Estimate(), small=little, room=room)
    return handler, handler.handle(rows)


def of(n: int, **more: Any) -> dict[str, Any]:
    return {**row(f"Thing{n} is by the sea.", **more), "key": f"s/{n}", "was": None}


def answer(*texts: str) -> Answer:
    return Answer(
        BatchOutput[DescriptionOutput](
            outputs=[DescriptionOutput(description=text) for text in texts]
        ).model_dump_json()
    )


SEA = [f"Thing{n} is by the sea." for n in range(9)]


def test_several_things_go_into_one_request(stub: Stub) -> None:
    """At most three, of one model, as far as there is room; what doesn't go with them goes back. Each is checked by itself."""
    stub.script.append(answer(SEA[0], SEA[1], "Anna is by the sea of Rome."))
    rows = [of(0), of(1), of(2, few=True), of(3), of(4)]
    handler, outcome = several(stub, rows)
    assert handler.most == 3
    assert ([done.key for done in outcome.done], outcome.failed) == (["s/0", "s/1"], {"s/3": "made up name"})
    assert outcome.returned == ["s/2", "s/4"]
    used = [(spent["used_in"], spent["used_out"]) for spent in outcome.spent.values()]
    assert [sum(way) for way in zip(*used, strict=True)] == [11, 7]
    [request] = stub.requests
    told, said = (message["content"] for message in request["messages"])
    assert (request["model"], "Thing" in told, "Number 2: a person" in said, said.count("by the sea")) == (
        "big",
        False,
        True,
        3,
    )
    # One alone is asked for as ever, and so is what has no room beside it.
    for left, room in ((rows[:1], 1_000), (rows[:2], 1)):
        stub.script.append(Answer(DescriptionOutput(description=SEA[0]).model_dump_json()))
        _, outcome = several(stub, left, room)
        assert ([done.key for done in outcome.done], outcome.returned) == (["s/0"], [each["key"] for each in left[1:]])


@pytest.mark.parametrize("wrong", [answer(SEA[0]), Answer("no JSON"), Answer("{", stop="max_tokens")])
def test_what_failed_together_is_asked_for_alone(stub: Stub, wrong: Answer) -> None:
    stub.always = wrong
    rows = [of(0), of(1)]
    handler, outcome = several(stub, rows)
    assert (set(outcome.failed), outcome.done, outcome.returned) == ({"s/0", "s/1"}, [], [])
    assert sum(spent["used_in"] for spent in outcome.spent.values()) == 11 * len(stub.requests)
    for n in range(2):
        stub.always = Answer(DescriptionOutput(description=SEA[n]).model_dump_json())
        again = handler.handle(rows[n:])
        assert ([done.key for done in again.done], again.returned) == ([f"s/{n}"], ["s/1"][: 1 - n])


def test_nobody_there_fails_nothing(stub: Stub) -> None:
    stub.always = Answer(status=401)
    _, outcome = several(stub, [of(0), of(1)])
    assert (outcome.failed, outcome.returned, outcome.stopped_by is not None) == ({}, ["s/0", "s/1"], True)


def test_what_is_reserved_for_each_covers_a_request_for_all() -> None:
    together = DESCRIBE.batch_prompt()
    assert together is not None
    asked = ModelMaker(DESCRIBE, Model("openai", "big", base_url="http://127.0.0.1:9/v1"), None, together, 8)
    for n in range(2, 9):
        texts = ["x" * 200] * n
        assert at_most(together.filled(), texts, asked._several, 0).sent <= asked.requests * n * asked.overhead


def test_own_instructions_for_one_are_not_left_out_for_several(tmp_path: Any) -> None:
    (tmp_path / "describe.md.j2").write_text("Be brief. {{ fence }}")
    assert DESCRIBE.batch_prompt(str(tmp_path)) is None
    (tmp_path / "describe_together.md.j2").write_text("Be brief with each. {{ fence }}")
    own = DESCRIBE.batch_prompt(str(tmp_path))
    assert (own and own.text) == "Be brief with each. {{ fence }}"


@drawn(st.integers(0, 10**6), st.lists(st.integers(0, 10**5), min_size=1, max_size=9))
def test_shares_add_up(total: int, sizes: list[int]) -> None:
    parts = shares(total, sizes)
    assert (sum(parts), len(parts), min(parts) >= 0) == (total, len(sizes), True)
