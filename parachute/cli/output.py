"""Printing: colours and tables on a terminal, plain text in a pipe, or JSON."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

from msgspec import to_builtins

from parachute.cli.own_command import typed

_CONTROL = {number: None for number in (*range(32), *range(127, 160)) if number not in (9, 10)}
# Those that turn the direction of what follows: a line could show another order than it has.
_CONTROL |= dict.fromkeys((*range(8234, 8239), *range(8294, 8298)))
# JSON escapes the others itself; line ends outside of texts are its own.
_JSON_CONTROL = {number: f"\\u{number:04x}" for number in _CONTROL if number >= 127}


def clean(text: str) -> str:
    """The text without control characters: a model, or a title, must not drive the terminal."""
    return text.translate(_CONTROL)


def styled(text: str, code: str, stream: TextIO) -> str:
    """The text in an ANSI style (`2` dim, `1;31` bold red) where the stream is a terminal that shows it."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\033[{code}m{text}\033[0m"


def print_error(message: str, hint: str | None = None) -> None:
    """`Error: sentence` on standard error, and below it what to do next."""
    print(f"{styled('Error:', '1;31', sys.stderr)} {typed(clean(message))}", file=sys.stderr)
    if hint:
        print(typed(clean(hint)), file=sys.stderr)


def print_warning(message: str, hint: str | None = None) -> None:
    """`Warning: sentence` on standard error, and below it what to do next: all works, and something is still to be done."""
    print(f"{styled('Warning:', '1;33', sys.stderr)} {typed(clean(message))}", file=sys.stderr)
    if hint:
        print(typed(clean(hint)), file=sys.stderr)


def print_note(text: str) -> None:
    """A remark that is not output: dim, on standard error."""
    print(styled(typed(clean(text)), "2", sys.stderr), file=sys.stderr)


def as_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON in which no character drives a terminal: what JSON leaves as it is, is escaped here."""
    return json.dumps(value, indent=indent, ensure_ascii=False, default=to_builtins).translate(_JSON_CONTROL)


def print_json(value: Any) -> None:
    """A value as indented JSON."""
    print(as_json(value, indent=2))


def print_answer(value: Any, as_json: bool, text: str | Callable[[Any], object]) -> None:
    """A value as JSON, or a sentence about it, or what a function prints of it."""
    if as_json:
        print_json(value)
    elif isinstance(text, str):
        print(clean(text))
    else:
        text(value)


def print_rows(
    found: Any, as_json: bool, columns: Sequence[str], row: Callable[[Any], Sequence[str]], none: str, of: str = ""
) -> None:
    """Several things, or those in the field `of` of an answer: all of it as JSON, or a row for each; `none` if there are none."""
    if as_json:
        print_json(found)
    elif listed := found[of] if of else found:
        print_table(columns, [row(each) for each in listed])
    else:
        print_note(none)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Lines of a name and what is to say about it, in two columns."""
    width = max((len(name) for name, _ in facts), default=0)
    for name, text in facts:
        print(f"{name:<{width}}  {typed(clean(text))}".rstrip())


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table that fits the terminal, or in a pipe one line a row in aligned columns."""
    cells = [[clean(cell).replace("\n", " ").replace("\t", " ") for cell in row] for row in rows]
    if not sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        for row in (columns, *cells):
            print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
        return
    # Rich takes as long to import as everything else together, and only a terminal needs it.
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        # What comes first is what one types: a name, or an id.
        width = max((len(row[0]) for row in cells), default=0) if number == 0 else None
        table.add_column(column, min_width=width, no_wrap=number == 0)
    for row in cells:
        table.add_row(*row)
    Console(markup=False, emoji=False, highlight=False).print(table)


def as_text(value: Any) -> str:
    """A value of a setting as it can be typed."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def duration(seconds: float, units: int = 2) -> str:
    """A length of time in its largest units."""
    rest = int(seconds)
    parts = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:units]) or "0 s"


def money(dollars: float) -> str:
    """US dollars and cents."""
    return f"${dollars:,.2f}"


def counted(count: float, noun: str) -> str:
    """`1 processor`, `2 processors`."""
    number = f"{count:,}" if isinstance(count, int) else f"{count:g}"
    if count == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{number} {noun}s"


def size(count: int) -> str:
    """`812 bytes`, `70 kB`, `4.2 MB`, `420 MB`."""
    if count < 1000:
        return counted(count, "byte")
    amount, units = count / 1000, ["kB", "MB", "GB", "TB"]
    while amount >= 999.5 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    return f"{amount:.1f} {units[0]}" if amount < 9.95 and units[0] != "kB" else f"{amount:.0f} {units[0]}"


def local(moment: datetime | str | None, otherwise: str = "never") -> str:
    """`2026-11-22 16:33` on the clock of this machine; `otherwise` for None, and a text that is no time as it stands."""
    if not moment:
        return otherwise
    try:
        found = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return f"{found.astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return str(moment)


def ago(moment: str) -> str:
    """`2 min ago`, where it matters how long that is."""
    try:
        passed = int((datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())
    except (ValueError, TypeError):
        return "at an unknown time"
    # The largest unit alone: nobody asks for the seconds of an hour.
    return f"{duration(max(0, passed), units=1)} ago"


def by_meaning(found: dict[str, Any]) -> str:
    """The mark of what has none of the words that were searched for."""
    return " (by meaning)" if found.get("found_by") == "meaning" else ""
