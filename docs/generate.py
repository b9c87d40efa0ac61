"""Writes the reference pages that say what the code says: `python docs/generate.py`, before every build of the site.

Procedures from the heads of their templates, the policy from its types and `default.toml`, properties from their catalogue, the
command line from Typer, metrics from their tables. What can't be told fails the build: a template without a head, a field of the
policy without a description.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import jinja2
import typer
from pydantic import BaseModel
from typer.cli import get_docs_for_click

from jochi.cli.app import app
from jochi.compile.templates import procedure_names
from jochi.database.statements import procedures_folder
from jochi.graph.catalogue import MEMORY
from jochi.operate.metrics import METRICS
from jochi.policy import Policy, load_policy
from jochi.policy.load import DEFAULT
from jochi.toml import tomllib
from jochi_workers.metrics import METRICS as OF_WORKERS

PAGES = Path(__file__).parent / "reference/generated"


class Untold(Exception):
    """Something has no description, so there is no reference of it."""


# ---- Procedures ------------------------------------------------------------------------------------------------------

KINDS = {
    "call": "Anyone may call these: an app, a person, the command line.",
    "job": "The scheduler runs these. `select` chooses keys, `act` works on them, one batch a transaction.",
    "stage": "Others run these inside the database: what several need is stored and planned once. Nobody else calls them.",
    "engine": "The scheduler's own steps and the triggers. Nobody else calls them.",
}
_KIND = re.compile(r"Kind: (call|job|stage|engine)")
_PART = re.compile(
    r"(?:^|(?<=\. )|(?<=\.\) ))(?=(?:Parameters(?: of (?:select|act))?(?:, from apoc\.trigger)?:|No parameters\.|Returns\b|"
    r"Writes(?::| nothing| on )))",
    re.MULTILINE,
)
_CITED = re.compile(r"seed \d{3}(?:, (?:Option [A-C](?:, \d+)?|Phase \d|[A-Z][^,;:.()]*))*")
_CITES = re.compile(r"DESIGN §|seed \d|docs/reference/|issue \d|issue: |peers A\d")
_BRACKETS = re.compile(r" ?\(([^()]*)\)")
_PAGE = re.compile(r"docs/reference/([a-z-]+)\.md")


@dataclass
class Head:
    """What the first comment lines of a template say."""

    name: str
    kind: str
    does: str
    parts: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)


def head_of(name: str, template: str) -> Head:
    """The head of one template; `Untold` where it doesn't say what the procedure is, does, takes and returns."""
    lines: list[str] = []
    for line in template.replace("{{ server.language_prefix }}", "").splitlines():
        if line.startswith("// ===="):
            break
        if line.startswith("//"):
            lines.append(line.removeprefix("//").strip())
        elif lines and line:
            break
    kind = _KIND.match(lines[0]) if lines else None
    if kind is None:
        raise Untold(f"{name}: its first line says no kind, as in `// Kind: call`")
    text = "\n".join(lines[1:])
    does, *parts = _PART.split(text)
    for wanted, there in {
        "what it does": does.strip(),
        "its parameters (`Parameters:`)": re.search("^(Parameters|No parameters)", "\n".join(parts), re.MULTILINE),
        "what it returns (`Returns`)": re.search("^Returns", "\n".join(parts), re.MULTILINE),
    }.items():
        if not there:
            raise Untold(f"{name}: its head doesn't say {wanted}")
    return Head(
        name,
        kind[1],
        _prose(does),
        [_prose(part) for part in parts],
        list(dict.fromkeys(source.strip() for source in _CITED.findall(" ".join(lines)))),
        list(dict.fromkeys(_PAGE.findall(text))),
    )


def _prose(text: str) -> str:
    """One paragraph without the brackets that only say where it comes from: these stand below it."""
    return _BRACKETS.sub(_not_cited, " ".join(text.split()))


def _not_cited(brackets: re.Match[str]) -> str:
    if not _CITES.search(brackets[1]):
        return brackets[0]
    left = "; ".join(said.strip() for said in brackets[1].split(";") if not _CITES.search(said))
    return f" ({left})" if left else ""


def _linked(text: str) -> str:
    return _PAGE.sub(lambda page: f"[{page[1].replace('-', ' ')}](../{page[1]}.md)", text)


def _escaped(text: str) -> str:
    """As Markdown shows it to the letter, with `$in.…` as code and pages as links."""
    safe = re.sub(r"([\\`*_\[\]#])", r"\\\1", html.escape(text, quote=False))
    code = re.sub(r"\$in\.\w+(?:\\_\w+)*", lambda name: f"`{name[0].replace(chr(92), '')}`", safe)
    return _linked(code)


def _listed(part: str) -> Iterator[str]:
    """A part of the head; parameters one a line where they are told one after the other."""
    title, colon, rest = part.partition(":")
    if not part.startswith("Parameters") or not colon:
        yield f"**{part.split()[0]}** {_escaped(' '.join(part.split()[1:]))}" if part.split()[1:] else part
        return
    yield f"**{title}**:" + ("" if "$in." in rest else _escaped(rest))
    if "$in." in rest:
        yield ""
        yield from (f"- {_escaped(each)}" for each in _split(rest.strip().removesuffix(".")))


def _split(text: str) -> list[str]:
    """`$in.a …, $in.b …` at the commas and semicolons that stand in no bracket."""
    found, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and letter in ",;" and text[place + 1 :].lstrip().startswith("$in."):
            found.append(text[start:place].strip())
            start = place + 1
    return [*found, text[start:].strip()]


def procedures(folder: Path | None = None) -> str:
    """The page of all procedures, by kind and area."""
    root = folder or procedures_folder()
    shipped = load_policy().policy
    heads = []
    for name in procedure_names(root):
        source = (root / f"{name}.cypher.j2").read_text(encoding="utf-8")
        head = head_of(name, source)
        head.does = _filled(head.does, shipped)
        head.parts = [_filled(part, shipped) for part in head.parts]
        heads.append(head)
    lines = [
        "# All procedures",
        "",
        "Made from the heads of the templates in `procedures/`. All values are keys of one map, the parameter `in`:"
        " [how to call a procedure](../procedures.md) from any language.",
    ]
    for kind, meaning in KINDS.items():
        lines += ["", f"## Kind: {kind}", "", meaning]
        for head in heads:
            if head.kind == kind:
                lines += ["", f"### {head.name}", "", _escaped(head.does)]
                for part in head.parts:
                    lines += ["", *_listed(part)]
                if head.sources:
                    lines += ["", "Source: " + "; ".join(head.sources) + "."]
                if head.pages:
                    lines += ["", "More: " + ", ".join(f"[{p.replace('-', ' ')}](../{p}.md)" for p in head.pages) + "."]
    return "\n".join(lines) + "\n"


def _filled(text: str, policy: Policy) -> str:
    """With the shipped policy's numbers, where the head has one of them."""
    return str(jinja2.Template(text, undefined=jinja2.StrictUndefined).render(policy=policy))


# ---- Policy ----------------------------------------------------------------------------------------------------------


def policy(model: type[BaseModel] = Policy) -> str:
    """Every table and every field of a policy file, with what is shipped."""
    text = DEFAULT.read_text(encoding="utf-8")
    shipped, cited = tomllib.loads(text), _sources(text)
    schema = model.model_json_schema()
    told = schema["$defs"]
    lines = [
        "# Every field of the policy",
        "",
        "Made from the types in `installer/jochi/policy/` and the shipped `default.toml`. A file of your own needs only"
        " what differs: [write a policy](../../how-to/write-a-policy.md). `jochi policy show` prints the one in force.",
        "",
        "A **duration** is written `30s`, `5min`, `24h` or `7d`.",
    ]
    lines += ["", "| table | what it says |", "|---|---|"]
    for table, spec in schema["properties"].items():
        meaning = _words(spec.get("description") or _untold(table))
        lines.append(f"| [`{_heading(table, spec)}`](#{str(_part_of(spec, told)).lower()}) | {meaning} |")
    seen: set[str] = set()
    for table, spec in schema["properties"].items():
        lines += _table(_heading(table, spec), spec, told, shipped.get(table), cited, table, seen)
    return "\n".join(lines) + "\n"


def _heading(name: str, spec: dict[str, Any]) -> str:
    if "additionalProperties" in spec:
        return f"[{name}.NAME]"
    return f"[[{name}]]" if spec.get("type") == "array" else f"[{name}]"


def _part_of(spec: dict[str, Any], told: dict[str, Any]) -> str | None:
    """The name of the table type that a field holds one or several of."""
    for each in (spec, *spec.get("anyOf", ()), *spec.get("allOf", ())):
        for inner in (each, each.get("items", {}), each.get("additionalProperties", {})):
            if isinstance(inner, dict) and "$ref" in inner:
                return str(inner["$ref"].rpartition("/")[2])
            if isinstance(inner, dict) and (found := _part_of_union(inner)):
                return found
    return None


def _part_of_union(spec: dict[str, Any]) -> str | None:
    return next((str(each["$ref"].rpartition("/")[2]) for each in spec.get("anyOf", ()) if "$ref" in each), None)


def _table(
    title: str,
    spec: dict[str, Any],
    told: dict[str, Any],
    shipped: Any,
    cited: dict[str, str],
    path: str,
    seen: set[str],
) -> list[str]:
    """The section of one table type, then those of the types that only it holds."""
    part = _part_of(spec, told)
    if part is None:
        raise Untold(f"policy {path}: a table with no type")
    if part in seen:
        return ["", f"## `{title}`", "", f"The fields of [{part}](#{part.lower()})."]
    seen.add(part)
    body = told[part]
    about = re.sub(r"^`\[+[^`]*\]+`[:.] ?", "", _words(body.get("description") or _untold(path)))
    lines = ["", f"## `{title}` {{#{part.lower()}}}", "", about[:1].upper() + about[1:]]
    lines += ["", f"Source: {cited[path]}."] if cited.get(path) else []
    rows: list[tuple[str, ...]] = []
    inner: list[str] = []
    one = shipped if isinstance(shipped, dict) and "additionalProperties" not in spec else {}
    for name, told_of in body["properties"].items():
        name = name.rstrip("_")
        where = f"{path}.{name}"
        meaning = told_of.get("description") or _untold(where)
        kind = _part_of(told_of, told)
        value = _shown(one[name]) if name in one else _default(told_of, name in body.get("required", ()))
        source = f" Source: {cited[where]}." if cited.get(where) else ""
        rows.append((f"`{name}`", _type(told_of, told), value, _words(meaning) + source))
        if kind and kind not in seen and kind in told:
            inner += _table(f"{title.strip('[]')}: {name}", told_of, told, one.get(name), cited, where, seen)
    lines += ["", "| field | type | shipped | meaning |", "|---|---|---|---|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return lines + inner


def _untold(where: str) -> NoReturn:
    raise Untold(f"policy {where}: it has no description (a docstring below the field)")


def _words(text: str) -> str:
    """A docstring as one paragraph of Markdown: double backticks are Python's."""
    return _linked(_prose(text.replace("``", "`")))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str | int | float):
        return f"`{value}`"
    if isinstance(value, list):
        if any(isinstance(each, dict) for each in value):
            return f"{len(value)} rows"
        return ", ".join(f"`{each}`" for each in value) or "none"
    if isinstance(value, dict) and not any(isinstance(each, dict) for each in value.values()):
        return ", ".join(f"`{name}` {each}" for name, each in value.items())
    return "see below"


def _default(spec: dict[str, Any], required: bool) -> str:
    if required:
        return "must be given"
    default = spec.get("default")
    return "" if default is None or default in ([], {}) else _shown(default)


def _type(spec: dict[str, Any], told: dict[str, Any]) -> str:
    """In words: `number, 0 to 1`."""
    if "anyOf" in spec:
        return " or ".join(_type(each, told) for each in spec["anyOf"] if each.get("type") != "null")
    if "$ref" in spec:
        part = spec["$ref"].rpartition("/")[2]
        return f"[{part}](#{part.lower()})"
    if "enum" in spec or "const" in spec:
        return " or ".join(
            f"`{str(one).lower() if isinstance(one, bool) else one}`" for one in spec.get("enum", [spec.get("const")])
        )
    kind = spec.get("type")
    if kind == "array":
        return f"list of {_type(spec.get('items', {}), told)}"
    if kind == "object":
        return f"table of {_type(spec.get('additionalProperties', {}), told)}"
    if spec.get("format") == "duration":
        return "duration"
    if kind in ("integer", "number"):
        return ("whole number" if kind == "integer" else "number") + _range(spec)
    return {"string": "text", "boolean": "true or false"}.get(str(kind), "value")


def _range(spec: dict[str, Any]) -> str:
    """`, 0 to 1`, `, above 0 to 1`, `, 1 or more`."""
    low = [f"{spec['minimum']:g}"] if "minimum" in spec else []
    low += [f"above {spec['exclusiveMinimum']:g}"] if "exclusiveMinimum" in spec else []
    high = (
        [f"to {spec['maximum']:,g}" if spec["maximum"] < 1000 else f"to {spec['maximum']:,.0f}"]
        if "maximum" in spec
        else []
    )
    high += [f"and below {spec['exclusiveMaximum']:g}"] if "exclusiveMaximum" in spec else []
    said = [*low, *(high or ["or more"])] if low else high
    return ", " + " ".join(said) if said else ""


def _sources(text: str) -> dict[str, str]:
    """By path of a field or table, which seed its comment or heading in `default.toml` cites."""
    found: dict[str, str] = {}
    heading, table = "", ""
    for line in text.splitlines():
        if line.startswith("# ----"):
            heading = next(iter(_CITED.findall(line)), "")
        elif match := re.match(r"\[([a-z_]+)\]$", line.strip()):
            table = match[1]
            found[table], heading = heading, ""
        elif line.startswith("[") and line.strip().endswith("]"):
            table = ""
        elif table and (match := re.match(r"([a-zA-Z_]+) = [^#]*(#.*)?$", line)):
            found[f"{table}.{match[1]}"] = next(iter(_CITED.findall(match[2] or "")), "")
    return found


# ---- Properties ------------------------------------------------------------------------------------------------------

TYPES = {
    "text": "text",
    "texts": "list of texts",
    "flag": "true or false",
    "share": "number, 0 to 1",
    "number": "number",
    "count": "whole number, 0 or more",
    "counts": "list of whole numbers",
    "moment": "zoned datetime",
    "date": "date",
    "vector": "list of numbers",
    "any": "any",
}
MARKS = {
    "newborn": "A new memory has it from the start.",
    "read": "Rules or rails read it.",
    "mapped": "A kind may keep it under a name of its own.",
    "combined": "A merge combines it.",
    "content": "It goes when the content changes.",
}


def properties() -> str:
    """Every property of a memory that others than its app know of, by who writes it."""
    lines = [
        "# All properties",
        "",
        "Made from `installer/jochi/graph/catalogue.py`. What each is for: [labels and properties](../graph.md). Every"
        " other property of a memory belongs to your app.",
    ]
    for title, ours in {"Written by your app": False, "Written by the engine": True}.items():
        head = ["property", "type", *(["who writes it", "what to do instead"] if ours else []), "also"]
        lines += ["", f"## {title}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        for each in sorted(MEMORY, key=lambda each: each.name):
            if (each.owner is not None) is ours:
                also = [said for mark, said in MARKS.items() if each.has(mark)]
                also += ["A new memory may bring it along."] if each.owner and each.owner.given else []
                whose = [each.owner.writer, _linked(each.owner.instead)] if each.owner else []
                lines.append(f"| {' | '.join([f'`{each.name}`', TYPES[each.type], *whose, ' '.join(also)])} |")
    return "\n".join(lines) + "\n"


# ---- Metrics ---------------------------------------------------------------------------------------------------------


def metrics() -> str:
    """Every metric with its type, labels and where it comes from."""
    lines = [
        "# All metrics",
        "",
        "Made from `installer/jochi/operate/metrics.py` and `workers/jochi_workers/metrics.py`. How to get them:"
        " [metrics](../metrics.md).",
    ]
    for title, table in {"Of the database": METRICS, "Of a worker": OF_WORKERS}.items():
        lines += ["", f"## {title}", "", "| metric | type | labels | says | from |", "|---|---|---|---|---|"]
        for each in table:
            labels = ", ".join(f"`{label}`" for label in each.labels)
            lines.append(f"| `{each.name}` | {each.type} | {labels} | {each.help} | {each.source} |")
    return "\n".join(lines) + "\n"


# ---- Command line ----------------------------------------------------------------------------------------------------


def command_line() -> str:
    """Every command with its arguments and options."""
    group = typer.main.get_command(app)
    _say_whole(group)
    text = get_docs_for_click(
        obj=group, ctx=typer.Context(group, info_name="jochi"), name="jochi", title="All commands"
    )
    return re.sub(r"^\* `--(help|install-completion|show-completion)`.*\n", "", text, flags=re.MULTILINE)


def _say_whole(command: Any) -> None:
    """Lists of commands have the whole first paragraph: Click cuts it after 45 letters."""
    command.short_help = " ".join((command.help or "").split("\n\n")[0].split())
    for each in getattr(command, "commands", {}).values():
        _say_whole(each)


PAGES_BY_NAME: dict[str, Callable[[], str]] = {
    "procedures.md": procedures,
    "policy.md": policy,
    "properties.md": properties,
    "commands.md": command_line,
    "metrics.md": metrics,
}


def main() -> int:
    """Writes all pages; 1 and a line on standard error where something is untold."""
    PAGES.mkdir(parents=True, exist_ok=True)
    for old in PAGES.glob("*.md"):
        old.unlink()  # of another version: a page that nobody makes any more is in no menu
    try:
        for name, page in PAGES_BY_NAME.items():
            (PAGES / name).write_text(page(), encoding="utf-8")
    except Untold as error:
        sys.stderr.write(f"docs/generate.py: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
