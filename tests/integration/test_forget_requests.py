"""A request in words takes everything that it names, in all spellings, and nothing else; where that isn't sure a person is asked
(docs/reference/forgetting.md, Requests)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.integration.test_forget_cli import Run, run  # noqa: F401

from jochi import Jochi
from jochi.errors import UsageError
from jochi.forgetting import VARIABLE, Request

pytestmark = pytest.mark.server

MEANT: Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]] = (
    (  # what is kept of somebody, a slip of the pen in it; family first
        "Please delete the custmer account of Ms. Lotte Verhaegen.",
        ("Lotte Verhaegen pays by card.", "Verhaegen, Lotte: wants a refund."),
        ("Lotte Verhagen pays by card.", "Lotte Verhaegen-Maas pays cash.", "Old customer accounts are deleted."),
    ),
    (
        "Bitte alles über die Mieterin Frau Dr. Falk-Ohm, Britta",
        ("Dr. Britta Falk-Ohm wohnt links.", "Mieterin Falk-Ohm, Britta: 900 Euro Kaution."),
        ("Dr. Birger Falk-Ohm wohnt rechts.", "Britta Falk hat den Schlüssel."),
    ),
    (  # an identifier, whatever stands around it
        "everything on SSN 123-45-6789",
        ("Her number is 123 45 6789.", "SSN 123-45-6789 was checked in May."),
        ("Her number is 123-45-6798.", "Every SSN is checked."),
    ),
    (
        "all you have on the gentleman at +44 7700 900418",
        ("+44 7700 900418 rang twice.",),
        ("+44 7700 900481 rang once.", "The gentleman left a parcel."),
    ),
    (
        "http://dune.example/list",
        ("The list is at https://www.dune.example/list/ for all.",),
        ("Others are at dune.example/lists for all.", "The list is long."),
    ),
    (  # what memories say to be the same
        "Wipe everything on Pia Lund",
        ("Zib is Pia Lund's nickname.", "Zib owes ten pounds.", "Pia Lund has the key."),
        ("Zibby needs new shoes.", "Pia Lunde has the other key."),
    ),
    (
        "Olvida todo lo de Trans Ovalle",
        ("Trans Ovalle pasó a llamarse Rutanor en febrero.", "Rutanor debe dos facturas."),
        ("Rutanora debe tres facturas.", "Ovalle es un apellido."),
    ),
    (  # declined, and in two scripts
        "Удали всё про Марфу Звягину",
        ("Марфа Звягина любит чай.", "Марфе Звягиной нужен врач."),
        ("Марфа Звягинцева любит кофе.", "Марк Звягин любит чай."),
    ),
    (
        "всё про Mary Holt",
        ("Мэри Холт (Mary Holt) поёт в хоре.", "Мэри Холт живёт в Твери."),
        ("Мэри Холтон (Mary Holton) поёт соло.",),
    ),
    (  # in Latin letters by another table
        "everything on Пётр Щепкин",
        ("Пётр Щепкин wants cash.", "Petr Shchepkin has the key.", "Pyotr Schepkin moved."),
        ("Petr Shepkin runs the box office.", "Пётр Щеглов tunes the piano."),
    ),
)
ASKED: Sequence[tuple[str, tuple[str, ...]]] = (
    ("Delete the file of Mrs. Dorn", ("File of Mrs. Erika Dorn: a rash.", "File of Mrs. Hanna Dorn: a knee.")),
    ("everything about Ruth Kessel's allergy", ("Ruth Kessel plays chess.", "Ruth Kessel has a son.")),
    ("everything except the number of Ruth Kessel", ("Ruth Kessel plays chess.", "Ruth Kessel has 555 0199 now.")),
    ("everything about Hart", ("Hart is the dentist.", "The library is on Hart Street.")),
    ("Borra todo lo que sepas de Sol", ("Sol da clases.", "Por la tarde el sol da de lleno.")),
    ("Забудь всё про Валентина Орлова", ("Валентин Орлов держит ключи.", "Валентина Орлова ведёт кружок.")),
    ("усе про Богдану Коваль", ("Богдана Коваль шиє сукні.", "Богдан Коваль лагодить дахи.")),
    ("01632 960417", ("Ivo has +44 1632 960417.", "A caller has +49 1632 960417.")),
    ("всё про Нильса Астера", ("Нильс Астер носит хлеб, а Ида Муэн носит сыр.",)),
    ("tout sur سامر النجار", ("Samer Najjar (سامر النجار) vend du thé.", "Samir Nejjar vend du café.")),
    ("Why does Ann Reed sing?", ("Ann Reed sings in a choir.",)),
    ("keep everything about Ann Reed", ("Ann Reed sings in a choir.",)),
    ("everything Ann Reed told me", ("Ann Reed sings.", "Ann Reed told me that Bob drinks.")),
    ("todo lo que dijo Ana Ruiz", ("Ana Ruiz canta.",)),
    ("alles, was Anna Koch über Bernd Maier gesagt hat", ("Anna Koch singt.", "Bernd Maier lügt.")),
    ("كل شيء عن ليلى حداد ما عدا عنوانها", ("ليلى حداد تغني.",)),
    ("everything about Amazon", ("Amazon owes me 40 euros.", "The Amazon is a river.")),
    ("everything about Will Young", ("Will Young sings.", "Will young people vote?")),
    ("that Ann moved to Lyon", ("Did Ann move to Lyon?",)),
    ("that Tom smokes", ("Tom, whose brother smokes, runs marathons.",)),
    ("that Ann runs", ("Ann runs a bakery.",)),
    ("that Ann works at Acme", ("Ann works at Acme Hotels.",)),
    ("that Ann likes Bob", ("Ann likes Bob's dog.",)),
    ("that Ann lives in York", ("Ann lives in New York.",)),
    ("that Ann taught Bob", ("Ann was taught by Bob.",)),
    ("that Ann eats meat", ("Ann rarely eats meat.",)),
    ("that Ann sings", ("Ann sings when she is drunk.",)),
    ("that the door is open", ("The back door is open.",)),
    ("that the cat is black", ("The cat is black and white.", "The cat of Bob is black.")),
    ("that Ann is going to Rome", ("Ann went to Rome.",)),
    ("remember that Ann has a cat", ("Ann has a cat.",)),
    ("everything about May", ("We meet in May.", "May Lund sings.")),
    ("que Ana fuma", ("Ana no fuma.",)),
    ("qu'Anne doit 20 euros à Paul", ("Paul doit 20 euros à Anne.",)),
    ("dass der Hund den Mann gebissen hat", ("Den Hund hat der Mann gebissen.",)),
    ("花子は犬を飼っている", ("花子は犬を飼っているかもしれない。",)),
    ("สมศรีชอบสมชาย", ("สมชายชอบสมศรี",)),
    ("everything about Rae Fox", ("Rae Fox signs her letters as Treasurer.", "The Treasurer keeps the books.")),
)


@pytest.fixture
def written(jochi: Jochi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    texts = [*((gone + stays) for _, gone, stays in MEANT), *(stays for _, stays in ASKED)]
    jochi.remember(
        [
            {"kind": "MemoryEntry", "id": f"m{at}", "scope": f"s{n}", "content": text}
            for n, each in enumerate(texts)
            for at, text in enumerate(each)
        ],
        on_refused="raise",
    )
    return jochi


def contents(jochi: Jochi, scope: str) -> set[str]:
    rows = jochi.database.run("MATCH (m:Curated {scope: $scope}) RETURN m.content AS c", {"scope": scope}, write=False)
    return {row["c"] for row in rows}


def test_everything_that_is_named_goes_or_a_person_is_asked(written: Jochi) -> None:
    problems = []
    for n, (words, _, stays) in enumerate(MEANT):
        done = written.forget(words, scope=f"s{n}", wait=0)
        if contents(written, f"s{n}") != set(stays) or done.candidates or done.receipt is None:
            problems.append((words, contents(written, f"s{n}"), done.reason))
    # Also by the name that a memory told to be the same.
    again = {"kind": "MemoryEntry", "scope": "s5", "content": "Zib owes ten pounds."}
    assert not written.remember(again).written
    for n, (words, stays) in enumerate(ASKED, len(MEANT)):
        done = written.forget(Request(about=words, scope=f"s{n}"), wait=0)
        if contents(written, f"s{n}") != set(stays) or not (done.asked or (done.reason and done.receipt is None)):
            problems.append((words, contents(written, f"s{n}"), done.reason))
    assert not problems


def test_the_command_takes_a_request_and_a_machine_gets_the_list(run: Run, written: Jochi) -> None:  # noqa: F811
    doubtful = run("forget", ASKED[0][0], "--scope", f"s{len(MEANT)}", "--yes", "--json")
    assert doubtful.exit_code == 3
    assert "it may be" in json.loads(doubtful.stdout)["reason"]
    shown = run("forget", MEANT[5][0], "--scope", "s5", "--dry-run")
    assert "Zib, which is the same by s5/m0" in shown.output
    assert run("forget", MEANT[5][0], "--scope", "s5", "--yes").exit_code == 0
    assert contents(written, "s5") == set(MEANT[5][2])
    assert run("forget", "x", "--about", "y").exit_code == 2


def test_a_person_is_asked_little_and_may_choose_a_part(run: Run, written: Jochi) -> None:  # noqa: F811
    texts = (
        "Juna Roth sails, Juna Roth owes Till 240 euros and Juna Roth paints.",
        "Juna Roth sleeps till nine.",
        "Till Roth owes Juna Stein 240 euros.",
        "The boat is blue.",
    )
    written.remember(
        [{"kind": "MemoryEntry", "id": f"m{n}", "scope": "p", "content": text} for n, text in enumerate(texts)],
        on_refused="raise",
    )
    asked = written.forget("Juna Roth's debts", scope="p", wait=0)
    assert asked.receipt is None
    assert [one.key for one in asked.candidates] == ["p/m1", "p/m0"]  # that say what is named, and no others
    meant = asked.candidates[1]
    assert meant.parts == ("Juna Roth sails", "Juna Roth owes Till 240 euros", "Juna Roth paints")

    moved = written.supersede("x", "Juna Roth rows.", scope="p", key=meant.key, statement="Juna Roth paints")
    assert dict(moved.replaced) == {"p/m0": "Juna Roth sails, Juna Roth owes Till 240 euros. Juna Roth rows."}
    assert moved.run is not None
    written.undo(moved.run)
    assert contents(written, "p") == set(texts)
    with pytest.raises(UsageError, match="doesn't say that"):
        written.supersede("x", "Juna Roth rows.", scope="p", key="p/m1", statement="Juna Roth paints")
    with pytest.raises(UsageError, match="a statement is one of a memory"):
        written.supersede("x", "Juna Roth rows.", scope="p", statement="Juna Roth paints")

    shown = run("forget", "Juna Roth's debts", "--scope", "p", input="9\n")
    assert shown.exit_code != 0
    assert "2b only: Juna Roth owes Till 240 euros" in shown.output
    assert run("forget", "Juna Roth's debts", "--scope", "p", input="2d\n").exit_code != 0
    assert contents(written, "p") == set(texts)
    done = run("forget", "Juna Roth's debts", "--scope", "p", input="2b\ny\n")
    assert done.exit_code == 0, done.output
    assert contents(written, "p") == {"Juna Roth sails and Juna Roth paints.", *texts[1:]}
    again = {"kind": "MemoryEntry", "scope": "p", "content": "Juna Roth owes Till 240 euros"}
    assert not written.remember(again).written  # the part is sealed
    said = run("supersede", "where Juna Roth is at nine", "Juna Roth sleeps till ten.", "--scope", "p", input="1\ny\n")
    assert said.exit_code == 0, said.output
    assert "Juna Roth sleeps till ten." in contents(written, "p")
