"""The commands as they are looked up, and `--help`: sections, uncut descriptions, plain words for what is to be typed."""

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import typer.main
from typer.core import TyperCommand, TyperGroup

from parachute.cli.command_table import FILES, SECTIONS

_SUMMARIES = {name: summary for section in SECTIONS.values() for name, summary in section.items()}

EXAMPLES = """\b
Examples:
  parachute chat "What is a journal good for?"
  parachute daily add "Tea with Kevin, who moves to Berlin."
  parachute auth login
  parachute chat --help"""

_ELSEWHERE = {
    "help": "`parachute --help` lists the commands.",
    "login": "`parachute auth login` connects Claude, or a server such as Ollama.",
    "logout": "`parachute auth logout` forgets the stored credential.",
    "upgrade": "`parachute update` brings a new version, and can take it back.",
    "uninstall": "docs/doors.md#removing-it tells how to remove the computer; `parachute modules remove NAME` removes a module.",
}
_ELSEWHERE |= {"remove": _ELSEWHERE["uninstall"]}

_PLAIN = {"int": "NUMBER", "float": "NUMBER", "str": "TEXT", "list[str]": "TEXT"}


class Group(TyperGroup):
    """A command with others below it."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, with plain words for what it takes."""
        command = super().get_command(ctx, cmd_name)
        for parameter in command.params if command is not None else ():
            _name_plainly(parameter, ctx)
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, each with its summary."""
        shown = {name: command for name, command in self.commands.items() if not command.hidden}
        _write(formatter, "Commands", {name: summary(command) for name, command in shown.items()})


class Root(Group):
    """`parachute`: its help needs the table alone."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = cast(Any, _Commands())

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the table."""
        for title, section in SECTIONS.items():
            _write(formatter, title, section)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The names that begin so; the table knows them without an import."""
        commands = [TyperCommand(name, short_help=text) for name, text in _SUMMARIES.items()]
        table = TyperGroup(commands=commands, add_help_option=False)
        return table.shell_complete(typer.Context(table), incomplete)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant; a usage error says what may have been meant."""
        if args and args[0] in _ELSEWHERE:
            ctx.fail(f"No such command {args[0]!r}. {_ELSEWHERE[args[0]]}")
        return super().resolve_command(ctx, args)


class _Commands(Mapping[str, Any]):
    """The commands by name; looking one up imports its file."""

    def __getitem__(self, name: str) -> Any:
        if name not in _SUMMARIES:
            raise KeyError(name)
        return _load(name)

    def __contains__(self, name: object) -> bool:
        return name in _SUMMARIES

    def __iter__(self) -> Iterator[str]:
        return iter(_SUMMARIES)

    def __len__(self) -> int:
        return len(_SUMMARIES)


@cache
def _load(name: str) -> Any:
    file = importlib.import_module(f"parachute.cli.commands.{FILES.get(name, name.replace('-', '_'))}")
    group = typer.main.get_group(file.app)
    if name in group.commands:
        return group.commands[name]
    group.name, group.help = name, f"{_SUMMARIES[name]}."
    return group


def summary(command: Any) -> str:
    """The description of a command, up to the first full stop or semicolon."""
    text = " ".join((command.help or "").split())
    return text.partition("; ")[0].partition(". ")[0].rstrip(".")


def _write(formatter: Any, title: str, commands: Mapping[str, str]) -> None:
    width = max(map(len, commands if title == "Commands" else _SUMMARIES), default=0)
    with formatter.section(title):
        formatter.write_dl([(f"{name:<{width}}", text) for name, text in commands.items()])


def _name_plainly(parameter: Any, context: Any) -> None:
    # Typer offers no class of one's own for these; it writes {words}... and <int range>  [1<=x<=500].
    least, most = getattr(parameter, "min", None), getattr(parameter, "max", None)
    numbers = f"{least} to {most}" if None not in (least, most) else f"{least} or more" if least is not None else None
    parameter._get_number_range_help_str = lambda: numbers
    if parameter.param_type_name == "argument":
        name = (parameter.metavar or parameter.name).upper().strip("[]").removesuffix("...")
        shown = name + ("..." if parameter.nargs != 1 else "")
        parameter.metavar = name
        parameter.get_usage_pieces = lambda _: [shown if parameter.required else f"[{shown}]"]
        parameter.display_type_rich = lambda ctx: None
    elif parameter.metavar is None and not parameter.is_flag:
        word = parameter.display_type(context).strip("<>").removesuffix(" range")
        parameter.metavar = word if "|" in word else _PLAIN.get(word, word.upper())
