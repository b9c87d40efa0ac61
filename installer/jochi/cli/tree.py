"""The tree of commands: where each is, what it is for in a few words, and the panel of `--help` that it stands in.

A command's module is imported when the command runs: together they bring everything that the product can do, and the list of
commands needs none of it. The long help of a command is its docstring.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One command or group. ``place``: module of `jochi.cli` and name in it, or the name of a group of `GROUPS`; ``moved``: the
    command's new name, of an old name that works for this version."""

    name: str
    place: str
    summary: str
    panel: str | None = None
    moved: str | None = None


def _panel(title: str, *rows: tuple[str, str, str]) -> tuple[Entry, ...]:
    return tuple(Entry(*row, panel=title) for row in rows)


COMMANDS: tuple[Entry, ...] = (
    *_panel(
        "Set up",
        ("install", "install:install", "Bring a database to this version and policy."),
        ("uninstall", "install:uninstall", "Remove the engine; the memories stay."),
        ("enrol", "enrol:enrol", "Put nodes of an application under curation."),
        ("disenrol", "enrol:disenrol", "Take nodes out of curation again."),
        ("policy", "policy:app", "Print, check and compare policies."),
        ("engine", "engine", "What install brings: migrations, procedures, intake."),
        ("bundle", "bundle:bundle", "An install as plain files."),
        ("grants", "grants:grants", "Roles and rights for Enterprise Edition."),
    ),
    *_panel(
        "Try",
        ("demo", "demo:demo", "Watch the engine work on a generated team."),
        ("server", "server:app", "A local Neo4j for development."),
    ),
    *_panel(
        "Look",
        ("status", "status:status", "What waits, the backlog, the last runs."),
        ("inbox", "inbox:inbox", "All that waits for you, with its commands."),
        ("doctor", "doctor:doctor", "Check the server and the engine."),
        ("explain", "explain:explain", "Why a memory is kept, moved or pruned."),
        ("jobs", "jobs:app", "The scheduled jobs; run, pause, resume one."),
        ("runs", "runs:app", "What was done, and why it stopped."),
        ("budgets", "plan:budgets", "Token budgets, and what the next run would move."),
        ("duplicates", "duplicates:app", "Pairs that may be one memory."),
    ),
    *_panel(
        "Watch",
        ("metrics", "metrics:metrics", "What is to be watched, for Prometheus."),
        ("report", "report:report", "A page of any span of days: what came, what went, why."),
    ),
    *_panel(
        "Decide",
        ("plan", "plan:app", "What would be done now; saved plans."),
        ("apply", "decide:apply", "Say go to the policy's rules."),
        ("approve", "decide:approve", "Let a stopped job go on."),
        ("pause", "decide:pause", "Stop everything, a kind or a scope."),
        ("resume", "decide:resume", "Take a pause back."),
    ),
    *_panel(
        "Take back",
        ("undo", "undo:undo", "Take back what runs did."),
        ("restore", "undo:restore", "Bring pruned memories back."),
        ("unmerge", "undo:unmerge", "Split what was merged."),
        ("decompress", "undo:decompress", "Bring compressed contexts back."),
    ),
    *_panel(
        "Memories",
        ("remember", "remember:remember", "Write a memory."),
        ("recall", "recall:recall", "Search memories."),
        ("explore", "explore:explore", "Search sources, storylines and themes."),
        ("supersede", "supersede:supersede", "Replace a statement by a newer one."),
        ("forget", "forget:forget", "Forget for good, with a receipt."),
        ("memory", "memory", "One memory: score, levels, history, touches."),
    ),
    *_panel(
        "Agents",
        ("observe", "observe:observe", "Take in the turns of a conversation."),
        ("heartbeat", "heartbeat:app", "Tasks that agents do on a schedule."),
        ("actions", "actions:app", "What agents did, and what follows from it."),
        ("mcp", "mcp:mcp", "Serve the tools of agents over MCP."),
    ),
    *_panel(
        "Files",
        ("import", "importing:import_command", "Write the memories of a file."),
        ("ingest", "ingest:ingest", "Take in raw sources."),
        ("sources", "ingest:app", "Raw sources, and how far they are."),
        ("context", "context:app", "MEMORY.md: write it, take its edits in."),
        ("mirror", "mirror:app", "Memories as files, and back."),
        ("receipts", "forget:receipts", "Receipts of forgetting, to a file and back."),
    ),
    *_panel(
        "Workers",
        ("worker", "worker:worker", "Do what a database can't: models, vectors."),
        ("derive", "derive:app", "What workers make: backlog, cost, retries."),
        ("tokens", "tokens:app", "Exact counts of tokens."),
    ),
)

GROUPS: dict[str, tuple[str, tuple[Entry, ...]]] = {
    "engine": (
        "What install brings into a database: migrations, procedures, and the intake of other people's nodes.",
        (
            Entry("migrations", "migrations:app", "The chain of schema migrations."),
            Entry("procedures", "procedures:app", "The installed Cypher: list, show, compare."),
            Entry("intake", "intake:app", "How nodes of applications become memories."),
        ),
    ),
    "memory": (
        "One memory at a time, and what is less often asked.",
        (
            Entry("score", "memory:score", "The score of a memory, and what would raise it."),
            Entry("levels", "memory:levels", "A context from its whole text to its keywords."),
            Entry("originals", "memory:originals", "What a memory was made of."),
            Entry("history", "memory:history", "What a slot held, and when."),
            Entry("touch", "memory:touch", "Report that memories were used."),
            Entry("topics", "memory:topics", "What a scope's memories are about."),
            Entry("edges", "memory:edges", "Relationships that decay: stored, due, next."),
        ),
    ),
}

MOVED: tuple[Entry, ...] = (
    *(
        Entry(entry.name, entry.place, entry.summary, moved=f"{group} {entry.name}")
        for group, (_, entries) in GROUPS.items()
        for entry in entries
    ),
    Entry("run", "jobs:run", "Run a job now.", moved="jobs run"),
    Entry("mode", "jobs:mode", "How busy the engine is.", moved="jobs mode"),
)
"""Old names: hidden, and gone with the next minor version."""

OLD_OPTIONS: dict[str, dict[str, str]] = {
    "recall": {"--k": "--limit", "--kinds": "--kind"},
    "explore": {"--k": "--limit"},
    "forget": {"--k": "--limit"},
}
"""Old spellings of options, by command: not in any help, and gone with the next minor version."""
