"""The key of forgetting: 32 random bytes on this machine, never in a database. Who has it can tell what was forgotten."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import platformdirs

from jochi.errors import UsageError

VARIABLE = "JOCHI_FORGET_KEY_FILE"
"""Environment variable that names the key's file."""

_BYTES = 32


@dataclass(frozen=True)
class ForgetKey:
    """The key. ``id``: 16 hex digits of a hash of it, which a database keeps, so that another key is noticed."""

    secret: bytes = field(repr=False)

    @property
    def id(self) -> str:
        return hashlib.sha256(b"jochi forget key id\0" + self.secret).hexdigest()[:16]

    def seal(self, *parts: str) -> str:
        """32 hex digits of HMAC-SHA-256 over the parts; parts of other lengths or borders have another seal."""
        message = b"".join(
            len(part).to_bytes(8, "big") + part for part in [part.encode("utf-8", "surrogatepass") for part in parts]
        )
        made = self._begun.copy()
        made.update(message)
        return made.hexdigest()[:32]

    @cached_property
    def _begun(self) -> hmac.HMAC:
        """With the key in it: a text has many seals."""
        return hmac.new(self.secret, digestmod=hashlib.sha256)


def key_file() -> Path:
    """Where the key is: `JOCHI_FORGET_KEY_FILE`, or forget.key in the user's configuration folder of Jochi."""
    given = os.environ.get(VARIABLE)
    return Path(given).expanduser() if given else platformdirs.user_config_path("jochi") / "forget.key"


def read_key() -> ForgetKey | None:
    """This machine's key, or None where there is none. `UsageError` where the file is no key."""
    file = key_file()
    try:
        text = file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds no hex digits"
        raise UsageError(f"the key of forgetting can't be read: {reason}", where=str(file)) from None
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if len(secret) != _BYTES:
        raise UsageError(
            f"this is no key of forgetting: {2 * _BYTES} hex digits are one",
            where=str(file),
            fix=f"copy the file from the machine that made it, or name another with {VARIABLE}",
        )
    return ForgetKey(secret)


def make_key() -> ForgetKey:
    """A new key, written for this user alone; never over another one. Of several clients that make one at once all get the same."""
    file = key_file()
    made = ForgetKey(secrets.token_bytes(_BYTES))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Whole before it has its name: somebody else may look for it at any moment.
        draft = _draft(file.parent, made.secret.hex() + "\n")
        try:
            os.link(draft, file)
        finally:
            draft.unlink()
    except FileExistsError:
        found = read_key()
        assert found is not None
        return found
    except OSError as error:
        raise UsageError(
            f"the key of forgetting can't be written: {error.strerror}",
            where=str(file),
            fix=f"name a place with {VARIABLE}",
        ) from None
    return made


def _draft(folder: Path, text: str) -> Path:
    """A file that only this user can read."""
    handle, name = tempfile.mkstemp(prefix=".forget.", dir=folder)
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(text)
    return Path(name)
