"""Renders `procedures/<area>/<name>.cypher.j2` into `Procedure`s.

A template begins with comment lines; one of them says what it is:
`// Kind: job` (two sections, select and act), `// Kind: call` (one body that anyone may call), `// Kind: engine`
(one body that the scheduler itself runs) or `// Kind: stage` (one body that others run, by `_macros/runs/stages.j2`). This head is
kept beside the texts: a server need not read it again in each. Sections begin with `// ==== select ====` or `// ==== act ====`.
"""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, cast

import jinja2

from jochi.compile.constants import CHARACTERS_A_TOKEN, decay_data, newborn_data
from jochi.compile.quoting import At, any_name, cypher_map, identifier, literal
from jochi.compile.templates import SUFFIX, procedure_names, shared_hash, template_hash
from jochi.compile.wrapping import wrapped
from jochi.database.installed import hash_of_sections, text_of_sections
from jochi.database.server_facts import ServerFacts
from jochi.database.statements import procedures_folder
from jochi.errors import JochiError, UsageError
from jochi.graph import catalogue
from jochi.policy import Policy
from jochi.policy.durations import format_duration
from jochi.policy.model import PROTECTED_KINDS
from jochi.policy.rules import TIERS, class_seconds
from jochi.text import slot_names

_KIND = re.compile(r"^// Kind: (job|call|engine|stage)\b", re.MULTILINE)
_HEAD = re.compile(r"^(?:\{\{ server.language_prefix \}\})?(// Kind: .*\n(?://(?! ====).*\n)*)", re.MULTILINE)
_CALLED = re.compile(r"s\.name = '([\w/]+)' \| s\.body")
_SECTION = re.compile(r"^// ==== (select|act) ====$\n?", re.MULTILINE)
_CONSTANTS = re.compile(r"^WITH (.*) AS given\nWITH given \{\n(.*?)^\} AS k$", re.MULTILINE | re.DOTALL)
_CONSTANT = re.compile(r"^ +(\w+): ")

KindOfProcedure = Literal["job", "call", "engine", "stage"]


@dataclass(frozen=True)
class Procedure:
    """One rendered procedure: ``sections`` is {'select': …, 'act': …} for a job, {'body': …} for the others."""

    name: str
    kind: KindOfProcedure
    sections: dict[str, str] = field(repr=False)
    template_sha256: str
    about: str = field(default="", repr=False)
    """The template's head: what it does, parameters, what it returns and writes."""

    @property
    def sha256(self) -> str:
        """The hash over the whole text: what is stored and compared."""
        return hash_of_sections(self.sections, self.about)

    @property
    def text(self) -> str:
        """All of it as one text, for `show` and `diff`."""
        return text_of_sections(self.sections, self.about)

    @property
    def calls(self) -> list[str]:
        """The stages that its texts run themselves."""
        return sorted({name for text in self.sections.values() for name in _CALLED.findall(text)})


def derivations(folder: Path | None = None) -> list[str]:
    """The names of the folders in `procedures/derive`: all there is to know of which derivations exist."""
    return sorted(path.name for path in ((folder or procedures_folder()) / "derive").iterdir() if path.is_dir())


def render_all(policy: Policy, server: ServerFacts, folder: Path | None = None) -> dict[str, Procedure]:
    """Every procedure, rendered for this policy and this server."""
    root = folder or procedures_folder()
    shared = shared_hash(root)
    return {name: _render(name, policy, server, root, shared) for name in procedure_names(root)}


def render_one(name: str, policy: Policy, server: ServerFacts, folder: Path | None = None) -> Procedure:
    """One procedure; `JochiError` with file and line if its template is broken."""
    root = folder or procedures_folder()
    return _render(name, policy, server, root, shared_hash(root))


def _render(name: str, policy: Policy, server: ServerFacts, root: Path, shared: bytes) -> Procedure:
    environment = _environment(root)
    file = f"{name}{SUFFIX}"
    try:
        template = environment.get_template(file)
        rendered = template.render(policy=policy, server=server)
        head = _HEAD.search((root / file).read_text(encoding="utf-8"))
        about = _head(environment, head[1]).render(policy=policy, server=server) if head else ""
    except jinja2.TemplateNotFound as error:
        raise UsageError(f"there is no procedure {name!r}", where=str(root / str(error.name))) from None
    except jinja2.TemplateSyntaxError as error:
        raise JochiError(f"the template is broken: {error.message}", where=f"{error.filename}:{error.lineno}") from None
    except (jinja2.UndefinedError, ValueError) as error:
        raise JochiError(
            f"the template can't be rendered: {error}", where=_place_in_template(error, root / file)
        ) from None
    kind = _KIND.search(about)
    if kind is None:
        raise JochiError("no line `// Kind: job|call|engine|stage` at the head of the template", where=str(root / file))
    rendered = _tidy(rendered.replace(about, f"// jochi {name}\n", 1))
    sections = _sections(rendered, kind[1])
    return Procedure(name, cast(KindOfProcedure, kind[1]), sections, template_hash(root / file, shared), _tidy(about))


def render_statement(name: str, policy: Policy) -> str:
    """A statement that only a client runs and whose text depends on the policy: `procedures/<name>.cypher.j2`.

    Its folder begins with `_`, so it is no procedure and is never stored.
    """
    return _tidy(_environment(procedures_folder()).get_template(f"{name}{SUFFIX}").render(policy=policy))


def render_for_label(name: str, label: str, **more: object) -> str:
    """`procedures/<name>.label.j2`, a statement that only a client runs, for one label and whatever ``more`` it names.

    A label can't be a parameter: `MATCH (n:$(label))` reads every node on 5.26 (DESIGN §2). ValueError for a name that the template
    doesn't take.
    """
    root = procedures_folder()
    return _tidy(_environment(root).get_template(f"{name}.label.j2").render(label=label, **more))


def _place_in_template(error: BaseException, file: Path) -> str:
    """`file:line` of the innermost template line in the traceback, which Jinja rewrites to point into templates."""
    places = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".j2")]
    return f"{places[-1].filename}:{places[-1].lineno}" if places else str(file)


def _sections(rendered: str, kind: str) -> dict[str, str]:
    head, *parts = _SECTION.split(rendered)
    if kind != "job":
        return {"body": rendered}
    if parts[0::2] != ["select", "act"]:
        raise JochiError("a job's template has exactly the two sections `select` and `act`, in this order")
    return {
        name: f"{head.rstrip()} {name}\n{body.strip()}\n" for name, body in zip(parts[0::2], parts[1::2], strict=True)
    }


def _tidy(text: str) -> str:
    """No blanks at line ends, no empty lines, no long lines, one line end at the end: macros leave such traces.

    A step of indentation is two blanks in a template and one in the database, where macros stand deep in each other.
    """
    lines = [line.rstrip() for line in _without_unread(text).splitlines()]
    steps = [(len(line) - len(line.lstrip())) // 2 * " " + line.lstrip() for line in lines if line]
    return wrapped("\n".join(steps) + "\n")


def _without_unread(text: str) -> str:
    """The constants of `_macros/values/constants.j2` without those that this body doesn't read: a server plans each."""
    read = {*re.findall(r"\bk\.(\w+)", text)}

    def those_read(found: re.Match[str]) -> str:
        lines = [line for line in found[2].splitlines() if not (name := _CONSTANT.match(line)) or name[1] in read]
        if lines == ["  .*,"]:
            return f"WITH {found[1]} AS k"
        return (
            f"WITH {found[1]} AS given\nWITH given {{\n"
            + ",\n".join(line.removesuffix(",") for line in lines)
            + "\n} AS k"
        )

    return _CONSTANTS.sub(those_read, text)


@cache
def _environment(root: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(root),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=True,
    )
    environment.filters.update(
        any_name=any_name,
        identifier=identifier,
        literal=literal,
        cypher_map=cypher_map,
        span=format_duration,
        class_seconds=class_seconds,
    )
    environment.globals.update(
        data_at=At,
        owned=catalogue,
        characters_a_token=CHARACTERS_A_TOKEN,
        decay_data=decay_data,
        newborn_data=newborn_data,
        slot_names=slot_names,
        derivations=derivations,
        # Most bodies begin with it, so it needs no import. Asked for late: a folder may have templates without macros.
        given=lambda *on, **how: vars(environment.get_template("_macros/values/constants.j2").make_module())["given"](
            *on, **how
        ),
        protected_kinds=PROTECTED_KINDS,
        tiers=TIERS,
    )
    return environment


@lru_cache(maxsize=1024)
def _head(environment: jinja2.Environment, text: str) -> jinja2.Template:
    return environment.from_string(text)
