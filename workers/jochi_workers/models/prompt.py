"""What a derivation tells a model, from a file: the package's own, or one of the same name in a folder of the policy's."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment

from jochi.errors import UsageError

FENCE = "{fence}"
"""What `Model.ask` puts the fence in place of: nobody can know it before the request."""
_MOST_BYTES = 20_000


@dataclass(frozen=True)
class Prompt:
    """Instructions for a model. ``where``: the file, for messages."""

    text: str
    where: str

    @property
    def version(self) -> str:
        """Changes with each letter: the first 12 hexadecimal digits of its SHA-256. Records of what was made with it hold it."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    def filled(self, **values: object) -> str:
        """The instructions with ``values``; `{{ fence }}` stays for `Model.ask`. Raises `UsageError` where they can't be filled."""
        try:
            made = SandboxedEnvironment(undefined=StrictUndefined).from_string(self.text).render(fence=FENCE, **values)
        except TemplateSyntaxError as error:
            raise UsageError(
                f"the prompt can't be read: {error.message}", where=f"{self.where}, line {error.lineno}", fix="mend it"
            ) from None
        except (TemplateError, TypeError, ArithmeticError) as error:
            names = ", ".join(["fence", *values])
            raise UsageError(
                f"the prompt can't be filled: {error}", where=self.where, fix=f"it may use {names}"
            ) from None
        if FENCE not in made:
            raise UsageError(
                "the prompt doesn't tell the model where memories begin and end, so they could give it orders",
                where=self.where,
                fix="write {{ fence }} where it says which line stands before and after them",
            )
        return made.strip()


def prompt(name: str, packaged: Path, folder: str | None, /, **values: object) -> Prompt:
    """The prompt of the derivation ``name``: `<folder>/<name>.md.j2` where there is one, else the file ``packaged``.

    ``values``: an example of what it is filled with, so that one that can't be filled is found before anybody is asked.
    Raises `UsageError` where the folder or its file can't be read.
    """
    path = packaged
    try:
        if folder is not None:
            own = Path(folder).expanduser()
            if not own.is_dir():
                raise UsageError(
                    f"there is no folder {folder} for prompts", where="work.prompts", fix="make it, or mend the policy"
                )
            path = own / f"{name}.md.j2" if (own / f"{name}.md.j2").exists() else packaged
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"a prompt has at most {_MOST_BYTES:,} bytes", where=str(path), fix="shorten it")
        found = Prompt(path.read_text(encoding="utf-8"), str(path))
    except (OSError, ValueError) as error:
        raise UsageError(
            "the prompt can't be read as UTF-8 text", where=str(path), fix=getattr(error, "strerror", None) or "mend it"
        ) from None
    found.filled(**values)
    return found
