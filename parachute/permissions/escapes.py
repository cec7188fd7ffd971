"""Options by which a program that is granted or listed starts another one, or writes a file: they need more than its name."""

import re
from dataclasses import dataclass

from parachute.permissions.script import SimpleCommand


@dataclass(frozen=True, slots=True)
class Escape:
    """Of one program: words that a pattern fits, long options (also shortened), and the first words of its subcommands."""

    words: str = r"(?!)"
    options: tuple[str, ...] = ()
    subcommands: tuple[str, ...] = ()


_ADDRESS = r"(?:\d+|\$|/(?:\\.|[^/])*/I?)"
_SED_COMMAND = rf"(?:^|[;{{}}\n]|^-n?e|^--expression=)\s*(?:{_ADDRESS}(?:[,~+]{_ADDRESS})?)?\s*!?\s*(?:[ewW]|\\)"
_SED_FLAGS = r"s([^\w\s\\])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpiImM0-9]*[ew]"
_AWK = r"system\s*\(|\||print[^;}\n]*>|^-[fiEl]|^@"

ESCAPES = {
    "git": Escape(
        r"^-c|^-[A-Za-z0-9]*O|^ext::|^foreach$|^-x$",
        (
            *("--exec-path", "--config-env", "--output", "--open-files-in-pager", "--upload-pack", "--receive-pack"),
            *("--ext-diff", "--textconv", "--exec", "--template", "--extcmd"),
        ),
        ("config", "difftool", "mergetool", "bisect", "filter-branch", "send-email", "daemon", "instaweb"),
    ),
    "rg": Escape(options=("--pre", "--hostname-bin")),
    "sort": Escape(r"^-[A-Za-z]*o", ("--compress-program", "--output")),
    "sed": Escape(rf"{_SED_COMMAND}|{_SED_FLAGS}|^-[nrEsuz]*[if]", ("--in-place", "--file")),
    **dict.fromkeys(
        ("awk", "gawk", "mawk", "nawk"), Escape(_AWK, ("--file", "--include", "--load", "--exec", "--source"))
    ),
    "tar": Escape(
        r"^-?[A-Za-z]*[IF]",
        (
            *("--checkpoint-action", "--to-command", "--use-compress-program", "--info-script", "--new-volume-script"),
            *("--rsh-command", "--rmt-command"),
        ),
    ),
    "find": Escape(r"^-(exec|execdir|ok|okdir|delete|fprint.*|fls)$"),
    "npm": Escape(subcommands=("exec", "x", "explore")),
    "man": Escape(r"^-[A-Za-z0-9]*[PH]", ("--pager", "--html")),
}
"""Programs whose whole purpose is to start others, such as python, make or npm run, are not here: who grants them grants everything."""


def escapes(command: SimpleCommand) -> bool:
    """Whether a command has a word by which it does more than its name says."""
    row = ESCAPES.get(command.program.rpartition("/")[2])
    if row is None:
        return False
    first = next((word for word in command.arguments if not word.text.startswith("-")), None)
    if first is not None and (first.text in row.subcommands or first.shifts or first.leading_unknown):
        return True
    texts = [word.text for word in command.arguments]
    return any(re.search(row.words, text, re.DOTALL) or _is_option(text, row) for text in texts)


def _is_option(text: str, row: Escape) -> bool:
    name = text.partition("=")[0]
    return len(name) > 3 and text.startswith("--") and any(option.startswith(name) for option in row.options)
