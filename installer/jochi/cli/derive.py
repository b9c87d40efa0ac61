"""`jochi derive`: what is made out of memories outside the database, and how much of it is left."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, finish_with_json, out, printable, say, some, table
from jochi.client import Jochi
from jochi.compile.rendering import derivations
from jochi.errors import Refused, UsageError
from jochi.operate.work import status

if TYPE_CHECKING:
    from jochi.policy.model import Policy
    from jochi_workers.handler import Handler, Row
    from jochi_workers.models.prompt import Prompt

app = typer.Typer(help="See what workers make out of memories, look at one of it, and put back what they gave up on.")

Name = Annotated[str, typer.Argument(help="The derivation: one of those that `jochi derive ls` lists.")]


@app.command()
def ls(context: typer.Context, as_json: AsJson = False) -> None:
    """Show how much is left for workers, what it has cost today (UTC), and what they gave up on."""
    with jochi(context) as client:
        found = status(client.engine)
    finish_with_json(found, as_json)
    titles = ("derivation", "due", "leased or later", "unsure", "put aside", "done an hour", "waiting since")
    rows = [
        (
            name,
            left.waiting,
            left.later,
            left.unsure,
            left.put_aside,
            f"{left.an_hour:,.0f}",
            f"{left.oldest:%Y-%m-%d %H:%M}" if left.oldest else "",
        )
        for name, left in found.items()
    ]
    table("Work for `jochi worker`", titles, rows, right=(1, 2, 3, 4, 5))
    for name, left in found.items():
        if not left.spent:
            continue
        sent, received = left.spent["tokens_in"], left.spent["tokens_out"]
        used = f"; {sent:,} tokens sent, {received:,} received" if sent else ""
        cost = f", cost {left.money:,.4f}" if left.money is not None and sent else ""
        done = left.spent.get("done", 0)
        out.print(f"{name} today: {done:,} of {left.spent['items']:,} tried{used}{cost}", markup=False)
        if left.rejected:
            refused = ", ".join(f"{n:,} {reason}" for reason, n in sorted(left.rejected.items()))
            out.print(f"  rejected: {refused}", markup=False)
    if any(left.put_aside for left in found.values()):
        out.print("`jochi derive retry` puts back what was put aside after failures", markup=False)


@app.command()
def retry(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Only this derivation.", show_default="all")] = None,
) -> None:
    """Put back what workers gave up on: it starts afresh."""
    from jochi_workers import queue

    if name is not None:
        _derivation(name)
    with jochi(context) as client:
        out.print(f"put back: {some(queue.retry(client.engine, derivation=name), 'piece of work', 'pieces of work')}")


@app.command()
def want(
    context: typer.Context,
    name: Name,
    keys: Annotated[list[str], typer.Argument(help="Memories (scope/id) that it is to be done for.")],
) -> None:
    """Have something made again, or made that nothing has asked for. A worker does it."""
    from jochi_workers import queue

    if _derivation(name) == "judge":
        raise UsageError("judge works pairs, and wants them itself", fix="`jochi duplicates` shows them")
    if wrong := [key for key in keys if "/" not in key]:
        raise UsageError(f"{wrong[0]!r} is no key", fix="a key is scope/id, such as default/m1")
    with jochi(context) as client:
        out.print(f"wanted: {some(queue.want(client.engine, name, keys), 'piece of work', 'pieces of work')}")


@app.command()
def show(
    context: typer.Context,
    name: Name,
    key: Annotated[
        str | None, typer.Argument(help="The memory (scope/id) or pair.", show_default="the next in turn")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what a worker reads for one piece of work, what a model would be told, and what it must answer. Nobody is asked."""
    with jochi(context) as client:
        policy = client.policy.policy
        row = _row(client, _derivation(name), key)
        prompt, words, output = _told(name, policy, row)
    shown: dict[str, Any] = {"derivation": name, "inputs": row, "prompt": None, "output": output}
    if prompt:
        shown["prompt"] = {"file": prompt.where, "version": prompt.version, "text": prompt.filled(**words)}
    finish_with_json(shown, as_json)
    _lines(row)
    if prompt:
        say(f"\nprompt {prompt.version}, {prompt.where}")
        say(shown["prompt"]["text"])
        page = "compression" if name == "compress" else "derivations"
        out.print(f"\noutput: {json.dumps(output)}, then the checks of docs/reference/{page}.md", markup=False)
    else:
        out.print("\nno model is told anything: this is done by rules, or by the embedding model", markup=False)


@app.command("try")
def try_(
    context: typer.Context,
    name: Name,
    key: Annotated[str, typer.Argument(help="The memory (scope/id) or pair.")],
    provider: Annotated[str, typer.Option(help="Who makes the text: extractive, anthropic or openai.")] = "extractive",
    model: Annotated[str | None, typer.Option(help="Its model.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Address of its endpoint.")] = None,
    key_variable: Annotated[str | None, typer.Option(help="Environment variable that holds its key.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="File that holds its key.")] = None,
    as_json: AsJson = False,
) -> None:
    """Do one piece of work and print what would be stored. Nothing is stored, and the caps don't count what it costs."""
    asked = {"model": model, "base_url": base_url, "key_variable": key_variable, "key_file": key_file}
    from jochi_workers.queue import WITHOUT_TEXT

    if name in WITHOUT_TEXT and (provider != "extractive" or any(asked.values())):
        raise UsageError(f"{name} takes no provider here", fix="leave its options out")
    with jochi(context) as client:
        handler = _handler(client, _derivation(name), provider, asked)
        row = _row(client, handler.name, key, getattr(handler, "asks", None))
    charge = {way: row[way] for way in ("tokens_in", "tokens_out") if way in row}
    outcome = handler.handle([{**row, "charge": charge} if charge else row])
    if outcome.stopped_by is not None:
        raise outcome.stopped_by
    spent = outcome.spent.get(row["key"], {})
    values = dict(outcome.done[0].values) if outcome.done else None
    rejected = outcome.failed.get(row["key"])
    finish_with_json(
        {"derivation": name, "key": row["key"], "output": values, "rejected": rejected, "spent": spent}, as_json
    )
    _lines(values or {"rejected": rejected})
    if spent.get("used_in"):
        out.print(f"{spent['used_in']:,} tokens sent, {spent['used_out']:,} received", markup=False)
    out.print("nothing was stored", markup=False)


def _told(name: str, policy: Policy, row: Row) -> tuple[Prompt | None, Mapping[str, Any], dict[str, Any] | None]:
    """What a model is told for it, with which words, and the JSON schema of its answer; None where no model is told anything."""
    from jochi_workers.derive import derivation
    from jochi_workers.derive.compress.model_summariser import instructions, word_limit

    if name == "compress":
        most = max(1, int(row["token_count"] * policy.compression.share))
        return instructions(policy.work.prompts), {"words": word_limit(most)}, {"type": "string"}
    if name not in policy.derive:
        return None, {}, None
    found = derivation(name)
    schema = {"type": "string"} if issubclass(found.output, str) else found.output.model_json_schema()
    return found.prompt(policy.work.prompts), found.words(row), schema


def _lines(said: Mapping[str, Any]) -> None:
    """Each entry, in as many lines as it has. A memory's text can't command the terminal."""
    for title, value in said.items():
        lines = (printable(line) for line in f"{title}: {value}".splitlines())
        say("\n".join(lines))


def _derivation(name: str) -> str:
    known = derivations()
    if name not in known:
        raise UsageError(f"there is no derivation {name!r}", fix=f"there are: {', '.join(known)}")
    return name


def _row(client: Jochi, name: str, key: str | None, asks: dict[str, Any] | None = None) -> Row:
    """What is read for it. Raises `Refused` where there is nothing to read."""
    from jochi_workers.queue import WITHOUT_TEXT, Queue

    found = Queue(client.engine, name, asks=asks).peek(key)
    if found.rows:
        return found.rows[0]
    if found.held:
        raise Refused(f"{name} stands still: {found.held}", fix="`jochi status` says more")
    if key is None:
        raise Refused(f"no {name} waits for its turn", fix="name a memory: `jochi derive show NAME KEY`")
    raise Refused(
        f"there is nothing to {name} now"
        if name in (*WITHOUT_TEXT, "compress")
        else f"{name} has nothing to make of it now",
        where=key,
        fix="look whether it is there, whether the policy wants this of its kind, and whether a rail holds it: `jochi explain`",
    )


def _handler(client: Jochi, name: str, provider: str, asked: dict[str, Any]) -> Handler:
    from jochi.cli.worker import making
    from jochi_workers.judge import JudgeHandler
    from jochi_workers.prepare import PrepareHandler
    from jochi_workers.resolve import ResolveHandler
    from jochi_workers.worker import Stop

    simple: dict[str, Callable[[], Handler]] = {
        "prepare": PrepareHandler,
        "judge": JudgeHandler,
        "resolve": ResolveHandler,
    }
    if name in simple:
        return simple[name]()
    if name == "embed":
        raise UsageError("embed can't be tried alone", fix="`jochi worker --once --provider NAME` embeds what waits")
    made = {handler.name: handler for handler in making(client, Stop(), provider, asked, only=name)}
    if name not in made:
        raise UsageError(f"{name} is switched off in the policy", fix=f"switch it on (see derive.{name}), and install")
    return made[name]
