"""How the results of `parachute doctor` look, and its questions."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from parachute.cli.output import clean, counted, print_error, print_json, print_note, print_table, styled
from parachute.doctor.models import Group, Level
from parachute.errors import ParachuteError

if TYPE_CHECKING:
    from parachute.doctor.models import Check, Examination

_WORDS = {Level.OK: "ok", Level.WARNING: "warning", Level.PROBLEM: "PROBLEM", Level.SKIPPED: "skipped"}


class Waiting:
    """A line on a terminal that says what is waited for; gone at the end."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> "Waiting":
        self._show()
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def done(self, name: str) -> None:
        """One of them has ended."""
        self._names.remove(name)
        self._show()

    def _show(self) -> None:
        if self._shown:
            names = ", ".join(self._names[:4]) + (", ..." if len(self._names) > 4 else "")
            sys.stderr.write("\r\033[K" + styled(f"Looking: {names}", "2", sys.stderr))
            sys.stderr.flush()


def print_checks(checks: "Mapping[str, Check]", as_json: bool) -> None:
    """Which checks there are."""
    if as_json:
        print_json([{"id": name, "title": each.title, "group": str(each.group)} for name, each in checks.items()])
    else:
        order = list(Group)
        found = sorted(checks.items(), key=lambda each: (order.index(each[1].group), each[0]))
        rows = [(str(each.group), name, each.title) for name, each in found]
        print_table(["About", "Check", "Title"], _grouped(rows))


def print_examinations(found: "list[Examination]") -> None:
    """The table of results, and below it what to do."""
    rows = [(str(each.check.group), each.id, _WORDS[each.result.level], each.result.message) for each in found]
    print_table(["About", "Check", "Result", "Found"], _grouped(rows))
    for each in found:
        if each.result.level in (Level.WARNING, Level.PROBLEM):
            print()
            print(f"{styled(each.id, '1', sys.stdout)}: {clean(each.result.message)}")
            for line in each.result.details:
                print(f"  {clean(line)}")
            if each.result.hint:
                print(f"  Next: {clean(each.result.hint)}")
    counts = Counter(each.result.level for each in found)
    print()
    print(", ".join(_counted(level, counts[level]) for level in Level if counts[level]) + ".")
    if any(each.result.fix for each in found):
        print_note("`parachute doctor --fix` mends some of it, and asks before each.")
    if wrong := counts[Level.PROBLEM]:
        print(f"{counted(wrong, 'thing')} {'does' if wrong == 1 else 'do'} not work.")
    else:
        print("Everything that was looked at works.")


def _counted(level: Level, count: int) -> str:
    return f"{count} {level.value}" if level in (Level.OK, Level.SKIPPED) else counted(count, level.value)


def mend(found: "list[Examination]", *, asks: bool, tells: bool) -> list[dict[str, object]]:
    """Carry out fixes, each after a question where `asks`; what was done, by check, and whether it succeeded."""
    done: list[dict[str, object]] = []
    for each in found:
        fix = each.result.fix
        if fix is None:
            continue
        if tells:
            print(f"\n{each.id}: {clean(each.result.message)}\n{clean(fix.summary)}")
        if asks and not _agrees():
            continue
        try:
            said = fix.apply()
        except (ParachuteError, OSError) as error:
            said = str(error)
            if tells:
                print_error(said)
            done.append({"id": each.id, "done": False, "message": said})
            continue
        if tells:
            print(clean(said))
        done.append({"id": each.id, "done": True, "message": said})
    return done


def _agrees() -> bool:
    import typer

    return typer.confirm("Do this?", default=False)


def _grouped(rows: "Iterable[tuple[str, ...]]") -> list[tuple[str, ...]]:
    """The rows, with the name of a group in the first of it only."""
    result: list[tuple[str, ...]] = []
    before = None
    for group, *rest in rows:
        result.append(("" if group == before else group, *rest))
        before = group
    return result
