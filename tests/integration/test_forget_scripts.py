"""A name of any script takes the texts that say it, in all ways of writing that are one, and leaves the names beside it
(docs/reference/forgetting.md).

The many cases of letters and marks are in tests/property/test_words_of_scripts.py: here is what a database does with them.
"""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from tests.conftest import say_go

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request
from jochi.forgetting.checker import ANYWHERE, Sealer
from jochi.forgetting.exports import collect_export, import_export, read_export, write_export
from jochi.forgetting.finder import LONGER
from jochi.forgetting.forget_key import read_key
from jochi.forgetting.words import phrase
from jochi.text.forms import find_forms

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)

CASES: dict[str, tuple[list[str], list[str]]] = {
    "मीना": (["मीना दिल्ली में रहती है।", "कल मी\u200dना आई थी।"], ["मुन्ना पेरिस में रहता है।", "मैना एक पक्षी है।", "मन लगता है।"]),
    "काला": (["काला रंग अच्छा है।"], ["किला बहुत पुराना है।", "कला और कील"]),
    "கமலா": (["கமலா சென்னையில் வசிக்கிறார்."], ["கமல் சென்னையில் வசிக்கிறார்.", "கிமிலா வந்தாள்."]),
    "สมศรี": (["เพื่อนชื่อสมศรีอยู่ที่เชียงใหม่", "สมศรี ชอบชา"], ["สมศักดิ์ชอบกาแฟ", "สมสุรีชอบนม", "ศรีสมร้องเพลง"]),
    "محمد": (["مُحَمَّد يعيش في عمّان", "سافر محـــمد أمس"], ["محمود في عمّان", "حمد يعيش هنا"]),
    "שלום": (["שָׁלוֹם גר בחיפה", "אתמול בא שלום"], ["שלומי גר בחיפה", "שלם חשבון"]),
    "アンナ": (["アンナさんは京都に住む。", "ｱﾝﾅは猫が好き。"], ["アンナリサは京都に住む。", "アンは犬が好き。"]),
    "Иван": (["Ива\u0301н живёт в Омске.", "ИВАН поёт."], ["Иванна живёт в Омске.", "Йван поёт."]),
    "Müller": (["Mül\u00adler wohnt in Bonn.", "Ｍüller singt."], ["Möller wohnt in Bonn.", "Müllers Kuh"]),
}


@pytest.fixture
def engine(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys" / "forget.key"))
    say_go(jochi)
    return jochi


def test_a_name_of_any_script_goes_and_its_neighbours_stay(engine: Jochi) -> None:
    rows = [
        {"kind": "MemoryEntry", "scope": f"s{n}", "id": f"{kind}{at}", "content": text}
        for n, (goes, stays) in enumerate(CASES.values())
        for kind, texts in (("goes", goes), ("stays", stays))
        for at, text in enumerate(texts)
    ]
    assert engine.remember(rows, now=NOW).written == len(rows)
    for n, (asked, (goes, _)) in enumerate(CASES.items()):
        request = Request(phrase=asked, scope=f"s{n}")
        taken = {target.key for target in engine.plan_forgetting(request).targets}
        assert taken == {f"s{n}/goes{at}" for at in range(len(goes))}, asked
        done = engine.forget(request, verify=True, wait=0)
        assert done.left == (), asked
    left = engine.database.run("MATCH (m:Curated) RETURN m.key AS key", write=False)
    assert {row["key"] for row in left} == {f"{row['scope']}/{row['id']}" for row in rows if "stays" in row["id"]}
    # Nor are they learned again, and what stays may be written anew.
    told = engine.remember(
        [{**row, "id": f"{row['id']}b", "content": f"{row['content']} 2"} for row in rows], now=NOW, on_refused="report"
    )
    assert [each.reason for each in told.results] == ["forgotten" if "goes" in row["id"] else None for row in rows]


def test_where_a_name_may_go_on_a_person_is_asked(engine: Jochi) -> None:
    """No dictionary knows names: in a script without blanks what stands beside it tells whether it ends there."""
    cases = {
        "สม": ("นายสมอยู่ที่บ้าน", "สมศรีอยู่ที่เชียงใหม่"),
        "王伟": ("王伟住在北京。", "王伟明住在北京。"),
        "Wang Fang": ("认识王芳。", "王芳芳住在北京。"),
        "さくら": ("さくらさんは元気です。", "さくらこさんは元気です。"),
        "김철수": ("김철수는 서울에 산다.", "김철수민은 서울에 산다."),
        "សុខា": ("លោកសុខានៅភ្នំពេញ", "សុខារ៉ានៅភ្នំពេញ"),
    }
    rows = [
        {"kind": "MemoryEntry", "scope": f"s{n}", "id": f"m{at}", "content": text}
        for n, texts in enumerate(cases.values())
        for at, text in enumerate(texts)
    ]
    engine.remember(rows, now=NOW, on_refused="raise")
    for n, asked in enumerate(cases):
        done = engine.forget(Request(phrase=asked, scope=f"s{n}"), wait=0)
        assert [(each.key, each.reason) for each in done.asked] == [(f"s{n}/m1", LONGER)], asked
    left = engine.database.run("MATCH (m:Curated) RETURN m.key AS key ORDER BY key", write=False)
    assert [row["key"] for row in left] == [f"s{n}/m1" for n in range(len(cases))]
    engine.forget(Request(phrase="สม", scope="s0", unsure="whole"), wait=0)
    assert engine.database.run("MATCH (m:Curated {key: 's0/m1'}) RETURN m.key AS key", write=False) == []


def test_what_was_sealed_by_an_earlier_reading_goes_on_being_refused(engine: Jochi, tmp_path: Path) -> None:
    """Until 0.2 a phrase was sealed by words without vowel signs, and a form by what was read of these."""
    assert engine.remember([{"kind": "MemoryEntry", "id": "a", "content": "x"}], now=NOW).written == 1
    engine.forget(Request(keys=("default/a",)), wait=0)
    key = read_key()
    assert key is not None
    sealer = Sealer(key)
    asked = ("मीना", "สมศรี", "5 Elm St")
    phrases = [sealer.phrase(ANYWHERE, phrase(each, 1), 1) for each in asked]
    form = next(iter(find_forms("アンナ", ("cjk/4",), first_reading=True))).form
    engine.database.run(
        "MATCH (g:JochiForgetting {id: 'gate'}) SET g.lengths = $lengths, g.kinds = ['cjk/4'], g.version = g.version + 1 "
        "WITH g UNWIND $rows AS row CREATE (:JochiForgotten {hash: row.hash, words: row.words, at: $now})",
        {
            "lengths": sorted({each.words for each in phrases}),
            "rows": [{"hash": each.hash, "words": each.words} for each in (*phrases, sealer.form(ANYWHERE, form, 1))],
            "now": NOW,
        },
    )
    texts = ["मीना आई।", "मुन्ना आया", "नाम สมศรี", "at 5 Elm St", "アンナさん", "at 6 Elm St"]
    refused = ["forgotten"] * 5 + [None]
    rows = [{"kind": "MemoryEntry", "id": f"o{n}", "content": text} for n, text in enumerate(texts)]
    told = engine.remember(rows, now=NOW, on_refused="report").results
    assert [each.reason for each in told] == refused
    # A file takes them elsewhere, and what is forgotten anew stands beside them until both are lifted.
    engine.forget(Request(phrase="मीना"), wait=0)
    write_export(tmp_path / "seals.json", collect_export(engine.database))
    export = read_export(tmp_path / "seals.json")
    assert {"1", "2/1"} <= set(export.lengths)
    engine.database.run("MATCH (n:JochiForgotten|JochiForgetting|JochiReceipt) DETACH DELETE n")
    restored = [{**row, "id": f"r{n}"} for n, row in enumerate(rows)]
    assert engine.remember(restored, now=NOW).refused == 0, "as a backup has them"
    found = {each.phrase for each in engine.requests_of_export(export)}
    assert found == {"मीना", "मुन्ना", "สมศรี", "5 Elm St", "アンナ"}
    import_export(engine.database, export, at=NOW, by="test")
    again = [{**row, "id": f"p{n}"} for n, row in enumerate(rows)]
    told = engine.remember(again, now=NOW, on_refused="report").results
    assert [each.reason for each in told] == refused
    assert engine.allow_again(Request(phrase="मीना")) >= 2
    assert engine.remember([{**again[0], "id": "q"}], now=NOW, on_refused="report").refused == 0
