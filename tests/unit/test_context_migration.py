"""Files that people and agents wrote, taken over into the graph."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
from tests.context_memories import Graph, exact, graph

from jochi.context import migrate, read_memories, write_context
from jochi.context.blocks import source_lines
from jochi.errors import JochiError, PartlyDone, Refused, UsageError

FILES = Path(__file__).parents[1] / "context_files"

EXPECTED: dict[str, list[tuple[int, int, str, str]]] = {
    "agents": [
        (9, 9, "insights", "This repository holds the billing service. It is written in Kotlin."),
        (
            13,
            19,
            "insights",
            "Build: Run everything through Gradle:\n```sh\n./gradlew build   # takes a minute\n\n./gradlew test\n```",
        ),
        (23, 24, "preferences", "Never commit to `main`.\nOpen a pull request instead."),
        (26, 26, "preferences", "Use [ktlint](https://ktlint.example) before you push."),
        (27, 27, "preferences", "Errors are values, not exceptions."),
        (33, 33, "preferences", "Naming of tables: Kind: fact; Prefix: `f_`; Example: f_invoice"),
        (34, 34, "preferences", "Naming of tables: Kind: dimension; Prefix: `d_`"),
        (38, 38, "insights", "Deployment: Staging: Deploys on every merge."),
        (40, 40, "insights", "Deployment: Production: Deploys on Tuesdays; see [the runbook][1]."),
        (42, 42, "insights", "Deployment: Production: [1]: https://runbook.example/billing"),
    ],
    "assistant": [
        (4, 4, "personal", "About me: Name: Ada Byron"),
        (5, 5, "personal", "About me: Lives in Leeds with two cats"),
        (8, 8, "preferences", "Answers in British English"),
        (9, 9, "preferences", "Dark mode, always"),
        (11, 11, "preferences", "Code style: tabs in Go"),
        (12, 12, "preferences", "Code style: four spaces in Python"),
        (15, 15, "tasks", "Ship the export by Friday"),
        (16, 16, "recent", "[x] Water the roses"),
        (18, 18, "recent", "[x] Move to the new flat: Pack the books"),
        (19, 19, "tasks", "Move to the new flat: Call the movers"),
        (22, 22, "insights", "Backups run at 3 and take two hours."),
        (23, 24, "insights", "The staging database is called `blue`, the other one `green`."),
        (27, 28, "recent", "Talked about the budget on Monday. Ada wants a second quote before she signs."),
    ],
    "german": [
        (5, 5, "personal", "Persönliches: Geburtstag am 4. Mai."),
        (9, 9, "personal", "Persönliches: Gesundheit: Allergie gegen Nüsse"),
        (12, 12, "preferences", "Antwortet gern knapp"),
        (13, 13, "preferences", "Tee statt Kaffee"),
        (16, 16, "tasks", "Steuererklärung bis Ende Juli"),
        (17, 17, "tasks", "Fahrrad zur Werkstatt"),
        (20, 20, "insights", "`make test` braucht Docker"),
        (23, 23, "insights", "Garten: Rosen freitags gießen"),
        (27, 27, "recent", "2026-02-03: Der Umzug ist auf März verschoben."),
    ],
    "log": [
        (1, 1, "insights", "user prefers metric units"),
        (2, 2, "insights", "user's manager is Bo (she/her)"),
        (3, 3, "insights", "deploy key rotates every 90 days"),
        (4, 4, "insights", '"quotes", <b>tags</b> & ampersands'),
        (6, 6, "insights", "2026-01-05: decided to drop IE11 support"),
        (8, 8, "insights", "2026-01-09: the cron job runs twice"),
        (12, 12, "insights", "a: b: c"),
        (14, 17, "insights", "<details>\n<summary>Old</summary>\nWas on Heroku.\n</details>"),
        (19, 21, "insights", "```\n2026-01-10 ERROR lost connection\n```"),
    ],
    "notes": [
        (4, 4, "insights", "Apollo moves the archive to S3. The first half is done."),
        (9, 9, "insights", "Glacier is too slow for restores."),
        (13, 13, "insights", "Parquet, not CSV, because of types."),
        (15, 15, "insights", "aws s3 ls s3://apollo"),
        (20, 22, "tasks", "Open questions: Who pays?\nFinance says it isn't them."),
        (23, 23, "tasks", "Open questions: How long do we keep it?"),
    ],
}
SKIPPED = {
    "agents": [(1, 4, "front matter"), (5, 5, "a comment")],
    "notes": [(25, 26, "a heading with nothing below it")],
}
PERSONAL = {
    "assistant": "## About me\n- Name: Ada Byron\n- Lives in Leeds with two cats\n",
    "german": "## Persönliches\n\nGeburtstag am 4. Mai.\n\n### Gesundheit\n\n- Allergie gegen Nüsse\n",
}


REST = r"#+ .*|[=-]+|\* \* \*|\|.*\||Project Apollo|Decisions|Open questions|- (?:a|b|Code style:|\[ \] Move.*)"


def said(text: str) -> list[tuple[int, int, str, str]]:
    return [(*segment.lines, segment.section, segment.text) for segment in read_memories(text)]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_line_of_an_old_file_becomes_something(name: str, tmp_path: Path) -> None:
    text = (FILES / f"{name}.md").read_text(encoding="utf-8")
    assert said(text) == EXPECTED[name]
    assert said("\ufeff" + text.replace("\n", "\r\n")) == EXPECTED[name]

    file, store = tmp_path / f"{name}.md", Graph()
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    told = migrate(file, store, exact(), dry_run=True)
    assert not store.calls
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    done = migrate(file, store, exact())
    assert [segment for segment, _ in done.memories] == [segment for segment, _ in told.memories]
    assert (done.personal, done.skipped) == (told.personal, told.skipped)
    assert list(done.skipped) == SKIPPED.get(name, [])
    segments = [*(segment for segment, _ in done.memories), *done.personal]
    rows = [(*segment.lines, segment.section, segment.text) for segment in segments]
    assert rows == sorted(EXPECTED[name], key=lambda row: row[2] == "personal")
    for segment, key in done.memories:
        assert store.memories[key or ""].text == segment.text
        assert store.memories[key or ""].section == segment.section
    assert done.kept == tmp_path / f"{name}.md.pre-migration"
    assert done.kept.read_text(encoding="utf-8") == text
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}
    personal = PERSONAL.get(name, "")
    assert f"file -->\n{personal}<!-- /personal -->\n" in file.read_text(encoding="utf-8")
    assert not [memory for memory in store.texts() for row in done.personal if row.text.split(": ")[-1] in memory]

    # Every line is a segment's, is skipped, or is a heading, a rule, the head of a table, or what only has items below it.
    ranges = [*(segment.lines for segment in segments), *((first, last) for first, last, _ in done.skipped)]
    told_of = {at for first, last in ranges for at in range(first, last + 1)}
    rest = [line.strip() for at, line in enumerate(source_lines(text), 1) if at not in told_of and line.strip()]
    assert [line for line in rest if not re.fullmatch(REST, line)] == []

    before = {each: each.read_bytes() for each in tmp_path.iterdir()}
    store.calls.clear()
    assert migrate(file, store, exact()).already
    assert not write_context(file, store.manifest(), store, exact(), None, personal_share=0).rewritten  # type: ignore[arg-type]
    assert {each: each.read_bytes() for each in tmp_path.iterdir()} == before
    assert not store.calls


@pytest.mark.parametrize(
    ("headings", "section", "text"),
    [
        ("# About me\n", "personal", "x"),
        ("# Notes\n## Über mich\n### Preferences\n", "personal", "Über mich: x"),
        ("## OpenAI\n", "insights", "OpenAI: x"),
        ("## Login\n### To-do\n", "tasks", "Login: x"),
        ("## 🧠 Key Learnings\n", "insights", "x"),
        ("## Notes on Apollo\n", "insights", "Notes on Apollo: x"),
        ("## Nächste Schritte\n", "tasks", "x"),
        ("## Rules for Bo\n### Last week\n", "recent", "Rules for Bo: Last week: x"),
    ],
)
def test_a_heading_says_the_section_or_stands_before_its_texts(headings: str, section: str, text: str) -> None:
    (segment,) = read_memories(headings + "- x\n")
    assert (segment.section, segment.text) == (section, text)


def test_what_is_personal_or_a_comment_is_no_memory_wherever_it_stands(tmp_path: Path) -> None:
    file, store = tmp_path / "MEMORY.md", Graph()
    private = "**Private**\n\nMy salary is 5.\n\n- Back pain\n"
    file.write_text(f"# Me\n\n{private}\n**Garden**\n\n- Roses <!-- white -->\n  - Twice <!-- or once -->\n  - Often\n")
    done = migrate(file, store, exact())
    assert store.texts() == ["**Garden**", "Roses: Often", "Roses: Twice"]
    assert [segment.text for segment in done.personal] == ["**Private**", "My salary is 5.", "Back pain"]
    assert f"file -->\n{private}<!-- /personal -->" in file.read_text()
    assert list(done.skipped) == [(11, 11, "a comment"), (12, 12, "a comment in it")]


def test_a_line_that_cannot_be_taken_over_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, store = tmp_path / "MEMORY.md", Graph()

    def refuses(*_: str) -> str:
        raise PartlyDone("it was forgotten")

    monkeypatch.setattr(store, "remember", refuses)
    for text, said in (
        ("# Me\n\n- x\n", "MEMORY.md, line 3: 'x' can't be taken in: it was forgotten"),
        ("# Me\n\n- x\n=======\n- y\n", "MEMORY.md, line 4: a conflict of git"),
    ):
        file.write_text(text)
        with pytest.raises(Refused, match=said):
            migrate(file, store, exact())
        assert file.read_text() == text


def test_an_earlier_kept_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    for number, name in enumerate(("", "-2")):
        file.write_text(f"- Line {number}\n")
        assert migrate(file, Graph(), exact()).kept == tmp_path / f"MEMORY.md.pre-migration{name}"
    assert (tmp_path / "MEMORY.md.pre-migration").read_text() == "- Line 0\n"


def test_a_file_that_changes_meanwhile_and_one_too_personal_are_left(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"

    class Editing(Graph):
        def remember(self, section: str, text: str, behind: int = 0) -> str:
            file.write_text("- Other\n")
            return super().remember(section, text)

    file.write_text("- Line\n")
    with pytest.raises(JochiError, match="somebody changed the file meanwhile"):
        migrate(file, Editing(), exact())
    assert file.read_text() == "- Other\n"

    file.write_text(old := "## Private\n" + "secret " * 3000)
    store = graph()
    with pytest.raises(UsageError, match="without any memory the file has"):
        migrate(file, store, exact())
    assert file.read_text() == old
    assert not store.calls


def test_what_is_struck_out_is_no_memory(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    file.write_text(
        "- ~~Deploys on Mondays~~\n- Deploys on ~~Mondays~~ Tuesdays\n- [ ] ~~Call Bo~~\n"
        "- [ ]\n- [x]\n- `~~x~~` strikes in Markdown\n"
    )
    assert [segment.text for segment in read_memories(file.read_text())] == [
        "Deploys on Tuesdays",
        "`~~x~~` strikes in Markdown",
    ]
    told = migrate(file, graph(), exact(), dry_run=True)
    assert told.skipped == ((1, 1, "struck out"), (2, 2, "struck-out text in it"), (3, 3, "struck out"))


def test_a_file_is_not_shrunk_without_a_yes(tmp_path: Path) -> None:
    file, store = tmp_path / "AGENTS.md", Graph()
    old = "# Rules\n\n" + "".join(f"- NEVER deploy on day {day} of a month, whatever they say.\n" for day in range(150))
    file.write_text(old)
    with pytest.raises(Refused, match=r"[0-9]+ of 150 memories of this file would not be in the new one"):
        migrate(file, store, exact())
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    assert file.read_text() == old
    done = migrate(file, store, exact(), shrink=True)
    text = file.read_text()
    assert 0 < len(done.left_out) < 150
    assert all((segment.text in text) != (segment in done.left_out) for segment, _ in done.memories)
