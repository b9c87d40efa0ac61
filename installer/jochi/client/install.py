"""Verbs that put the engine into a database and take it out again."""

from __future__ import annotations

from collections.abc import Callable

from jochi.client.base import Base
from jochi.install.install import InstallResult, install
from jochi.install.preview import InstallPreview, preview
from jochi.install.uninstall import UninstallResult, uninstall
from jochi.jobs.arming import armed_jobs, ensure_jobs
from jochi.policy import STORED
from jochi.schema.migrations import ChainName


class InstallVerbs(Base):
    def install(
        self,
        *,
        arm: bool = True,
        chain: ChainName | str | None = None,
        pin: bool | None = None,
        on_progress: Callable[[str], None] | None = None,
    ) -> InstallResult:
        """Installs or upgrades the engine. Idempotent; see `jochi.install`. ``arm=False``: jobs are run from outside only.

        ``chain='jochi'`` records the migrations beside those of an application that uses neo4j-migrations in this database.
        ``pin``: the result has apoc.conf's line with a hash of everything installed.
        """
        result = install(self.database, self.policy, arm=arm, chain=chain, pin=pin, on_progress=on_progress)
        self.engine.refresh()
        if self.policy.path == STORED:
            self._policy = None  # the database keeps it without what was dropped now
        return result

    def preview_install(self, *, chain: ChainName | str | None = None) -> InstallPreview:
        """What `install` would change. Writes nothing; raises what `install` would raise before its first write."""
        return preview(self.database, self.policy, chain=chain)

    def uninstall(self, *, on_progress: Callable[[str], None] | None = None) -> UninstallResult:
        """Brings tombstones back and leaves no object of Jochi's. Can be stopped and run again.

        Seals and receipts of forgetting go as well, and what was forgotten can be learned again: `export_receipts` keeps them.
        """
        result = uninstall(self.database, on_progress=on_progress)
        self.engine.refresh()
        return result

    def ensure_jobs(self) -> list[str]:
        """Arms the pump and the watch where they are missing; returns what was armed."""
        return ensure_jobs(self.engine)

    def armed(self) -> list[str]:
        """Which of the two repeat jobs are on the server's list."""
        return armed_jobs(self.engine)
