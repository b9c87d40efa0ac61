"""Groups whose commands are imported when they are asked for by name: a list of them costs no import."""

from __future__ import annotations

import copy
from collections import UserDict
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from jochi.cli.tree import COMMANDS, GROUPS, MOVED, OLD_OPTIONS, Entry
from jochi.extras import extra_named


class _Commands(UserDict[str, Any]):
    """Commands by name; whoever looks one up has it imported."""

    def __init__(self, entries: Iterable[Entry], more: Mapping[str, Any]) -> None:
        super().__init__()
        self.entries = {entry.name: entry for entry in entries}
        self.data: dict[str, Any] = {**dict.fromkeys(self.entries), **more}

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = _loaded(self.entries[name])
        return self.data[name]


class LazyGroup(TyperGroup):
    """A group of ``entries``. Where a command needs a package of an extra that isn't installed, the extra is named."""

    entries: tuple[Entry, ...] = ()
    commands: Any

    def __init__(self, *, entries: tuple[Entry, ...] = (), **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands(entries or self.entries, self.commands)

    def invoke(self, ctx: Any) -> Any:
        with extra_named():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        entry = self.commands.entries.get(name)
        if entry is not None and entry.moved and not ctx.resilient_parsing:
            _hint(f"jochi {entry.name}", f"jochi {entry.moved}")
        old = OLD_OPTIONS.get(name or "", {}) if entry is not None else {}
        return name, command, [_renamed(word, old) for word in rest]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        TyperGroup.format_help(self._outline(), ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        ctx.command = self._outline()
        return TyperGroup.shell_complete(ctx.command, ctx, incomplete)

    def _outline(self) -> LazyGroup:
        """The same group with the names and summaries of its commands alone."""
        outline = copy.copy(self)
        outline.commands = {
            entry.name: TyperCommand(
                entry.name, help=entry.summary, rich_help_panel=entry.panel, hidden=entry.moved is not None
            )
            for entry in self.commands.entries.values()
        }
        return outline


class Commands(LazyGroup):
    """All of `jochi`."""

    entries = (*COMMANDS, *MOVED)


def _loaded(entry: Entry) -> Any:
    if entry.place in GROUPS:
        about, entries = GROUPS[entry.place]
        command: Any = LazyGroup(entries=entries, help=about, no_args_is_help=True, rich_markup_mode="rich")
    else:
        module, _, name = entry.place.partition(":")
        found = getattr(import_module(f"jochi.cli.{module}"), name)
        if isinstance(found, typer.Typer):
            command = get_group(found)
        else:
            alone = typer.Typer(add_completion=False)
            alone.command(entry.name)(found)
            command = get_command(alone)
    command.name = entry.name
    command.short_help = entry.summary
    command.rich_help_panel = entry.panel
    command.hidden = entry.moved is not None
    return command


def _renamed(word: str, old: Mapping[str, str]) -> str:
    option, equals, value = word.partition("=")
    if option not in old:
        return word
    _hint(option, old[option])
    return f"{old[option]}{equals}{value}"


def _hint(old: str, new: str) -> None:
    typer.echo(f"`{old}` is now `{new}`; the old name goes with the next version", err=True)
