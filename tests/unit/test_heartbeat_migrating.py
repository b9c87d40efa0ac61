"""HEARTBEAT.md files of three makes: each task, its schedule, and what can't be read (tests/heartbeat_files)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jochi.heartbeat import migration
from jochi.heartbeat.migration import read
from jochi.text.markdown import sections

FILES = Path(__file__).parents[1] / "heartbeat_files"
NONE = "no schedule can be read in it"

EXPECTED = {
    "headings.md": [
        ("HEARTBEAT.md", None, NONE),
        ("Morning report", "0 9 * * *", None),
        ("Backup", "0 3 * * *", None),
        ("Check the inbox", "every 30min", None),
        ("Look at the deploy queue", "every 30min", None),
        ("Clean up now and then", None, NONE),
        ("Plan the week", "0 0 * * 0", None),
        ("Review: every Friday at 4pm", "0 16 * * 5", None),
    ],
    "list.md": [
        ("Check mail every 15 minutes", "every 15min", None),
        ("Stand-up", "30 9 * * 1-5", None),
        ("Rotate the old keys, every 90 days", None, "it is checked off"),
        ("look at the error rate", "*/10 8-18 * * 1-5", None),
        ("Meditate 5 min", None, NONE),
        ("Water the ferns", "5 7 * * 1,4", None),
        ("Daily at 08:00 and every hour", None, NONE),
        ("Ping the host every 30s", "every 30s", None),
        ("Leap", None, NONE),
        ("Check mail every 15 minutes", "every 15min", None),
        ("天气", "0 12 * * *", None),
    ],
    "table.md": [
        ("Inbox", "15min", None),
        ("Ledger", "59 23 31 * *", None),
        ("Sync", "*/5 * * * *", None),
        ("Muse", None, "'when inspired' can't be read as a schedule"),
        ("Rest", None, NONE),
        ("/opt/report.sh --all", "0 9 * * 1", None),
        ("echo done", "0 0 * * *", None),
    ],
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_task_of_a_file_is_read(name: str) -> None:
    found = list(read((FILES / name).read_text(encoding="utf-8")))
    assert [(task.task_name, task.schedule, task.reason) for task in found] == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_no_word_but_comments_is_lost_and_lines_are_told(name: str) -> None:
    text = (FILES / name).read_text(encoding="utf-8")
    lines = text.splitlines()
    found = list(read(text))
    told = {number for task in found for number in range(task.first, task.last + 1)}
    silent = [line for number, line in enumerate(lines, 1) if number not in told and any(map(str.isalnum, line))]
    # Heads of tables and of sections, what stands before all items of a section, and comments.
    assert not [line for line in silent if not line.startswith(("#", "|", "<!--", "```", "owner:", "Do these"))]


STOCK = {
    "headings alone": "# Pulse\n\n# Leave this page bare and nobody is woken.\n\n# Jobs go under this line.\n",
    "a page of the manual": (
        '---\ntitle: "A bare pulse"\nread_when:\n  - Setting up by hand\n---\n\n# A bare pulse\n\n'
        "```markdown\n# Leave this page bare and nobody is woken.\n\n# Jobs go under this line.\n```\n\n"
        "## See also\n\n- [How often it beats](/manual/pulse)\n"
    ),
    "its fence was taken for the manual's": (
        "# Leave this page bare.\n\n# Jobs go below.\n```\n\n## See also\n\n- [How often it beats](/manual/pulse)\n"
    ),
    "a comment": "<!-- Nothing but comments: nobody is woken. -->\n\n# Pulse\n\n<!-- Jobs go below.\n- [ ] Look -->\n",
    "an empty list": "# Pulse\n\n## Jobs\n\n- [ ]\n- [x] \n-\n* \n",
    "nothing": "\n \n",
}


@pytest.mark.parametrize("name", STOCK)
def test_a_file_that_nobody_has_written_into_holds_no_task(name: str) -> None:
    for text in (STOCK[name], "\ufeff" + STOCK[name].replace("\n", "\r\n")):
        assert list(read(text)) == []
        if text.count("```") != 1:  # what somebody writes behind it is all that there is to do
            [found] = read(f"{text}\n\n# Mine\n- every hour: see https://status.example.org\n")
            assert found.schedule == "every 1h"
    for text in (
        "- [the gate](https://gate.example.org)",
        "```\nlook at the gate\n```",
        "```md\n- look\n```",
        "- []: x",
    ):
        assert len(list(read(text))) == 1


def test_tasks_as_an_agent_writes_them_in_yaml() -> None:
    found = list(
        read(
            "# Pulse\n\ntasks:\n\n- name: gate\n  interval: 30m\n  prompt: Is it shut?\n\n"
            '- name: post box\n  interval: 2h\n  prompt: "Look."\n'
        )
    )
    assert [(task.task_name, task.schedule) for task in found] == [("gate", "every 30min"), ("post box", "2h")]


def test_what_stands_before_items_belongs_to_each_and_code_keeps_its_form() -> None:
    found = {task.task_name: task for task in read((FILES / "list.md").read_text(encoding="utf-8"))}
    ferns = found["Water the ferns"]
    assert ferns.definition.startswith("Do these in the background. Be brief.\n\nWater the ferns\n- Schedule: weekly")
    assert ferns.definition.endswith("- two glasses each")
    report = {task.task_name: task for task in read((FILES / "headings.md").read_text(encoding="utf-8"))}[
        "Morning report"
    ]
    assert "- failed builds\n\n```bash\n# every 5 minutes would be too often\ngh issue" in report.definition
    table = {task.task_name: task for task in read((FILES / "table.md").read_text(encoding="utf-8"))}
    assert table["/opt/report.sh --all"].definition == "# minute hour\n/opt/report.sh --all"
    assert table["Inbox"].definition == "Task: Inbox\nWhat to do: Read new mail | answer what is urgent"


@pytest.mark.parametrize(
    ("line", "schedule"),
    [
        ("Schedule: */5 * * * *", "*/5 * * * *"),
        ("**Schedule:** 0 9 * * *", "0 9 * * *"),
        ("- *When*: `@daily`", "0 0 * * *"),
        ("Frequency: 15min", "15min"),
        ("> Runs: every Monday at 9:00.", "0 9 * * 1"),
        ("Schedule: daily\nSchedule: hourly", None),
        ("Schedule: when I feel like it", None),
        ("Rescheduled: by Ada", None),
    ],
)
def test_a_line_of_its_own_says_when(line: str, schedule: str | None) -> None:
    [found] = read(f"## Tidy up\n\n{line}\n\nPut things away.\n")
    assert (found.task_name, found.schedule) == ("Tidy up", schedule)


def test_columns_without_or_of_the_same_head_lose_nothing() -> None:
    [found] = read("| task | | x | x |\n|---|---|---|---|\n| daily | a | b | daily |\n")
    assert found.definition == "task: daily\ncolumn: a\nx: b\nx 4: daily".replace("column: ", "2: ")
    assert found.schedule is None


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("every 30 minutes", "every 30min"),
        ("Every hour", "every 1h"),
        ("every 2 weeks", "every 14d"),
        ("Every 6h", "every 6h"),
        ("hourly", "0 * * * *"),
        ("@weekly", "0 0 * * 0"),
        ("daily at 12am", "0 0 * * *"),
        ("daily at 12:30 pm", "30 12 * * *"),
        ("every night at 23:05", "5 23 * * *"),
        ("weekly on Monday", "0 0 * * 1"),
        ("every Sunday and Wed at 8", None),
        ("every Sunday and Wed at 8am", "0 8 * * 0,3"),
        ("weekends at midnight", "0 0 * * 0,6"),
        ("monthly on the 2nd at noon", "0 12 2 * *"),
        ("0 9 1 JAN mon", "0 9 1 jan mon"),
        ("daily at 25:00", None),
        ("every 0 minutes", None),
        ("every other day", "every 2d"),
        ("every other day at 9:00", None),
        ("twice daily", "every 12h"),
        ("9 am every day", "0 9 * * *"),
        ("fortnightly", None),
        ("Ship it on Monday", None),
        ("Play 4 8 15 1 2", None),
        ("Poll the queue */5 * * * *", "*/5 * * * *"),
        ("every hour between 9 and 5", None),
        ("Read the daily paper", None),
    ],
)
def test_words_are_read_by_a_small_table(text: str, schedule: str | None) -> None:
    for line in (f"- {text}", f"- {text}: do it", f"- do it ({text})"):
        [found] = read(line)
        assert found.schedule == schedule, line


@pytest.mark.parametrize(
    ("language", "line", "schedule"),
    [row.split("\t") for row in (FILES / "schedules.tsv").read_text(encoding="utf-8").splitlines()],
)
def test_what_people_write_is_read_in_english_and_german_or_named(language: str, line: str, schedule: str) -> None:
    [found] = read(f"- Look at the mail: {line}\n")
    assert (found.schedule or "-") == schedule
    assert (found.reason == NONE) == (schedule == "-")


@pytest.mark.parametrize(
    ("line", "schedule"),
    [
        ("Montags um 8 Uhr Backup prüfen", "0 8 * * 1"),
        ("Montags und donnerstags den Müll rausstellen", "0 0 * * 1,4"),
        ("Werktags um 9 Uhr Stand-up vorbereiten", "0 9 * * 1-5"),
        ("Mondays and Fridays at 9am check the backup", "0 9 * * 1,5"),
        ("On weekends water the plants", "0 0 * * 0,6"),
        # Once, perhaps; or what isn't read; or when not.
        ("Montag 8:00 Backup prüfen", None),
        ("On Monday check the backup", None),
        ("Am Wochenende das Auto waschen", None),
        ("Mondays at 9 check the backup", None),
        ("Mondays except holidays check the backup", None),
        ("Weekends are for family", None),
        ("Don't write to me on weekends", None),
    ],
)
def test_days_that_come_again_stand_out_at_the_beginning(line: str, schedule: str | None) -> None:
    [found] = read(f"- {line}\n")
    assert found.schedule == schedule


OTHER_TIME = "it says a time that can't be read together with the schedule above it"


@pytest.mark.parametrize(
    ("above", "line", "schedule"),
    [
        ("Daily", "09:00 morning briefing", "0 9 * * *"),
        ("Daily", "**9am** - morning briefing", "0 9 * * *"),
        ("Täglich", "9 Uhr Lagebericht", "0 9 * * *"),
        ("Täglich um 8 Uhr", "Lagebericht um 9:30 Uhr", "30 9 * * *"),
        ("Every Monday", "at 08:30: plan the week", "30 8 * * 1"),
        ("Daily", "read the mail (18:00)", "0 18 * * *"),
        ("Daily", "read the mail", "0 0 * * *"),
        ("Daily", "um halb neun Lagebericht", None),
        ("Daily", "look at the mail at 9", None),
        ("Daily", "09:00 and 17:00 look at the mail", None),
        ("Daily", "25:00 look at the mail", None),
        ("Daily", "look at the mail every 2 days at 9:00", None),
        ("Daily", "prepare the 15:00 meeting", None),
        ("Hourly", "09:00 look at the mail", None),
    ],
)
def test_the_time_in_a_line_wins_over_the_heading(above: str, line: str, schedule: str | None) -> None:
    for text in (f"## {above}\n\n- {line}\n", f"# {above}\n\n## {line}\n\nAll of it.\n"):
        [found] = read(text)
        assert (found.schedule, found.reason) == (schedule, None if schedule else OTHER_TIME)


def test_a_column_of_times_stands_for_the_day_above_it() -> None:
    found = read("## Daily\n\n| when | task |\n|---|---|\n| 09:00 | Mail |\n| after lunch | Walk |\n")
    assert [task.schedule for task in found] == ["0 9 * * *", None]


@pytest.mark.parametrize(
    ("head", "cells", "schedules"),
    [
        ("Zeitpunkt", "09:00", ["0 9 * * *"]),
        ("", "9 Uhr", ["0 9 * * *"]),
        ("Beginn", "montags 06:00", ["0 6 * * 1"]),
        ("time", "after lunch", [None]),
        ("from | to", "09:00 | 17:00", [None]),
        ("room", "12", ["0 0 * * *"]),
        ("room", "daily", ["0 0 * * *"]),
    ],
)
def test_a_time_counts_in_a_column_of_any_head_and_two_are_named(
    head: str, cells: str, schedules: list[str | None]
) -> None:
    rule = "|---" * (head.count("|") + 2)
    found = list(read(f"## Daily\n\n| task | {head} |\n{rule}|\n| Mail | {cells} |\n"))
    assert [(task.task_name, task.schedule) for task in found] == [("Mail", each) for each in schedules]
    assert all((task.reason is None) == (task.schedule is not None) for task in found)


MIDNIGHT = "no time of day is said: midnight"


@pytest.mark.parametrize(
    ("text", "schedule", "note"),
    [
        ("## Daily\n\nLook at the mail.\n", "0 0 * * *", MIDNIGHT),
        ("## Daily\n\n- look at the mail\n", "0 0 * * *", MIDNIGHT),
        ("- back up daily\n", "0 0 * * *", MIDNIGHT),
        ("## Weekly\n\n### Plan\n\nThe week.\n", "0 0 * * 0", MIDNIGHT),
        (
            "## Daily\n\n- look at the mail, twice a day\n",
            "every 12h",
            "no times of day are said: every 12h from now on",
        ),
        ("# 3 times a day\n\n- mail\n", "every 8h", "no times of day are said: every 8h from now on"),
        ("## Daily\n\nLook at the mail in the morning.\n", None, None),
        ("## Daily\n\nMorning: look at the mail.\n", None, None),
        ("## Daily\n\n09:00 look at the mail.\n", "0 9 * * *", None),
        ("## Daily\n\n- morgens Mail\n", None, None),
        ("## Daily at midnight\n\nLook at the mail.\n", "0 0 * * *", None),
        ("- täglich um 0 Uhr: Mail\n", "0 0 * * *", None),
        ("- `0 0 * * *`: mail\n", "0 0 * * *", None),
        ("## Mail\n\nSchedule: @daily\n", "0 0 * * *", None),
        ("- every 12 hours: mail\n", "every 12h", None),
        ("- daily at 00:00 mail\n", "0 0 * * *", None),
        ("- daily at 10:00 mail\n", "0 10 * * *", None),
    ],
)
def test_a_time_that_nobody_says_is_named(text: str, schedule: str | None, note: str | None) -> None:
    [found] = read(text)
    assert (found.schedule, found.note) == (schedule, note)
    assert (found.reason is None) == (schedule is not None)


def test_heads_of_german_columns_are_known() -> None:
    [found] = read("| Wann | Was |\n|---|---|\n| am 1. des Monats 04:15 | Abrechnung |\n")
    assert (found.task_name, found.schedule) == ("Abrechnung", "15 4 1 * *")


LINES = st.sampled_from(
    [
        *(
            "{}",
            "## {}",
            "# {} every 5 minutes",
            "- {}",
            "  - {}",
            "    {}",
            "1. {}",
            "- [x] {}",
            "- {} daily",
            "> {}",
            "",
            "---",
        ),
        *(
            "```",
            "~~~cron",
            "0 9 * * * {}",
            "| {} | b |\n|---|---|\n| {} | {} |",
            "[{}]: https://x.org",
            "<div>{}</div>",
            "===",
        ),
        *(
            "Schedule: every 5min {}",
            "  Schedule: hourly\n  {}",
            "* {}\n\n  {}",
            "\t{}",
            "&amp; {}",
            "\\# {}",
            "![{}](x)",
            "| {} |",
        ),
    ]
)


@given(st.lists(LINES, max_size=12))
def test_no_word_of_any_file_is_lost(lines: list[str]) -> None:
    assume(lines[:1] != ["---"])  # YAML may begin so
    numbers = iter(range(1000))
    text = "\n".join(re.sub(r"\{\}", lambda _: f"w{next(numbers)}w", line) for line in lines)
    found = list(read(text))
    told = "\n".join(f"{task.task_name}\n{task.definition}" for task in found)
    # What stands in a heading is the name of a task, or of what holds tasks: then it may be said nowhere else.
    titles = [section.title for section in sections(text)] + re.findall(r"^# .*", text, re.MULTILINE)
    heads = {word for title in titles for word in re.findall(r"w\d+w", title)}
    assert set(re.findall(r"w\d+w", text)) - heads <= set(re.findall(r"w\d+w", told))
    for task in found:
        assert 1 <= task.first <= task.last <= text.count("\n") + 1
        assert (task.schedule is None) == (task.reason is not None)
        assert task.id
        assert task.definition.strip()


def test_a_line_without_end_is_not_read_at_each_of_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def stands_out(text: str, **_: bool) -> bool:
        looked.append(text)
        return False

    monkeypatch.setattr(migration, "_stands_out", stands_out)
    [task] = read("- " + "look at the mail um halb " * 1_000)
    assert task.schedule is None
    assert len(looked) <= 100
    assert max(len(text.split()) for text in looked) <= 40
