"""`jochi mcp` as an agent sees it: the SDK's own client over a real process and a real server (docs/reference/mcp.md)."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from tests.conftest import TEST_POLICY, TestServer
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import ConnectionFailed

pytestmark = pytest.mark.server

JOCHI = str(Path(sys.executable).with_name("jochi"))


def test_an_agent_remembers_recalls_explains_and_forgets(jochi: Jochi, server: TestServer, tmp_path: Path) -> None:
    jochi.remember({"kind": "MemoryEntry", "scope": "bob", "id": "b", "content": "Bob hides the spare key."})
    environment = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD": server.password}
    environment["JOCHI_FORGET_KEY_FILE"] = str(tmp_path / "forget.key")
    started = StdioServerParameters(
        command=JOCHI, args=["mcp", "--scope", "ann", "--agent", "planner"], env=environment
    )
    read = "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()"

    async def talk() -> None:
        async with Client(started) as client:

            async def call(tool: str, **arguments: Any) -> Any:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return result.structured_content

            async def refused(tool: str, **arguments: Any) -> str:
                result = await client.call_tool(tool, arguments)
                assert result.is_error, result.structured_content
                return str(result.content[0].text)

            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools.keys() == {
                *("remember", "observe", "recall", "explore", "drill_down", "touch", "explain", "supersede", "forget")
            }
            hints = {name: tool.annotations for name, tool in tools.items()}
            assert all(tool.output_schema for tool in tools.values())
            assert {name for name, each in hints.items() if each and each.read_only_hint} == {
                *("recall", "explore", "drill_down", "explain"),
            }
            assert {name for name, each in hints.items() if each and each.destructive_hint} == {
                *("supersede", "forget"),
            }

            # Written into the scope of the server, with types; what is refused says why and takes nothing with it.
            links = [{"type": "PART_OF", "to": "home"}]
            memories = [
                {"content": "Ann hides the spare key under a pot.", "id": "key", "relationships": links},
                {"content": "The pot stands at 5 Elm St.", "id": "home"},
                {"content": "x", "kind": "Nothing"},
                {"content": "Ann plays chess.", "properties": {"expires_at": "2027-01-01T00:00:00Z"}, "id": "chess"},
            ]
            written = await call("remember", memories=memories)
            assert [each["outcome"] for each in written["results"]] == ["written", "written", "refused", "written"]
            assert written["refusals"][0]["reason"] == "unknown_kind"
            assert written["results"][0]["relationships"][0]["outcome"] == "written"
            assert "memories[0].scope isn't known" in await refused(
                "remember", memories=[{"content": "x", "scope": "bob"}]
            )

            said = [
                await call("observe", text="I prefer tea", session="chat", speaker="Ann", id="t1") for _ in range(2)
            ]
            assert [(each["signal"], each["outcome"]) for each in said] == [("high", "learning"), ("high", "known")]
            jochi.run("flush_buffers", drain=True)
            batch = jochi.database.run(
                "MATCH (b:TurnBatch {scope: 'ann'}) WITH b, b.session AS of DETACH DELETE b RETURN of"
            )
            assert [each["of"] for each in batch] == ["chat"]

            jochi.database.autocommit(read)
            found = await call("recall", text="spare key", k=3, xray=True)
            assert [hit["key"] for hit in found["hits"]] == ["ann/key"]
            assert sum(part["amount"] for part in found["hits"][0]["xray"]["parts"]) == pytest.approx(
                found["hits"][0]["score"]
            )
            assert "k: 1 to" in await refused("recall", text="key", k=0)
            assert "change that argument" in await refused("recall", text="key", k=0)
            explored = await call("explore", text="spare key", granularity=1)
            assert (explored["granularity"], explored["places"]) == (1, [])
            assert [each["key"] for each in (await call("drill_down", keys=["key"]))["result"]] == ["ann/key"]
            assert (await call("touch", keys=["key", "ann/home"]))["touched"] == 2
            agents = jochi.database.run("MATCH (a:JochiAccess) RETURN collect(DISTINCT a.agent) AS agents")
            assert agents[0]["agents"] == ["planner"]
            explained = await call("explain", key="key")
            assert (explained["kind"], explained["outcome"]) == ("MemoryEntry", "keep")
            assert {rail["rail"] for rail in explained["rails"]} >= {"pinned", "locked"}
            for tool, arguments in (
                ("explain", {"key": "bob/b"}),
                ("touch", {"keys": ["bob/b"]}),
                ("forget", {"keys": ["bob/b"]}),
            ):
                assert "scope 'ann' only" in await refused(tool, **arguments), tool

            # Nothing goes without a confirmation, which is good once, for what was shown.
            shown = await call("forget", about="where the spare key is")
            assert [each["key"] for each in shown["candidates"]] == ["ann/key", "ann/home"]
            assert [each["outcome"] for each in shown["candidates"][0]["targets"]] == ["forget"]
            assert shown["done"] == []
            first, second = shown["candidates"]
            assert first["score"] > second["score"]
            assert first["margin"] == pytest.approx(first["score"] - second["score"])
            assert [each["sure"] for each in shown["candidates"]] == [True, False]

            # A statement gives way alone where it is meant without doubt; else the agent has to ask.
            asked = await call("supersede", old="Ann's game", new="Ann plays go.")
            assert (asked["replaced"], asked["candidates"][0]["key"]) == ({}, "ann/chess")
            done = await call("supersede", old="Ann's game", new="Ann plays go.", key="chess")
            assert (done["replaced"], done["candidates"], done["stays"]) == ({"ann/chess": "Ann plays go."}, [], {})
            assert done["run"].startswith("replace/")
            assert "scope 'ann' only" in await refused("supersede", old="x", new="y", key="bob/b")
            both = {
                "kind": "MemoryEntry",
                "scope": "ann",
                "id": "both",
                "content": "Ann sails on Mondays, Ann owes Bo 40 euros.",
            }
            jochi.remember(both)
            asked = await call("forget", about="Ann's debts")
            assert ["Ann sails on Mondays", "Ann owes Bo 40 euros"] in [each["parts"] for each in asked["candidates"]]
            part = await call("forget", keys=["both"], statement="Ann owes Bo 40 euros")
            assert [each["outcome"] for each in part["candidates"][0]["targets"]] == ["cut"]
            assert "give its key" in await refused("forget", about="x", statement="y")
            moved = await call(
                "supersede", old="x", new="Ann owes nobody.", key="both", statement="Ann owes Bo 40 euros"
            )
            assert moved["replaced"] == {"ann/both": "Ann sails on Mondays. Ann owes nobody."}
            jochi.database.run("MATCH (m:Curated {key: 'ann/both'}) DETACH DELETE m")
            elm = await call("forget", says="5 Elm St")
            assert [each["key"] for each in elm["candidates"][0]["targets"]] == ["ann/home"]
            assert live() == {"ann/key", "ann/home", "ann/chess", "bob/b"}
            for wrong in ({}, {"about": "x", "says": "y"}):
                assert "give one of" in await refused("forget", **wrong)
            assert "nothing was forgotten" in await refused("forget", confirm=["guessed"])
            confirmations = [each["candidates"][0]["confirmation"] for each in (shown, elm)]
            jochi.remember({"kind": "MemoryEntry", "scope": "ann", "id": "new", "content": "Post goes to 5 Elm St."})
            assert "something else would go" in await refused("forget", confirm=confirmations)
            assert live() == {"ann/key", "ann/home", "ann/chess", "ann/new", "bob/b"}

            again = [await call("forget", keys=["key"]), await call("forget", says="5 Elm St")]
            confirmations = [each["candidates"][0]["confirmation"] for each in again]
            done = (await call("forget", confirm=confirmations))["done"]
            assert [each["receipt"] for each in done] == [1, 2]
            assert done[0]["key_made"] == environment["JOCHI_FORGET_KEY_FILE"]
            assert done[1]["counts"]["memories"] == 2
            assert live() == {"ann/chess", "bob/b"}
            assert "nothing was forgotten" in await refused("forget", confirm=confirmations)
            told = await call("remember", memories=[{"content": "Parcels to 5 Elm St."}])
            assert told["refusals"][0]["reason"] == "forgotten"

    def live() -> set[str]:
        return {row["key"] for row in jochi.database.run("MATCH (m:Curated) RETURN m.key AS key", write=False)}

    asyncio.run(talk())


class Raw:
    """`jochi mcp` as a program that is spoken to line by line."""

    def __init__(self, server: TestServer, folder: Path) -> None:
        # Only the client needs the zone; an install with it would cost half a minute.
        policy = folder / "policy.toml"
        berlin = '[policy]\ntime_zone = "Europe/Berlin"\n'
        policy.write_text(TEST_POLICY.read_text().replace("[policy]\n", berlin, 1))
        environment = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD": server.password}
        environment["JOCHI_FORGET_KEY_FILE"] = str(folder / "forget.key")
        self.process = subprocess.Popen(
            [JOCHI, "--policy", str(policy), "mcp", "--scope", "ann"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | environment,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout, self.numbers = self.process.stdin, self.process.stdout, itertools.count(1)
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        self.started = self.ask("initialize", **client)["result"]
        self.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *error: object) -> None:
        self.stdin.close()
        self.process.kill() if error[0] else self.process.wait(timeout=60)
        self.stdout.close()
        assert self.process.stderr
        self.process.stderr.close()

    def write(self, line: str) -> None:
        self.stdin.write(line.encode() + b"\n")
        self.stdin.flush()

    def send(self, method: str, **params: Any) -> int:
        id = next(self.numbers)
        self.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        return id

    def answer(self) -> dict[str, Any]:
        """The next line, but for answers to what is no request: nothing but the protocol is on standard output."""
        found: dict[str, Any] = {}
        while found.get("id") is None:
            found = json.loads(self.stdout.readline())
            assert found["jsonrpc"] == "2.0", found
        return found

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        id, found = self.send(method, **params), self.answer()
        assert found["id"] == id, found
        return found

    def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool returns; of an error its words."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        text = result["content"][0]["text"] if result["content"] else ""
        return text if result.get("isError") else result["structuredContent"]


def test_arguments_are_taken_as_clients_send_them(jochi: Jochi, server: TestServer, tmp_path: Path) -> None:
    """Texts that look like JSON, lists as text, numbers as ids, dates: as they are meant."""
    with Raw(server, tmp_path) as raw:
        call = raw.call
        for line in ("{broken", "", "[]", '"text"', "\x00"):
            raw.write(line)
        assert "Times without a zone are in Europe/Berlin." in raw.started["instructions"]
        tools = {tool["name"]: tool["inputSchema"] for tool in raw.ask("tools/list")["result"]["tools"]}
        for name, schema in tools.items():
            assert all(each.get("examples") for each in schema["properties"].values()), name

        # A text is the text that it is; what is a list or an object may come as one.
        setting, friends = '{"volume": "low"}', '["Mia", "Tom"]'
        memories = [
            {"content": f"The radio has the setting {setting}.", "id": 42, "properties": '{"importance": 0.5}'},
            json.dumps(
                {"content": "The radio is blue.", "id": "radio", "relationships": '{"type": "PART_OF", "to": 42}'}
            ),
            "The radio stands in the hall.",
        ]
        written = call("remember", memories=json.dumps(memories))
        assert [each["key"] for each in written["results"]][:2] == ["ann/42", "ann/radio"]
        assert [each["outcome"] for each in written["results"]] == ["written"] * 3
        assert written["results"][1]["relationships"][0]["outcome"] == "written"
        assert call("remember", memories="The attic is dry.")["results"][0]["outcome"] == "written"
        assert call("remember", memories=[{"content": setting}])["results"][0]["outcome"] == "written"
        assert call("observe", text="null", speaker=friends, id=7, session=12)["outcome"]
        speakers = jochi.database.run("MATCH (b:TurnBatch) RETURN b.session AS session, b.content AS content")
        assert not speakers or (speakers[0]["session"], friends in speakers[0]["content"]) == ("12", True)
        for keys in ("ann/42", "42", 42, ["ann/42"], '["ann/42"]', [42]):
            assert call("touch", keys=keys)["touched"] == 1, keys
        assert call("explain", key=42)["outcome"] == "keep"
        shown = call("forget", says=setting)["candidates"]
        assert {target["key"] for target in shown[0]["targets"]} >= {"ann/42"}
        assert call("forget", says="null")["candidates"][0]["targets"] == []
        for nothing in ({"keys": "null"}, {"keys": "[]"}, {"keys": None}, {"confirm": "null"}, {"says": " "}, {}):
            assert "give one of about, says, keys and confirm" in call("forget", **nothing), nothing
        assert call("forget", says=setting, keys="null", about="", confirm=None)["candidates"]
        [proposal] = call("forget", keys='["radio"]')["candidates"]
        assert call("forget", confirm=proposal["confirmation"])["done"][0]["counts"]["memories"] == 1

        # A date is the policy's day, and is said back.
        jochi.database.autocommit("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
        found = call("recall", text="radio", since="2026-11-01", until="2026-11-30", kinds="MemoryEntry", k="5")
        assert (found["since"], found["until"]) == ("2026-11-01T00:00:00+01:00", "2026-12-01T00:00:00+01:00")
        found = call("recall", text="radio", since="2020-06-01T08:00", until="null", kinds="null")
        assert (found["since"], found["until"]) == ("2020-06-01T08:00:00+02:00", None)
        assert "ann/42" in [hit["key"] for hit in found["hits"]]
        assert call("explore", text="radio", granularity="1", since="2026-11-01")["since"].endswith("+01:00")

        # What is wrong is said for who can set it right: the argument, and what to pass.
        for tool, arguments, words in (
            ("recall", {"text": "radio", "since": "last week"}, ("since is no time", "2026-11-01")),
            (
                "recall",
                {"text": "radio", "since": "2026-11-05", "until": "2026-11-01"},
                ("nothing lies between since",),
            ),
            ("recall", {"query": "radio"}, ("no argument 'query'", "text, k, kinds")),
            ("recall", {"k": "many", "text": "x"}, ("k must be a whole number", '{"k": 10}')),
            ("recall", {}, ("text is missing", '{"text": "where Ann lives"}')),
            ("explore", {"text": "x", "granularity": 9}, ("granularity must be 1, 2, 3 or 'auto'",)),
            (
                "remember",
                {"memories": [{"text": "x"}]},
                ("memories[0].content is missing", "memories[0].text isn't known"),
            ),
            (
                "remember",
                {"memories": [{"content": "x", "properties": "blue"}]},
                ("memories[0].properties must be an object",),
            ),
            ("touch", {"keys": {"a": 1}}, ("keys must be a list", '["ada/m1", "ada/m2"]')),
            ("observe", {"text": ["a"]}, ("text must be a text",)),
            ("recal", {"text": "x"}, ("no tool 'recal'", "recall, explore")),
        ):
            said = call(tool, **arguments)
            assert isinstance(said, str), tool
            assert all(each in said for each in words), said
            for foreign in (
                "pydantic",
                "validation error",
                "input_value",
                "tzinfo",
                "Traceback",
                "type=",
                "Error executing",
            ):
                assert foreign not in said, said


@pytest.mark.slow
def test_many_calls_at_once_and_long_answers_are_lines_of_the_protocol(
    jochi: Jochi, server: TestServer, tmp_path: Path
) -> None:
    with Raw(server, tmp_path) as raw:
        waiting = {
            raw.send("tools/call", name=tool, arguments=arguments)
            for n in range(25)
            for tool, arguments in (
                ("recall", {"text": f"radio {n}"}),
                ("remember", {"memories": [{"content": f"Shelf {n} is full.", "id": n}]}),
            )
        }
        while waiting:
            found = raw.answer()
            waiting.remove(found["id"])
            assert not found["result"].get("isError"), found
        long = [{"content": f"{n}" + " so long" * 90_000, "id": f"long{n}"} for n in range(3)]
        assert [each["outcome"] for each in raw.call("remember", memories=long)["results"]] == ["written"] * 3
        id = raw.send("tools/call", name="drill_down", arguments={"keys": [f"long{n}" for n in range(3)]})
        line = raw.stdout.readline()
        assert (json.loads(line)["id"], len(line) > 2_000_000) == (id, True)
        raw.stdin.close()
        assert raw.stdout.read() == b""
        assert raw.process.wait(timeout=60) == 0


def test_what_keeps_it_from_starting_is_said() -> None:
    """And not on standard output, where the protocol speaks."""
    environment = {"JOCHI_URI": "bolt://127.0.0.1:1", "JOCHI_USER": "neo4j", "JOCHI_PASSWORD": "none"}
    result = CliRunner().invoke(app, ["mcp"], env=environment)
    assert isinstance(result.exception, ConnectionFailed)
    assert result.stdout == ""
