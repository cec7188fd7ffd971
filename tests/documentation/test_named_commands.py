"""Every command that a sentence or a table names is one of the command line, with the options that it names."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from parachute.cli.main import application

from . import pages

_PROGRAM = "parachute "
_OPTION = re.compile(r"--[a-z][a-z-]*")
_BRACKETS = str.maketrans("", "", "[]()…")
COMMANDS: Any = typer.main.get_command(application())


def _named(page: str) -> Iterator[tuple[str, str]]:
    for block in pages.blocks(page):
        if block.is_typed:
            yield from ((line.place, line.command) for line in block.lines())
    for place, codes in pages.inline(page):
        is_begun = False
        for code in codes:
            is_begun |= code.startswith(_PROGRAM)
            # "`parachute keys list`, `keys revoke NAME`"
            is_short = is_begun and code.partition(" ")[0] in COMMANDS.commands
            yield place, f"{_PROGRAM}{code}" if is_short else code


def _problem(text: str) -> str | None:
    """Return the problem of a command, or None."""
    words = shlex.split(text.translate(_BRACKETS), comments=True)[1:]
    command = COMMANDS
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        name = words.pop(0).partition("|")[0]
        if name not in command.commands:
            return f"there is no {name!r}"
        command = command.commands[name]
    if "--" in words:
        words = words[: words.index("--")]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    unknown = set(_OPTION.findall(" ".join(word for word in words if word.startswith("--")))) - known - {"--help"}
    return f"there is no {', '.join(sorted(unknown))}" if unknown else None


@pytest.mark.parametrize("page", pages.names())
def test_it_exists(page: str) -> None:
    wrong = {
        f"{place}: {text}": problem
        for place, text in _named(page)
        if text.startswith(_PROGRAM) and (problem := _problem(text))
    }
    assert wrong == {}
