"""`jochi bundle --as liquibase`: an install as a changelog of Liquibase with its extension for Neo4j (DESIGN §3).

The statements are those of the plain files. A migration is a change set that never changes; what follows the policy is one that
runs again when its text is another (`runOnChange`). Each has its way back, and all of them together are the uninstall.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from jochi.database.installed import pump_name, watch_name
from jochi.database.statements import statement
from jochi.install.bundle import Bundle, files_of, filled
from jochi.schema.migrations.schema_objects import created_by

NAME = "changelog.xml"
TAG = "before-jochi"
"""Stands at the first change set: `liquibase rollback --tag=before-jochi` takes everything back."""

# logicalFilePath: it is the same changelog in whatever folder it lies.
_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<databaseChangeLog logicalFilePath="jochi" xmlns="http://www.liquibase.org/xml/ns/dbchangelog"
    xmlns:neo4j="http://www.liquibase.org/xml/ns/dbchangelog-ext" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="http://www.liquibase.org/xml/ns/dbchangelog http://www.liquibase.org/xml/ns/dbchangelog/dbchangelog-latest.xsd">
"""


def changelog_files(made: Bundle) -> dict[str, str]:
    """The changelog by its name: a precondition, and change sets in the order in which they run."""
    schema, engine, *arm = made.install
    release, drop_schema, drop_bookkeeping = made.uninstall
    fit = schema.statements[0]
    bookkeeping = [text for text in schema.statements if "__Neo4jMigration" in text]
    migrations = files_of(made.migrations)
    indexes = [text for text in schema.statements if text not in {*bookkeeping, *migrations}]
    drops = list(drop_schema.statements)
    sets = [
        _change_set("tag", f'    <tagDatabase tag="{TAG}"/>\n'),
        # It comes first, so that it goes last: where an application needs it too, everything else is off by then.
        _texts("bookkeeping", "what neo4j-migrations' record needs.", bookkeeping, drop_bookkeeping.statements),
    ]
    for file in made.migrations:
        names = {f"`{each.name}`" for each in created_by(file)}
        back = [text for text in drops if any(name in text for name in names)]
        drops = [text for text in drops if text not in back]
        sets.append(_texts(file.path.stem, f"{file.description}.", files_of([file]), back, stays=True))
    sets.append(_texts("indexes", "those that the policy asks for.", indexes, drops))
    sets.append(_texts("engine", f"{engine.title} {made.origin}", engine.statements, release.statements))
    armed = {"names": [watch_name(made.database), pump_name(made.database)]}
    for part in arm:
        head, *others = part.statements
        # Jobs are armed anew after each change of the engine: its hash makes this another text then.
        texts = (f"// Arms the engine {engine.sha256}\n{head}", *others)
        sets.append(_texts("arm", part.title, texts, [filled(statement("install/disarm"), armed)]))
    check = f'<neo4j:cypherCheck expectedResult="true">{_cdata(fit)}</neo4j:cypherCheck>'
    fits = f"  <preConditions>\n    {check}\n  </preConditions>\n"
    return {NAME: f"{_HEAD}{fits}{''.join(sets)}</databaseChangeLog>\n"}


def _texts(name: str, comment: str, texts: Iterable[str], back: Iterable[str], *, stays: bool = False) -> str:
    body = f"    <comment>{escape(comment)}</comment>\n{''.join(map(_change, texts))}"
    body += f"    <rollback>\n{''.join(map(_change, back))}    </rollback>\n"
    return _change_set(name, body, "" if stays else ' runOnChange="true"')


def _change_set(name: str, body: str, more: str = "") -> str:
    """Each statement commits by itself: an uninstall works in pages, and the extension can't mix both ways in one run."""
    head = f'id={quoteattr(name)} author="jochi" labels={quoteattr(name)} runInTransaction="false"{more}'
    return f"\n  <changeSet {head}>\n{body}  </changeSet>\n"


def _change(text: str) -> str:
    return f'    <neo4j:cypher splitStatements="false" stripComments="false">{_cdata(text)}</neo4j:cypher>\n'


def _cdata(text: str) -> str:
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"
