"""`jochi mcp` as an agent sees it: the SDK's own client over a real process and a real server (docs/reference/mcp.md)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from tests.conftest import TestServer
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
            assert "Extra inputs are not permitted" in await refused(
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


def test_what_keeps_it_from_starting_is_said() -> None:
    """And not on standard output, where the protocol speaks."""
    environment = {"JOCHI_URI": "bolt://127.0.0.1:1", "JOCHI_USER": "neo4j", "JOCHI_PASSWORD": "none"}
    result = CliRunner().invoke(app, ["mcp"], env=environment)
    assert isinstance(result.exception, ConnectionFailed)
    assert result.stdout == ""
