"""How `--help` looks: commands in groups, descriptions that are not cut, and plain words for what is to be typed."""

from typing import Any

from typer._click import Context, HelpFormatter
from typer._click.exceptions import UsageError
from typer.core import TyperGroup

_GROUPS = {
    "Start here": ("setup", "start", "stop", "restart", "status", "doctor", "logs"),
    "Talk": ("chat", "ask", "sessions", "workspaces"),
    "Journal and knowledge": ("daily", "brain", "suggestions"),
    "Agents and what they may use": (
        "agents",
        "modules",
        "mcp",
        "hooks",
        "prompts",
        "events",
        "sandbox",
        "maintenance",
    ),
    "Stop everything": ("panic", "resume"),
    "This computer": ("auth", "config", "vault", "keys", "first-boot", "backup", "service", "completion", "version"),
}
_OTHERS = "Further commands"

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
    "search": "`parachute daily search WORDS` and `parachute brain search WORDS` do.",
    "update": "docs/updating.md tells how to update: `git pull`, then `make run`, then `parachute restart`.",
    "uninstall": "docs/removing.md tells how to remove the computer; `parachute modules remove NAME` removes a module.",
}
_ELSEWHERE |= {"upgrade": _ELSEWHERE["update"], "remove": _ELSEWHERE["uninstall"]}

_PLAIN = {"int": "NUMBER", "float": "NUMBER", "str": "TEXT", "list[str]": "TEXT"}


class Group(TyperGroup):
    """A command with others below it."""

    def get_command(self, ctx: Context, cmd_name: str) -> Any:
        """The command, with plain words for what it takes."""
        command = super().get_command(ctx, cmd_name)
        for parameter in command.params if command is not None else ():
            _name_plainly(parameter, ctx)
        return command

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands, each with what it does, up to the first full stop or semicolon."""
        names = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
        width = max(map(len, names), default=0)
        for title, group in self._grouped(ctx, names):
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", _summary(self.commands[name])) for name in group])

    def resolve_command(self, ctx: Context, args: list[str]) -> Any:
        """The command that is meant; error: UsageError with what may have been meant."""
        if ctx.parent is None and args and args[0] not in self.commands and args[0] in _ELSEWHERE:
            raise UsageError(f"No such command {args[0]!r}. {_ELSEWHERE[args[0]]}", ctx)
        return super().resolve_command(ctx, args)

    def _grouped(self, ctx: Context, names: list[str]) -> list[tuple[str, list[str]]]:
        if ctx.parent is not None:
            return [("Commands", names)] if names else []
        known = {name for group in _GROUPS.values() for name in group}
        groups = [(title, [name for name in group if name in names]) for title, group in _GROUPS.items()]
        groups.append((_OTHERS, [name for name in names if name not in known]))
        return [(title, group) for title, group in groups if group]


def _summary(command: Any) -> str:
    text = " ".join((command.help or "").split())
    return text.partition("; ")[0].partition(". ")[0].rstrip(".")


def _name_plainly(parameter: Any, context: Context) -> None:
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
