"""The table of commands, and `--help`: sections, uncut descriptions, plain words for what is to be typed."""

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import typer.main
from typer.core import TyperCommand, TyperGroup

SECTIONS = {
    "Start here": {
        "setup": "Install the journal, the knowledge base, their chats and imports",
        "start": "Start the computer in the background",
        "stop": "End the computer and everything that it started",
        "restart": "Restart the computer with the current settings and environment, on the same address",
        "status": "Show what runs",
        "doctor": "Look for what is wrong with this computer, also while it is down",
        "logs": "Show the last lines of the logs",
    },
    "Talk": {
        "inbox": "List and answer what waits for you: permissions, questions, suggestions, approvals",
        "chat": "Talk to an agent",
        "ask": "Ask the model once: it has no tools, and nothing is kept",
        "changes": "List the changes of a conversation in your project, and those that wait for you",
        "undo": "Take back what a conversation changed in your project",
        "sessions": "List, search, show, rename, limit, end, archive and delete conversations",
        "contexts": "List and choose the folders whose AGENTS.md a conversation reads, and show which watch which",
        "bots": "Talk to agents from a messenger, and let others in with limited permissions",
        "export": "Export all data into one archive that is readable without this computer",
        "import": "Bring conversations from ChatGPT, Claude and Claude Code, and notes from Obsidian",
        "workspaces": "Give conversations about one project a folder, a model and limits in common",
    },
    "Journal and knowledge": {
        "daily": "Write and read the journal (module Daily)",
        "brain": "Search, write and merge what you know about people and topics (module Brain)",
        "files": "List, read and write the files of your vault, and undo changes",
        "voice": "Turn recordings into text, and show what is missing for it",
        "suggestions": "Review suggestions from modules and agents",
    },
    "Agents and what they may use": {
        "agents": "List, write and approve agents that answer you, or work for other agents",
        "skills": "List, write and approve skills: instructions that agents read when a task needs them",
        "schedule": "List, approve and run scheduled agents",
        "modules": "Install, approve and remove modules",
        "plugins": "Install, approve, update and remove plugins: skills, agents, commands and programs of other people",
        "mcp": "List, approve and try MCP servers: programs that offer tools to agents",
        "hooks": "List, approve and try your own commands for events",
        "prompts": "Approve instruction files for unsandboxed conversations, and show the prompt of the next turn",
        "events": "List events that failed, and deliver them again",
        "network": "Allow and refuse hosts that conversations in a sandbox ask for",
        "git": "Allow repositories that conversations in a sandbox use, and keep the tokens of their hosts",
        "sandbox": "Build and inspect the agents' sandbox",
        "maintenance": "Ask the maintenance agent: it reads logs and code, repairs data, and has no network",
    },
    "Oversight": {
        "audit": "List, follow and verify the audit log",
        "usage": "Show usage and costs by day and subject, and set limits",
    },
    "Stop everything": {
        "panic": "Stop all agents, schedules, hooks and outgoing connections now, also when the API hangs",
        "resume": "Let agents work again after `parachute panic`",
    },
    "This computer": {
        "auth": "Connect Claude or another model, and show which credential is used",
        "config": "Show and change the settings",
        "vault": "Show or choose the folder that holds your data",
        "pair": "Show a code, an address and a QR code that sign one browser in within five minutes",
        "devices": "List the browsers that are signed in, and sign them out",
        "keys": "Make, list and revoke the keys of your other devices",
        "first-boot": "Create the key that sets up a new computer, and show it with its address and a QR code",
        "tls": "Show and renew the certificate for https, and trust it on this machine",
        "backup": "Encrypted backups of the vault and, apart from it, of keys and approvals",
        "update": "Update this computer: the new version is rehearsed on copies, watched, and can be taken back",
        "service": "Run the computer as services of systemd, also after a boot",
        "completion": "Print the completion script for bash, zsh or fish",
        "version": "Show the version",
    },
}
"""The commands by section, each with its summary; the file in `commands/` that has one is imported when it is used."""

_SUMMARIES = {name: summary for section in SECTIONS.values() for name, summary in section.items()}
_FILES = {
    "start": "server",
    "stop": "server",
    "restart": "server",
    "undo": "changes",
    "resume": "panic",
    "version": "completion",
    "import": "import_",
}
"""The files of commands that are not called as their file."""

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
    file = importlib.import_module(f"parachute.cli.commands.{_FILES.get(name, name.replace('-', '_'))}")
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
