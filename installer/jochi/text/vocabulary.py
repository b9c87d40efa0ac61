"""The vocabulary file of o200k_base: where it lies, whether it is whole, and how it gets there.

tiktoken fetches it by itself, without a time-out, the first time anybody counts. Jochi never does that: it reads the
file where it is and fetches it only when `jochi tokens prime` is asked to (reference D2, D3).
"""

from __future__ import annotations

import hashlib
import os
import uuid
from pathlib import Path

from jochi.errors import JochiError, UsageError
from jochi.extras import extra_named
from jochi.folders import cache_folder

ENCODING = "o200k_base"
URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
FILE_NAME = hashlib.sha1(URL.encode(), usedforsecurity=False).hexdigest()
"""tiktoken's own name for it in its cache, so that both can share one folder."""
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""As OpenAI publishes it in tiktoken's source (tiktoken_ext/openai_public.py)."""

_LONGEST = 32 * 1024 * 1024  # the file has 3.6 MB; whoever sends ten times that sends something else
_CHUNK = 1 << 16


def vocabulary_file() -> Path:
    """Where the file is looked for: in `TIKTOKEN_CACHE_DIR`, else in `tokens/` of Jochi's cache folder."""
    given = os.environ.get("TIKTOKEN_CACHE_DIR")
    folder = Path(given).expanduser() if given else cache_folder() / "tokens"
    return folder / FILE_NAME


def read_vocabulary(file: Path) -> bytes:
    """The file's bytes; `JochiError` if it can't be read or isn't the published one."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise JochiError(
            f"the vocabulary can't be read: {error.strerror}", where=str(file), fix="run `jochi tokens prime`"
        ) from None
    _expect_published(data, str(file), "run `jochi tokens prime` again")
    return data


def prime_from_file(source: Path) -> Path:
    """Copies ``source`` into the cache once its hash fits; returns where it lies now."""
    try:
        data = source.read_bytes()
    except OSError as error:
        raise UsageError(f"the file can't be read: {error.strerror}", where=str(source)) from None
    _expect_published(data, str(source), f"fetch it where the network allows: {URL}")
    return _store(data)


def prime_from_network(
    url: str = URL, *, connect_seconds: float = 10, read_seconds: float = 30, whole_seconds: float = 300
) -> Path:
    """Downloads the file into the cache; returns where it lies now.

    The file appears under its name only after its hash fits. `JochiError` says why it didn't work.
    """
    data = _download(url, (connect_seconds, read_seconds), whole_seconds)
    _expect_published(data, url, "a proxy's login page looks like that; " + _BY_HAND)
    return _store(data)


_BY_HAND = f"or fetch {URL} elsewhere and run `jochi tokens prime --from FILE`"


def _download(url: str, time_outs: tuple[float, float], whole_seconds: float) -> bytes:
    with extra_named():
        import requests  # comes with tiktoken
    from time import monotonic

    fix = f"check the network and HTTPS_PROXY, {_BY_HAND}"
    until = monotonic() + whole_seconds
    data = bytearray()
    try:
        with requests.get(url, stream=True, timeout=time_outs) as response:
            if response.status_code != 200:
                raise JochiError(f"the server answers {response.status_code} {response.reason}", where=url, fix=fix)
            for chunk in response.iter_content(_CHUNK):
                data += chunk
                if len(data) > _LONGEST:
                    raise JochiError("the server sends far more than the vocabulary", where=url, fix=_BY_HAND)
                if monotonic() > until:
                    raise JochiError(f"not finished after {whole_seconds:.0f} s", where=url, fix=fix)
    except requests.exceptions.Timeout:
        raise JochiError("the server doesn't answer in time", where=url, fix=fix) from None
    except requests.exceptions.RequestException as error:
        if data:
            raise JochiError("the download broke off before its end", where=url, fix="run it again") from None
        kind = type(error).__name__  # the library's own text may hold a proxy's password
        raise JochiError(f"the server can't be reached ({kind})", where=url, fix=fix) from None
    return bytes(data)


def _expect_published(data: bytes, where: str, fix: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise JochiError(f"this is not the published vocabulary: its SHA-256 is {found}", where=where, fix=fix)


def _store(data: bytes) -> Path:
    target = vocabulary_file()
    part = target.with_name(f"{target.name}.{uuid.uuid4()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(target)
    except OSError as error:
        raise JochiError(
            f"the vocabulary can't be stored: {error.strerror}",
            where=str(target),
            fix="name another folder in TIKTOKEN_CACHE_DIR or JOCHI_CACHE",
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return target
