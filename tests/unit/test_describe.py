"""What a description may say, and who makes it (docs/reference/descriptions.md)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from jochi.cli.worker import making
from jochi.policy import load_policy
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import Offline
from jochi_workers.derive.describe import Described
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
        (row(*SAID), Described(description="Anna paints harbours."), ()),
        (row(*SAID), Described(description="Anna moved to Berlin in 2022."), ("made up date",)),
        (row(*SAID), Described(description="Anna paints Paris."), ("made up name",)),
        (row(*SAID, before="Anna has 3 dogs."), Described(description="Anna has 3 dogs and paints."), ()),
        (row(*SAID), Described(description="Anna has 3 dogs and paints."), ("made up number",)),
        (row(*SAID), Described(description=" "), ("empty",)),
        (row(*SAID, tokens=5), Described(description="Anna paints harbours."), ("too long",)),
        (row(*SAID, tokens=6), Described(description="Anna paints harbours."), ()),
        (
            row(*SAID, relations=[RELATION]),
            Described(description="Anna paints."),
            ("not a sentence for each relationship",),
        ),
        (
            row(*SAID, relations=[RELATION]),
            Described(description="Anna paints.", relations=["Anna leads Firm since 2023."]),
            ("made up date",),
        ),
        (row(*SAID, relations=[RELATION]), Described(description="Anna paints.", relations=["Anna leads Firm."]), ()),
    ],
)
def test_what_may_be_stored(given: dict[str, Any], output: Described, reasons: tuple[str, ...]) -> None:
    assert DESCRIBE.faults(given, output, Estimate())[:1] == reasons


def test_without_a_model_the_notes_stand_as_they_are_and_pass_the_checks() -> None:
    before = "Anna paints harbours.\nAnna likes rye."
    given = row(*SAID, before=before, relations=[RELATION])
    made = Offline(DESCRIBE, Estimate()).make(given).output
    assert made == Described(
        description="\n".join([*SAID, "Anna likes rye."]), relations=["Anna leads Firm since 2024."]
    )
    one = Offline(DESCRIBE, Estimate()).make(row("Rye is grain. It makes bread.", thing="Concept")).output
    assert one == Described(description="Rye is grain.")
    for each, of in ((made, given), (one, row("Rye is grain. It makes bread."))):
        assert DESCRIBE.faults(of, each, Estimate()) == ()


def test_all_that_a_model_reads_is_fenced_data_or_reserved_for() -> None:
    given = row(*SAID, before="Anna likes rye.", relations=[RELATION])
    assert DESCRIBE.texts(given) == [
        *("Name: Anna", "So far: Anna likes rye.", *SAID),
        "Relationship 1 to Firm (work_at):\nAnna leads Firm since 2024.\nAnna joined Firm.",
    ]
    assert "Anna" not in DESCRIBE.told().filled(**DESCRIBE.words(given))


@pytest.mark.parametrize(("little", "by"), [('small_model = "little"', "little"), ("", "big")])
def test_a_small_model_for_what_is_little(tmp_path: Any, little: str, by: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(f'[policy]\nname = "p"\nextends = "default"\n[derive.describe]\nderiving = true\n{little}\n')
    client: Any = SimpleNamespace(policy=load_policy(file))
    options = {"model": "big", "base_url": "http://127.0.0.1:9/v1"}
    [handler] = making(client, Stop(), "openai", options, only="describe")
    of: Any = handler
    assert [of._of({"few": few}).model for few in (True, False)] == [by, "big"]
