"""What was forgotten since a backup, found in the restored database by the seals of a file, as requests to forget it again."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from neo4j.time import DateTime

from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.forgetting.checker import ANYWHERE, Sealer, check_item
from jochi.forgetting.clauses import forget_readings
from jochi.forgetting.exports import Export
from jochi.forgetting.finder import Finder, Request
from jochi.forgetting.forget_key import ForgetKey
from jochi.forgetting.messages import RAW
from jochi.forgetting.parts import parts_of
from jochi.forgetting.statements import parse_statements
from jochi.forgetting.words import whole_words
from jochi.policy.model import Policy
from jochi.text.messages import first_part

_PAGE = 500


@dataclass
class _Requests:
    scopes: dict[str, None] = field(default_factory=dict)
    keys: dict[str, None] = field(default_factory=dict)
    statements: dict[tuple[str, str], None] = field(default_factory=dict)
    phrases: dict[str, Request] = field(default_factory=dict)
    """By hash: one spelling finds the others."""

    def requests(self) -> list[Request]:
        whole = [key for key in self.keys if key.partition("/")[0] not in self.scopes]
        stated = [(key, text) for key, text in self.statements if key not in self.keys]
        keys = tuple(dict.fromkeys((*whole, *(key for key, _ in stated))))
        return [
            *(Request(scope=scope) for scope in self.scopes),
            *([Request(keys, statements=tuple(stated))] if keys else []),
            *self.phrases.values(),
        ]


def requests_of_export(engine: Engine, policy: Policy, export: Export, key: ForgetKey) -> list[Request]:
    """What to forget so that nothing is left that the seals of ``export`` speak of. Reads every memory; writes nothing.

    A phrase that is sealed shows its words where a memory says them, so its request is made anew of these. What a person had left
    as it was stays.
    """
    matcher = _Matcher(engine, policy, export, Sealer(key))
    requests = _Requests()
    after: str | None = ""
    while after is not None:
        keys = engine.database.run(statement("forget/keys"), {"after": after, "limit": _PAGE}, write=False)[0]["keys"]
        for row in matcher.read(keys):
            matcher.match(row, requests)
        forget_readings()
        after = keys[-1] if len(keys) == _PAGE else None
    return requests.requests()


def _is_later(created_at: Any, forgotten_at: datetime) -> bool:
    """Whether a memory was made after one of its key was forgotten: then it is another one."""
    return isinstance(created_at, DateTime) and created_at.tzinfo is not None and created_at.to_native() > forgotten_at


class _Matcher:
    def __init__(self, engine: Engine, policy: Policy, export: Export, sealer: Sealer) -> None:
        self._engine = engine
        self._sealer = sealer
        self._known = {seal.hash: seal.at for seal in export.seals}
        self._lengths, self._kinds = export.lengths, export.kinds
        self._finder = Finder(engine, policy)
        self._names = sorted({"content", *(source.property for source in policy.sources().get("content", ()))})
        # Receipts of earlier versions don't tell whether single statements were asked for.
        self._by_statement = any(each.get("form") == "keys" and each.get("statements", 1) for each in export.bodies())

    def read(self, keys: list[str]) -> list[dict[str, Any]]:
        given = {"keys": keys, "content_names": self._names}
        return list(self._engine.database.run(statement("forget/read"), given, write=False)[0]["found"])

    def match(self, row: Mapping[str, Any], requests: _Requests) -> None:
        key, stored = row["key"], row["stored"]
        scope = key.partition("/")[0]
        if self._has(self._sealer.scope(scope).hash):
            requests.scopes[scope] = None
            return
        content = self._finder.content_of(row)
        contents = [*([] if content is None else [content]), *row["earlier"]]
        if any(self._has(hash) for hash in self._of_the_whole(key, scope, stored, contents)):
            requests.keys[key] = None
            return
        if content is None or not self._has(self._sealer.exemption(key, content, "").hash):
            texts = [*check_item(scope, key, content, stored).texts, *row["earlier"]]
            for text in dict.fromkeys(texts):
                composed = unicodedata.normalize("NFC", text)
                for hash, where, (start, stop) in self._placed(scope, text):
                    if self._has(hash):
                        whole = whole_words(text, start, stop)
                        words = composed[slice(*whole)]
                        request = Request(phrase=words, scope=None if where == ANYWHERE else where)
                        # What an earlier reading cut through may be several words of today's.
                        requests.phrases.setdefault(hash if whole == (start, stop) else f"{hash}/{words}", request)
        for text in self._messages(key, stored):
            requests.phrases.setdefault(text, Request(phrase=text, scope=scope))
        if self._by_statement:
            for text in contents[:1]:
                for one in (*parse_statements(text), *(part.as_statement() for part in parts_of(text))):
                    if self._has(self._sealer.content(scope, one.full_text).hash):
                        requests.statements[key, one.text] = None

    def _has(self, hash: str) -> bool:
        return hash in self._known

    def _of_the_whole(self, key: str, scope: str, stored: Mapping[str, Any], contents: list[str]) -> Iterator[str]:
        yield from (self._sealer.content(scope, text).hash for text in contents)
        yield from (seal.hash for seal in self._sealer.facts(scope, stored))
        gone = self._sealer.forgotten_key(key).hash
        if gone in self._known and not _is_later(stored.get("created_at"), self._known[gone]):
            yield gone
        if not contents or isinstance(stored.get("message_ids"), list):
            yield self._sealer.key_only(first_part(key)).hash

    def _placed(self, scope: str, text: str) -> Iterator[tuple[str, str, tuple[int, int]]]:
        yield from self._sealer.placed_phrases(scope, text, self._lengths)
        if self._kinds:
            yield from self._sealer.placed_forms(scope, text, self._kinds)

    def _messages(self, key: str, stored: Mapping[str, Any]) -> Iterator[str]:
        """Texts of single messages of a source that were forgotten."""
        ids, raw = stored.get("message_ids"), stored.get(RAW)
        if isinstance(ids, list) and isinstance(raw, list) and len(ids) == len(raw):
            source = first_part(key)
            for id, text in zip(ids, raw, strict=True):
                if isinstance(text, str) and self._has(self._sealer.message(source, id).hash):
                    yield text
