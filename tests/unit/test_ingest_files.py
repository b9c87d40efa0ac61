"""Files as other programs write them, each with what a reader is to make of it (`tests/ingest_files`)."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jochi.toml import tomllib
from jochi.write.ingesting import Fault, Message, Omission, Source, read
from jochi.write.ingesting.json_values import parse_json

_MARK = ".expected.toml"
EXPECTED = sorted((Path(__file__).parent.parent / "ingest_files").rglob(f"*{_MARK}"))


@pytest.mark.parametrize(
    "expected", EXPECTED, ids=[f"{path.parent.name}/{path.name[: -len(_MARK)]}" for path in EXPECTED]
)
def test_what_a_reader_makes_of_a_file(expected: Path) -> None:
    """Who said what and when, in which source; what is left out, by reason; what can't be read, by place; what is `nowhere`."""
    wanted = tomllib.loads(expected.read_text(encoding="utf-8"))
    sources: dict[tuple[str | None, ...], list[dict[str, Any]]] = {}
    objects: dict[tuple[str | None, ...], Source] = {}
    formats, left, faults, words = set(), Counter[str](), list[str](), ""
    for piece in read(expected.with_name(expected.name[: -len(_MARK)])):
        if isinstance(piece, Fault):
            faults.append(piece.where)
        elif isinstance(piece, Omission):
            left[piece.why] += 1
        else:
            source, message = piece
            formats.add(source.provenance["origin"])
            words += f"{message.text}\n{message.raw}\n"
            named = (source.id, source.source_type, source.title, source.context_type)
            assert (
                source.id or objects.setdefault(named, source) is source
            )  # the writer knows one without an id by its object
            sources.setdefault(named, []).append(
                {name: getattr(message, name) for name in ("id", "at", "sender", "text", "attachment")}
            )
    assert sources == {
        tuple(source.get(name) for name in ("id", "type", "title", "context")): [
            {
                "id": message.get("id"),
                "at": datetime.fromisoformat(message["at"]) if "at" in message else None,
                "sender": message.get("sender"),
                "text": message["text"],
                "attachment": message.get("attachment", False),
            }
            for message in source.get("message", [])
        ]
        for source in wanted.get("source", [])
    }
    assert (dict(left), faults) == (wanted.get("left", {}), wanted.get("faults", []))
    assert formats <= {wanted["format"]}
    assert [each for each in wanted.get("nowhere", []) if each in words] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\u00e9\n\ud83d x"', "é\n\ufffd x"),
        (r'"\ude00 x \ud83d\ude00"', "\ufffd x \U0001f600"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (r'"\x0B\\x0B\\\x1F"', "\x0b\\x0B\\\x1f"),
    ],
)
def test_escapes_that_are_no_json_but_are_written(text: str, value: str) -> None:
    assert parse_json(text) == value == parse_json(text.encode())
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(r'["\x0B", NaN]')
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(r'"\x0B"' + "[" * 100_000)


def test_a_message_that_is_generated_anew_is_one_new_message() -> None:
    """An export from before an answer was generated anew, and one from after it, differ in that answer alone."""
    now = json.loads((EXPECTED[0].parent.parent / "chatgpt" / "regenerated_2023.json").read_text(encoding="utf-8"))
    mapping = {id: node for id, node in now[0]["mapping"].items() if id != "g2"}
    before = [now[0] | {"mapping": mapping, "current_node": "g1"}]
    first, second = (
        [piece for piece in read(io.BytesIO(json.dumps(export).encode()), name="a.json") if isinstance(piece, tuple)]
        for export in (before, now)
    )
    assert [message.id for _, message in first] == ["u", "g1"]
    assert [message.id for piece in second if piece not in first for message in [piece[1]]] == ["g2"]


Json = dict[str, Any]

SAID = ("user", "assistant")
UNSAID = ("tool", "thinking", "system", "media", "branch", "junk")


def chatgpt(units: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """One conversation; what isn't on the branch hangs beside it."""
    nodes: Json = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    last, places = "root", []
    for number, (kind, words) in enumerate(units):
        id = f"n{number}"
        content: object = {"content_type": "text", "parts": [words]}
        if kind == "thinking":
            content = {"content_type": "thoughts", "thoughts": [{"content": words}]}
        elif kind == "media":
            content = {
                "content_type": "multimodal_text",
                "parts": [{"content_type": "image_asset_pointer", "asset_pointer": words}],
            }
        elif kind == "junk":
            content = words
        role = kind if kind in ("user", "tool", "system") else "assistant"
        message = {"id": id, "author": {"role": role}, "create_time": 1780000000 + number, "content": content}
        nodes[id] = {"id": id, "message": message, "parent": last, "children": []}
        nodes[last]["children"].append(id)
        last = last if kind == "branch" else id
        places.append(f"conversation 1, message {id}")
    nodes[last]["children"].append("end")  # the current node is a leaf
    nodes["end"] = {"id": "end", "parent": last, "children": [], "message": {"author": {"role": "system"}}}
    return json.dumps([{"id": "c", "title": "t", "mapping": nodes, "current_node": "end"}]), places


def claude(units: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """One conversation; each message hangs on the one before it that isn't on a branch."""
    blocks: dict[str, Json] = {
        "tool": {"type": "tool_result", "content": [{"type": "text", "text": "%"}]},
        "thinking": {"type": "thinking", "thinking": "%"},
        "system": {"type": "token_budget", "text": "%"},
        "media": {"type": "image", "file": "%"},
        "junk": {"type": "hologram", "hologram": "%"},
    }
    last, messages = "00000000-0000-4000-8000-000000000000", []
    for number, (kind, words) in enumerate(units):
        block = {
            name: words if value == "%" else value
            for name, value in blocks.get(kind, {"type": "text", "text": "%"}).items()
        }
        messages.append(
            {"uuid": f"n{number}", "sender": "user" if kind == "user" else "assistant", "text": "", "content": [block]}
            | {"parent_message_uuid": last, "attachments": [], "files": []}
        )
        last = last if kind == "branch" else f"n{number}"
    messages.append({"uuid": "end", "parent_message_uuid": last, "content": [{"type": "token_budget"}]})
    talk = {"uuid": "c", "name": "t", "current_leaf_message_uuid": "end", "chat_messages": messages}
    return json.dumps([talk]), [f"conversation 1, message {number}" for number, _ in enumerate(units, 1)]


def claude_code(units: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """A session; what is on a branch was another agent at work."""
    blocks = {"tool": ("tool_result", "content"), "thinking": ("thinking", "thinking"), "media": ("image", "source")}
    lines = []
    for number, (kind, words) in enumerate(units):
        name, value = blocks.get(kind, ("hologram", "light") if kind == "junk" else ("text", "text"))
        role = "user" if kind in ("user", "tool", "system") else "assistant"
        message = {"role": role, "content": [{"type": name, value: words}]}
        marks = {"isMeta": kind == "system", "isSidechain": kind == "branch"}
        lines.append(
            {"type": role, "uuid": f"n{number}", "parentUuid": None, "sessionId": "s", "message": message} | marks
        )
    return "\n".join(map(json.dumps, lines)), [f"line {number}" for number, _ in enumerate(units, 1)]


def codex(units: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """A session; what is on a branch is the summary of one that became too long."""
    items: dict[str, Json] = {
        "tool": {"type": "function_call_output", "output": "%"},
        "thinking": {"type": "reasoning", "summary": "%"},
        "system": {"type": "message", "role": "developer", "content": "%"},
        "media": {"type": "message", "role": "user", "content": [{"type": "input_image"}]},
        "junk": {"type": "hologram", "content": "%"},
    }
    lines: list[Json] = [{"type": "session_meta", "payload": {"id": "s"}}]
    for kind, words in units:
        item = items.get(kind, {"type": "message", "role": kind, "content": [{"type": "input_text", "text": words}]})
        payload = {name: words if value == "%" else value for name, value in item.items()}
        lines.append({"type": "compacted" if kind == "branch" else "response_item", "payload": payload})
    return "\n".join(map(json.dumps, lines)), [f"line {number}" for number, _ in enumerate(units, 2)]


def gemini_cli(units: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """A session in JSON Lines; what is on a branch is taken back at once."""
    lines: list[Json] = [{"sessionId": "s", "projectHash": "p"}]
    places = []
    for number, (kind, words) in enumerate(units):
        parts = {"tool": "functionResponse", "media": "inlineData", "junk": "hologram"}
        part = {parts.get(kind, "text"): words} | ({"thought": True} if kind == "thinking" else {})
        type = kind if kind == "user" else "info" if kind == "system" else "gemini"
        lines.append({"id": f"n{number}", "type": type, "content": [part]})
        places.append(f"line {len(lines)}")
        if kind == "branch":
            lines.append({"$rewindTo": f"n{number}"})
    return "\n".join(map(json.dumps, lines)), places


def telegram(units: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """A chat; what is on no branch is not exportable."""
    messages: list[object] = []
    for number, (kind, words) in enumerate(units):
        message: Json = {"id": number, "type": "message", "from": kind, "text": words}
        if kind not in SAID:
            message = {"id": number, "type": "service" if kind in ("system", "tool") else "unsupported", "title": words}
        if kind == "media":
            message = {"id": number, "type": "message", "from": kind, "text": "", "photo": words}
        messages.append(words if kind == "junk" else message)
    chat = {"name": "t", "type": "personal_chat", "id": 1, "messages": messages}
    return json.dumps(chat), [f"chat 1, message {number}" for number, _ in enumerate(units, 1)]


WRITERS = {
    chatgpt: ".json",
    claude: ".json",
    claude_code: ".jsonl",
    codex: ".jsonl",
    gemini_cli: ".jsonl",
    telegram: ".json",
}


@given(
    st.sampled_from(list(WRITERS)),
    st.lists(st.tuples(st.sampled_from([*SAID, *SAID, *UNSAID]), st.text(max_size=12)), max_size=12),
)
def test_each_line_is_its_senders_or_is_named(
    write: Callable[[list[tuple[str, str]]], tuple[str, list[str]]], units: list[tuple[str, str]]
) -> None:
    """What the user or the assistant said is one message of that sender, in its order; the place of all else is named."""
    marked = [(kind, f"w{number}w {words}") for number, (kind, words) in enumerate(units)]
    data, places = write(marked)
    pieces = list(read(io.BytesIO(data.encode()), name=f"a{WRITERS[write]}", format=write.__name__.replace("_", "-")))
    said = [piece[1] for piece in pieces if isinstance(piece, tuple)]
    named = {piece.where for piece in pieces if isinstance(piece, Fault | Omission)}
    assert [_mark(message) for message in said] == [f"w{n}w" for n, (kind, _) in enumerate(units) if kind in SAID]
    assert [message.sender for message in said] == [kind for kind, _ in units if kind in SAID]
    assert all(place in named for place, (kind, _) in zip(places, units, strict=True) if kind not in SAID)


def _mark(message: Message) -> str:
    return message.text.split()[0]
