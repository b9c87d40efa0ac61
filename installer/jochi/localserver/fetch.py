"""Fetches one file of a Maven repository, whole or not at all.

A file appears under its name only after its length and checksum fit, so that an interrupted download never looks like
a finished one. The repository is Maven Central, or the mirror named in `JOCHI_MAVEN_REPOSITORY`; proxies are taken from
the usual environment variables.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from xml.etree import ElementTree

import requests
from jgo.constants import MAVEN_CENTRAL_URL
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from jochi.localserver.errors import BrokenDownload, RegistryUnreachable, disk_full_reported

_CONNECT_SECONDS, _READ_SECONDS = 10, 60
_RETRIES = Retry(
    total=4, connect=2, backoff_factor=0.3, status_forcelist=(429, 500, 502, 503, 504), raise_on_status=False
)
_CHUNK = 1 << 16


class NotInRepository(RuntimeError):
    """404. A RuntimeError because the resolver takes one as "this optional branch does not exist" and goes on."""


class Repository:
    """One Maven repository and the folder that mirrors what was fetched from it."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.folder = folder
        self._url = (url or os.environ.get("JOCHI_MAVEN_REPOSITORY") or MAVEN_CENTRAL_URL).rstrip("/")
        self._session = requests.Session()
        adapter = HTTPAdapter(max_retries=_RETRIES, pool_maxsize=8)
        self._session.mount("https://", adapter)
        self._session.mount("http://", adapter)

    def close(self) -> None:
        """Closes the connections."""
        self._session.close()

    @property
    def shown(self) -> str:
        """The address without a user name and password that it may carry."""
        parts = urlsplit(self._url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def fetch(self, path: str) -> Path:
        """The local file of ``path`` (`group/artifact/version/file`), fetched when it isn't there.

        A jar is compared with the repository's SHA-1, a POM has to parse. `NotInRepository` for a 404,
        `RegistryUnreachable`, `BrokenDownload`, `DiskFull` otherwise.
        """
        target = self.folder / path
        if target.is_file():
            return target
        with disk_full_reported(self.folder):
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(target.name + ".part")
            try:
                digest = self._stream(path, part)
                self._check(path, part, digest)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
        return target

    def _stream(self, path: str, part: Path) -> str:
        """Writes ``path`` into ``part`` and returns its SHA-1."""
        digest = hashlib.sha1(usedforsecurity=False)
        try:
            with self._get(path, stream=True) as response:
                self._expect_ok(path, response)
                with part.open("wb") as file:
                    for chunk in response.iter_content(_CHUNK):
                        file.write(chunk)
                        digest.update(chunk)
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError) as error:
            raise BrokenDownload(
                "the download broke off before its end",
                where=f"{self.shown}/{path}",
                fix="run the same command again: it goes on with what is missing",
            ) from error
        return digest.hexdigest()

    def _check(self, path: str, part: Path, digest: str) -> None:
        if path.endswith(".pom"):
            try:
                ElementTree.parse(part)
            except ElementTree.ParseError as error:
                raise self._broken(path, f"is no XML ({error}); a proxy's login page looks like that") from error
            return
        response = self._get(path + ".sha1")
        if response.status_code == 404:
            # Some mirrors publish no checksums; the length was checked while streaming.
            return
        self._expect_ok(path + ".sha1", response)
        published = response.text.split()[0].lower() if response.text.strip() else ""
        if published != digest:
            raise self._broken(path, f"has SHA-1 {digest}, the repository publishes {published or 'nothing'}")

    def _broken(self, path: str, what: str) -> BrokenDownload:
        return BrokenDownload(
            f"the downloaded file {what}",
            where=f"{self.shown}/{path}",
            fix="run the same command again; if it stays, ask whoever runs the proxy or the mirror",
        )

    def _expect_ok(self, path: str, response: requests.Response) -> None:
        if response.status_code == 404:
            raise NotInRepository(f"{self.shown} has no {path}")
        if response.status_code != 200:
            raise RegistryUnreachable(
                f"the Maven repository answers {response.status_code} {response.reason}",
                where=f"{self.shown}/{path}",
                fix="check the proxy's login, or name a mirror in JOCHI_MAVEN_REPOSITORY; try again later",
            )

    def _get(self, path: str, *, stream: bool = False) -> requests.Response:
        try:
            return self._session.get(f"{self._url}/{path}", stream=stream, timeout=(_CONNECT_SECONDS, _READ_SECONDS))
        except (requests.exceptions.RequestException, OSError) as error:
            # The library's own text repeats the whole address, a mirror's password included: name only its kind.
            kind = type(error).__name__
            raise RegistryUnreachable(
                f"the Maven repository can't be reached ({kind})",
                where=self.shown,
                fix=(
                    "check the network and HTTPS_PROXY, or name a mirror in JOCHI_MAVEN_REPOSITORY; "
                    "a server that was downloaded once starts without the network"
                ),
            ) from None
