"""Words, clauses and seals of forgetting, without a database (docs/reference/forgetting.md)."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tests.clause_cases import cases, judged
from tests.tally import examples

from jochi.database.statements import procedures_folder
from jochi.errors import UsageError
from jochi.forgetting import clauses
from jochi.forgetting.checker import ANYWHERE, Sealer, texts_of
from jochi.forgetting.clauses import UNSURE, WHOLE, remove_clauses, sentences
from jochi.forgetting.forget_key import VARIABLE, ForgetKey, make_key, read_key
from jochi.forgetting.mentions import marked_properties
from jochi.forgetting.receipts import hash_of
from jochi.forgetting.records import BOOKS, SearchTerms, change, change_of_link, found_in, is_ours
from jochi.forgetting.words import as_the_server_folds, folded_needle, pattern_of_words, phrase, says
from jochi.operate.checks_memories import check_forgetting
from jochi.text.letters import folded

SECRET = ForgetKey(bytes(range(32)))


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("Write to alice@acme.io.", "alice@acme.io", True),
        ("(ALICE@ACME.IO)", "alice@acme.io", True),
        ("mailto:alice@acme.io", "alice@acme.io", True),
        ("alice.smith@acme.io", "alice@acme.io", False),
        ("malice@acme.io", "alice@acme.io", False),
        ("alice@acme.io.uk", "alice@acme.io", False),
        ("alice@acme.io", "alice", False),
        ("Alice's car", "alice", True),
        ("Alice’s car", "Alice", True),
        ("lives at 5 Elm St.", "5 Elm St", True),
        ("lives at 15 Elm St.", "5 Elm St", False),
        ("lives at 5 Elm Street", "5 Elm St", False),
        ("5   elm\nst", "5 Elm St", True),
        ("web-03 and web-030", "web-03", True),
        ("only web-030", "web-03", False),
        ("彼は東京に住む", "東京", True),
        ("彼は京都に住む", "東京", False),
        ("die STRASSE", "Straße", True),
        ("cafe\u0301 au lait", "café", True),
        ("", "x", False),
    ],
)
def test_phrases_match_word_for_word(text: str, wanted: str, expected: bool) -> None:
    assert says(text, phrase(wanted)) is expected


@given(st.text(max_size=40), st.text(max_size=40), st.text(min_size=1, max_size=12))
def test_a_phrase_between_blanks_is_always_found(before: str, after: str, wanted: str) -> None:
    said = phrase(wanted)
    if said:
        assert says(f"{before} \u2028 {' '.join(said)} \u2028 {after}", said)


def _database_finds(text: str, said: tuple[str, ...]) -> bool:
    """As `forget/search` looks for it."""
    folded_text, pattern = as_the_server_folds(text), pattern_of_words([said])
    if folded_needle(said) in folded_text or pattern is None:
        return folded_needle(said) in folded_text
    return regex.fullmatch(f"(?s){pattern}", unicodedata.normalize("NFKD", folded_text), regex.V1) is not None


@given(st.text(max_size=20), st.text(min_size=1, max_size=12), st.text(max_size=20))
def test_what_the_database_looks_for_is_in_every_text_that_says_it(before: str, wanted: str, after: str) -> None:
    """The server's toLower folds less than we do: its needle must still be there."""
    text = f"{before} {wanted} {after}"
    said = phrase(wanted)
    if said and says(text, said):
        assert _database_finds(text, said)


def test_no_letter_hides_a_word_from_the_database() -> None:
    """Every letter that could, within a word and at its end in capitals: a final sigma, a micro sign, a ligature."""
    for code in range(examples(0x3000, 0x20000)):
        letter = chr(code)
        for text in (f"zz{letter}zz", f"ZZ{letter.upper()}"):
            said = phrase(text) if not 0xD800 <= code < 0xE000 else ()
            if said and says(text, said):
                assert _database_finds(text, said), text
    assert says("im Oﬃce", phrase("office"))
    assert folded_needle(phrase("office")) in as_the_server_folds("im Oﬃce")
    assert (folded_needle(phrase("Αλέξανδρος")), folded_needle(phrase("alice@acme.io"))) == ("νδρο", "alice@acme.io")


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("likes tea and lives at 5 Elm St", "5 Elm St", "likes tea"),
        ("Alice lives at 5 Elm St. She likes tea.", "5 Elm St", "She likes tea."),
        ("Alice lives at 5 Elm St and likes tea", "5 Elm St", "Alice likes tea"),
        ("He bought milk, eggs and 5 Elm St honey.", "5 Elm St", "He bought milk and eggs."),
        ("She likes Smith and Wesson at 5 Elm St", "5 Elm St", WHOLE),
        ("Paid Dr. Smith at 5 Elm St. Then left. Went home.", "5 Elm St", UNSURE),  # Elm St. Then …
        ("One line.\nMail alice@acme.io\nThird line", "alice@acme.io", "One line.\nThird line"),
        ("Likes tea. Tel 0170 1. Sings! Tel 0170 1 again.", "0170 1", "Likes tea. Sings!"),
        ("5 Elm St", "5 Elm St", WHOLE),
        ("Alice stays home if Bob visits Lyon.", "Lyon", WHOLE),
        ("Ann doesn't live in Rome and likes tea.", "Rome", "Ann likes tea."),
        ("Ann and Bob drive to Rome.", "Bob", "Ann drives to Rome."),
        ("Ann moved to Rome because her mother is ill.", "Rome", "Her mother is ill."),
        ("Ann, my sister, lives in Rome.", "Rome", "Ann is my sister."),
        ("After graduating from Yale, Omar joined Acme and later left.", "Yale", "Omar joined Acme and later left."),
        ("My wife Elena and our two sons Leo and Max live in Porto.", "Elena", UNSURE),
        ("Hobbies: chess, tennis and golf.", "tennis", "Hobbies: chess and golf."),
        ("She likes chess, tennis and table football.", "tennis", UNSURE),  # read as (tennis and table) football
        # Spaces that don't break part no number; a name beside its noun is one with it.
        ("we noted 4277\xa02459\xa09125\xa00393 last week", "4277 2459 9125 0393", WHOLE),
        ("My friend Sven Ostrov moved house", "Sven Ostrov", WHOLE),
        ("My friend Sven Ostrov, alias Skye Quill, moved house", "Skye Quill", "My friend Sven Ostrov moved house"),
        ("Ann and Bob live next door, and they share a car.", "Ann", "Bob lives next door, and they share a car."),
        (
            "Alicja mag Tee und wohnt in der Elmstr. 5, aber sie arbeitet in Bonn.",
            "Elmstr. 5",
            "Alicja mag Tee, aber sie arbeitet in Bonn.",
        ),
        ("Alicja wohnt in der Elmstr. 5 und mag Tee.", "Elmstr. 5", "Alicja mag Tee."),
        ("Heute wohnt sie in der Elmstr. 5 und mag Tee.", "Elmstr. 5", UNSURE),
        ("Sie kauft Milch, Eier und Honig.", "Eier", UNSURE),
        ("彼は東京に住む。彼は猫が好き。", "東京", "彼は猫が好き。"),
        ("मीना दिल्ली में रहती है। मुन्ना पेरिस में रहता है।", "मीना", "मुन्ना पेरिस में रहता है।"),
        ("मीना दिल्ली में रहती है और मुन्ना पेरिस में रहता है।", "मीना", UNSURE),
        ("မီနာသည်ရန်ကုန်မှာနေသည်။မောင်သည်မန္တလေးမှာနေသည်။", "မီနာ", "မောင်သည်မန္တလေးမှာနေသည်။"),
        ("สมศรีอยู่ที่เชียงใหม่ สมชายอยู่ที่กรุงเทพ", "สมศรี", UNSURE),
        ("สมศรี ชอบชา", "สมศรี", WHOLE),
        ("هل سافر محمد؟ سارة هنا.", "محمد", "سارة هنا."),
        ("Иван живёт в Омске, и Мария живёт в Туле.", "Иван", UNSURE),
        # Who says something in a conversation says what is left of it; a moment says nothing.
        ("Bob: I like chess.\nAnn: I live in Lyon. I like tea.", "Lyon", "Bob: I like chess.\nAnn: I like tea."),
        ("Bob: I like chess.\nAnn: I live in Lyon. I like tea.", "Ann", UNSURE),
        ("Bob: I like chess.\nAnn: I live in Lyon.\nBob: So do I.", "Lyon", "Bob: I like chess.\nBob: So do I."),
        ("[2026-01-05 10:00] Ann: I live in Lyon. I like tea.", "Lyon", "[2026-01-05 10:00] Ann: I like tea."),
        ("[2026-01-05] Ann: I live in Lyon and I work at Acme.", "Lyon", "[2026-01-05] Ann: I work at Acme."),
        ("[2026-01-05] Ann: I live in Lyon. I like tea.", "2026-01-05", UNSURE),
        ("So it is: I live in Lyon. I like tea.\nBob: Fine.", "Lyon", "I like tea.\nBob: Fine."),
        ("Hobbies: chess. Ann sings.", "chess", "Ann sings."),
    ],
)
def test_the_statement_goes_and_the_rest_stays(text: str, wanted: str, expected: str | None) -> None:
    assert remove_clauses(text, phrase(wanted)) == expected


def test_of_compound_sentences_what_is_left_is_right_or_a_person_is_asked() -> None:
    """Some hundreds of some thousands: never one statement too much or too little (`python -m tests.clause_cases`)."""
    told = Counter((case.shape, judged(case)) for case in islice(cases(), None, None, examples(46, 23)))
    assert [each for each in told if each[1] == "wrong"] == []
    assert told.total() > 150
    right = sum(n for (_, each), n in told.items() if each == "right")
    assert right >= 0.85 * told.total()


def test_without_the_parse_words_that_begin_a_clause_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clauses, "reader_of", lambda text: None)
    for text, wanted, expected in (
        ("Alice likes tea and lives at 5 Elm St.", "5 Elm St", "Alice likes tea."),
        ("She lives at 5 Elm St and likes tea.", "5 Elm St", "She likes tea."),
        ("Alice lives at 5 Elm St.", "5 Elm St", WHOLE),
        ("Alice bought milk, eggs and 5 Elm St honey.", "5 Elm St", UNSURE),
    ):
        assert remove_clauses(text, phrase(wanted)) == expected


@given(st.text(max_size=300))
def test_sentences_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


@given(
    st.lists(
        st.sampled_from(
            [
                "Alice likes tea",
                "and lives at 5 Elm St",
                ", but works in Bonn",
                ". ",
                "She sings",
                "\n",
                "5 Elm St",
                " ",
            ]
        ),
        max_size=12,
    )
)
def test_what_is_left_never_says_it_and_is_made_of_the_text(parts: list[str]) -> None:
    text = " ".join(parts)
    said = phrase("5 Elm St")
    rest = remove_clauses(text, said)
    if rest:
        assert not says(rest, said)
        kept = iter(phrase(text))
        assert all(word in kept for word in phrase(rest))


def test_seals_tell_forms_scopes_and_borders_apart() -> None:
    sealer = Sealer(SECRET)
    seals = [
        sealer.content("s", "a b"),
        sealer.content("t", "a b"),
        sealer.phrase("s", ("a", "b")),
        sealer.phrase("s", ("a b",)),
        sealer.phrase(ANYWHERE, ("a", "b")),
        sealer.scope("s"),
        sealer.key_only("s/a"),
        sealer.fact("s", "n", "v"),
        Sealer(ForgetKey(bytes(32))).content("s", "a b"),
    ]
    assert len({seal.hash for seal in seals}) == len(seals)
    assert sealer.content("s", "A  b!") == sealer.content("s", "a b")
    assert [seal.words for seal in seals[:4]] == [0, 0, 2, 1]
    assert sealer.phrases("s", ["x A b y"], ("2/2",)) >= {
        sealer.phrase("s", ("a", "b")).hash,
        sealer.phrase(ANYWHERE, ("a", "b")).hash,
    }


def test_the_key_is_made_once_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "deep" / "key"
    monkeypatch.setenv(VARIABLE, str(file))
    assert read_key() is None
    made = make_key()
    assert (read_key(), make_key()) == (made, made)
    assert file.stat().st_mode & 0o777 == 0o600
    assert made.secret.hex() not in repr(made)
    for wrong in ("", "ab", "z" * 64, "ä"):
        file.write_text(wrong)
        with pytest.raises(UsageError) as told:
            read_key()
        assert not wrong or wrong not in str(told.value).replace(str(file), "")


def test_of_clients_that_make_the_key_at_once_all_get_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One comes while another is about to write."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "key"))
    write = os.fdopen
    others: list[ForgetKey | None] = []

    def meanwhile(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(os, "fdopen", write)
        others.extend([read_key(), make_key()])
        return write(*given, **named)

    monkeypatch.setattr(os, "fdopen", meanwhile)
    made = make_key()
    assert others == [None, made]
    assert read_key() == made
    assert [file.name for file in tmp_path.iterdir()] == ["key"]
    with ThreadPoolExecutor(8) as pool:
        for n in range(50):
            monkeypatch.setenv(VARIABLE, str(tmp_path / str(n) / "key"))
            assert len({made.id for made in pool.map(lambda _: make_key(), range(8))}) == 1


def test_keys_in_records_are_whole() -> None:
    sought = SearchTerms(frozenset({"default/m1"}), frozenset({"carol"}))
    for text in (
        "default/m1",
        "run/default/m1",
        "default/m1/purge",
        "failed at default/m1: bad",
        "carol/x",
        "run/carol/x",
    ):
        assert sought.names(text), text
    for text in ("default/m10", "default/m1.5", "xdefault/m1", "carol", "carola/x", "caro"):
        assert not sought.names(text), text


@pytest.mark.parametrize("other", ["default/doc1:3", "default/doc1#3", "default/doc1/3", "x/default/doc1", "x/docs/m"])
def test_a_key_that_has_another_in_it_is_another(other: str) -> None:
    sought = SearchTerms(frozenset({"default/doc1", "docs/m"}), frozenset({"docs"}))
    for row in (
        _row(
            "CurationAudit", id=f"curate_due/7/{other}", run="curate_due/7", key=other, into=f"{other}x", action="merge"
        ),
        _row("CurationAudit", id=f"undo/u/0/curate_due/7/{other}", run="undo/u", of=f"curate_due/7/{other}", key=other),
        _row("JochiMerged", seal=f"{other}/hash", into=other),
        _row("JochiMerging", id=f"merge_duplicates/7/{other}", into=other),
        _row("JochiPlanPart", keys=[other], notes=[""]),
        _row("JochiAccess", key=other),
        _row("JochiJob", name="hygiene", cursor=other, skip=[other]),
        _row("Curated", key=other, merged_from=[other], duplicate_of=other, merged_into=other),
    ):
        assert change(row, sought) is None, row
    for type, name in (("ABOUT", "curation_merges"), ("SIMILAR_TO", "unlinked")):
        stored = {name: [f"merge_duplicates/7/{other}#3"]}
        mark = {"id": "1", "type": type, "stored": stored, "names": list(stored)}
        assert (change_of_link(mark, sought), marked_properties(mark, sought)) == (None, []), (
            "and --verify names what is scrubbed"
        )


def test_every_label_of_the_engine_is_looked_at() -> None:
    """What a body writes besides memories is ours to scrub, is of forgetting itself, or tells of nobody."""
    files = [file for file in procedures_folder().rglob("*") if file.is_file()]
    labels = {label for file in files for label in re.findall(r":(Jochi\w+)", file.read_text())}
    tell_of_nobody = {"JochiProcedure", "JochiPolicy", "JochiIntake", "JochiProbe", "JochiWorker"}
    tell_of_nobody |= {
        "JochiCompression"
    }  # of an engine before 0.1.0, which forgets nothing any more: its upgrade deletes them
    assert {label for label in labels if not is_ours([label])} == BOOKS | tell_of_nobody


def test_what_is_sought_itself_is_found_in_all_of_these() -> None:
    sought = SearchTerms(frozenset({"default/doc1"}), frozenset({"docs"}))
    for key in ("default/doc1", "docs/m"):
        audit = _row("CurationAudit", id=f"undo/u/0/curate_due/7/{key}/demote", keys=["a/b", key], before=["", ""])
        found = change(audit, sought)
        assert found is not None
        assert (found["delete"], found["new"]["keys"], found["new"]["id"]) == (False, ["a/b", "forgotten"], "forgotten")
        # The first of the records that it takes back: its own list may be without it.
        assert change(_row("CurationAudit", id=f"undo/u/0/curate_due/7/{key}/demote", keys=["a/b"]), sought) is not None
        for number in ("#3", "#late", ""):
            stored = {"curation_merges": [f"merge_duplicates/7/{key}{number}", "merge_duplicates/7/a/b#1"]}
            row = {"id": "1", "type": "ABOUT", "stored": stored, "names": list(stored)}
            assert marked_properties(row, sought) == ["curation_merges"]
            link = change_of_link(row, sought)
            assert link == {"id": "1", "new": {"curation_merges": ["merge_duplicates/7/a/b#1"]}}
        assert change_of_link({"id": "1", "type": "KEEPS", "stored": {"other_key": key}}, sought) is not None
        for type, name in (("ABOUT", "other_key"), ("ABOUT", "unlinked"), ("KEEPS", "unlinked")):
            assert change_of_link({"id": "1", "type": type, "stored": {name: key}}, sought) is None


def test_only_a_plain_word_is_a_rules_own() -> None:
    sought = SearchTerms(phrases=(("alice@acme.io",), ("done",)))
    for status, found in (
        ("done", False),
        ("not done", True),
        ("wrote to alice@acme.io", True),
        ("alice@acme.io", True),
    ):
        assert (change(_row("CurationSnapshot", of="s/m", status=status), sought) is not None) == found
        assert (change(_row("CurationAudit", key="s/m", before_status=status), sought) is not None) == found
        assert (status in texts_of({"status": status})) == found
    assert change(_row("CurationSnapshot", of="s/m", tier_reason="not done"), sought) is None
    assert change(_row("JochiAccessBatch", id="import of alice@acme.io"), sought) is not None


def _row(labels: str, of: str | None = None, **stored: Any) -> dict[str, Any]:
    """As report/mentions finds it, had all of its properties a needle."""
    return {"id": "1", "labels": labels.split(), "stored": stored, "names": list(stored), "of": of}


OURS = [
    _row("JochiJobRun", id="hot/1", job="hot", status="hot", mode="hot", policy="hot", procedure="hot", runner="hot"),
    _row("JochiJob", name="hot", procedure="hot", stopped_run="hot/1"),
    _row("JochiPump", name="hot", policy="hot"),
    _row("JochiPlan", id="hot", state="hot", by="hot"),
    _row("JochiScope", name="hot"),
    _row("JochiBudget", scope="hot"),
    _row("JochiQuota", key="hot/Task", scope="hot"),
    _row("JochiPause", key="scope/hot", what="scope", name="hot"),
    _row("JochiPause", key="kind/hot", what="kind", name="hot"),
    _row("JochiAccess", key="default/m"),
    _row(
        "CurationAudit",
        id="hot/s/m",
        run="hot",
        key="s/m",
        scope="hot",
        kind="hot",
        rule="hot",
        action="hot",
        before_tier="HOT",
    ),
    _row("CurationAudit", id="r/s/m/x", keys=["s/m"], property="hot", before=["HOT"], after=["hot"], rule="hot"),
    _row("CurationSnapshot", of="s/m", tier="HOT", state="hot", scope="hot"),
]


@pytest.mark.parametrize("row", OURS, ids=lambda row: f"{row['labels'][0]}-{row['stored'].get('what', '')}")
def test_a_phrase_takes_no_word_of_ours(row: dict[str, Any]) -> None:
    """ "hot" is a tier, "running" a status, and a scope may have the name of a person."""
    assert change(row, SearchTerms(phrases=(("hot",),))) is None


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (_row("CurationSnapshot", of="s/m", content="it is hot"), "delete"),
        (_row("CurationAudit", key="s/m", before_title="hot"), "delete"),
        (_row("CurationAudit", key="s/m", inputs=["topic: hot", "read: true"]), {"inputs": ["read: true"]}),
        (_row("JochiJobRun", id="x/1", error="at 'hot': no"), {"error": None}),
        (_row("JochiPlanPart", keys=["s/m", "s/n"], notes=["", "hot"]), {"notes": ["", "forgotten"]}),
        (_row("JochiAccess", key="s/m", agent="hot"), {"agent": None}),
        (_row("JochiSlot", name="s/hot"), None),
        (_row("JochiSlot", name="s/is hot"), "delete"),
        (_row("Thing", name="hot"), None),
    ],
)
def test_a_phrase_takes_what_somebody_said(row: dict[str, Any], said: Any) -> None:
    found = change(row, SearchTerms(phrases=(("hot",),)))
    assert (None if found is None else "delete" if found["delete"] else found["new"]) == said


@pytest.mark.parametrize(
    ("row", "goes"),
    [
        (_row("CurationSnapshot", of="a/m", content="it is hot"), True),
        (_row("CurationSnapshot", of="b/m", content="it is hot"), False),
        (_row("CurationAudit", key="b/m", before_title="hot"), False),
        (_row("CurationAudit", key="a/m", before_title="hot"), True),
    ],
)
def test_a_phrase_of_one_scope_leaves_the_others(row: dict[str, Any], goes: bool) -> None:
    assert (change(row, SearchTerms(phrases=(("hot",),), within=frozenset("a"))) is not None) == goes


def test_what_another_memory_says_besides_keeps_its_copies() -> None:
    sought = SearchTerms(frozenset({"a/x"}), phrases=(("tea", "it", "is"),), within=frozenset("a"), exact=True)
    assert change(_row("CurationSnapshot", of="a/m", content="Tea it is!"), sought) is not None
    assert change(_row("CurationSnapshot", of="a/m", content="Tea it is, and cake."), sought) is None


@pytest.mark.parametrize(
    "row", [row for row in OURS if set(row["labels"]) & {"JochiScope", "JochiBudget", "JochiQuota"}]
)
def test_what_is_a_scopes_goes_with_it_alone(row: dict[str, Any]) -> None:
    found = change(row, SearchTerms(scopes=frozenset({"hot"})))
    assert found is not None
    assert found["delete"]
    assert change(row, SearchTerms(frozenset({"hot/Task", "scope/hot", "kind/hot"}))) is None


def test_a_forgotten_scope_is_not_named_among_those_above_a_budget() -> None:
    row = _row("JochiJobRun", id="enforce_budgets/1", overflowing_scopes=["bob", "carol", "caro"])
    found = change(row, SearchTerms(scopes=frozenset({"carol"})))
    assert found is not None
    assert (found["delete"], found["new"]) == (False, {"overflowing_scopes": ["bob", "caro"]})
    assert change(row, SearchTerms(phrases=(("carol",),))) is None


def test_a_forgotten_scope_keeps_its_place_in_what_the_breaker_said() -> None:
    row = _row(
        "JochiJobRun", id="r", stopped_scopes=["carol", "bob"], stopped_kinds=["Task", "Belief"], stopped_limits=[1, 2]
    )
    found = change(row, SearchTerms(scopes=frozenset({"carol"})))
    assert found is not None
    assert found["new"] == {"stopped_scopes": ["forgotten", "bob"]}


SOUGHT = [
    SearchTerms(phrases=(("hot",),)),
    SearchTerms(frozenset({"s/m", "s/n"}), phrases=(("hot",),)),
    SearchTerms(scopes=frozenset({"hot", "s"})),
    SearchTerms(
        frozenset({"s/m"}), frozenset({"hot"}), (("hot",), ("it", "is", "hot")), within=frozenset("s"), exact=True
    ),
]
LISTS = [
    _row("JochiJob", skip=["s/m", "hot", "s/n", "s/x"], name="hot", last_error="hot: at s/m"),
    _row("JochiPlanPart", keys=["s/m", "hot/x", "a/b"], notes=["hot", "s/m is hot", ""], before=["hot", "s/m", ""]),
    _row("CurationAudit", id="r/s/m/x", keys=["s/m", "s/o"], before=["HOT", "hot"], after=["hot", ""], scope="hot"),
    _row("CurationAudit", key="a/m", inputs=["topic: hot", "at s/m", "read: true"]),
    _row("JochiJobRun", stopped_scopes=["hot", "s", "bob"], error="at s/m", notes=["hot"], quarantined=["s/m", "a/b"]),
    _row("Curated", key="a/m", merged_from=["s/m", "a/b"], duplicate_of="s/n", content="s/m is hot"),
]


@pytest.mark.parametrize("sought", SOUGHT, ids=["words", "keys", "scopes", "all"])
@pytest.mark.parametrize("row", [*OURS, *LISTS], ids=lambda row: row["labels"][0])
def test_what_is_found_is_gone_afterwards_and_nothing_else(row: dict[str, Any], sought: SearchTerms) -> None:
    found = change(row, sought)
    assert (found is not None) == bool(found_in(row, sought))
    if found is None or found["delete"]:
        return
    assert list(found["new"]) == found_in(row, sought)
    left = {name: value for name, value in (row["stored"] | found["new"]).items() if value is not None}
    after = {**row, "stored": left, "names": list(left)}
    assert change(after, sought) is None
    # Of a list only what would have been found by itself is gone.
    for name, new in found["new"].items():
        for each in row["stored"][name] if isinstance(new, list) else ():
            alone = {**row, "stored": {**row["stored"], name: [each]}, "names": [name]}
            assert (each in new) == (found_in(alone, sought) == []), (name, each)


def test_receipts_hash_everything() -> None:
    assert len({hash_of(1, None, "{}"), hash_of(2, None, "{}"), hash_of(1, "x", "{}"), hash_of(1, None, "[]")}) == 4


def test_folding_is_stable() -> None:
    assert folded(folded("ẞtraße İ ſ K")) == folded("ẞtraße İ ſ K")


def test_doctor_says_whether_the_key_is_here() -> None:
    told = [check_forgetting(*given) for given in ((0, None, None), (3, "ab", "ab"), (3, "ab", None), (3, "ab", "cd"))]
    assert [check.level.value for check in told] == ["ok", "ok", "warn", "warn"]
    assert "no key of forgetting is here" in told[2].found
