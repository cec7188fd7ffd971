"""The examination of `parachute doctor`: its results, and fixes after a question."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from msgspec.structs import replace

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.cli.api import Api, quoted
from parachute.cli.asking import agrees
from parachute.cli.output import clean, counted, print_error, print_json, print_note, print_table, styled
from parachute.config.settings.home import Home
from parachute.ops.doctor.checks import all_checks, named
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.findings import record, record_repair
from parachute.ops.doctor.models import Check, Examination, Group, Level
from parachute.ops.doctor.running import examine, has_problem

_WORDS = {Level.OK: "ok", Level.WARNING: "warning", Level.PROBLEM: "PROBLEM", Level.SKIPPED: "skipped"}
_DETAILS = 10
"""Lines of one problem that are shown unless all is wanted."""


def print_checks(names: list[str], as_json: bool) -> None:
    """Print which checks there are."""
    order, checks = list(Group), named(names)
    if as_json:
        print_json([{"id": name, "title": each.title, "group": str(each.group)} for name, each in checks.items()])
        return
    found = sorted(checks.items(), key=lambda each: (order.index(each[1].group), each[0]))
    print_table(["About", "Check", "Title"], _grouped((str(each.group), name, each.title) for name, each in found))


def examine_computer(
    names: list[str], *, fix: bool, yes: bool, shows_all: bool, as_json: bool, records: bool, key: str
) -> bool:
    """Run the checks, fix what can be fixed if asked to, and print the results; whether a problem is left."""
    checks = named(names)
    shown = shows_all or bool(names)
    hint = "`parachute doctor --fix --yes` mends without asking."
    if yes and not fix:
        raise InvalidInput("--yes belongs to --fix.", hint, key="yes_without_fix")
    if fix and not yes and (as_json or not sys.stdin.isatty()):
        raise InvalidInput("Cannot ask: no terminal.", hint, key="cannot_ask")
    found = _examine(checks, as_json, records, shows_all=shown)
    wanted = [each for each in found if not key or each.key == key]
    fixed = _mend(wanted, asks=not yes, shows=not as_json) if fix else []
    if fixed:
        # Anew: what was mended may have been the reason for something else.
        if not as_json:
            print()
        found = _examine(checks, as_json, records, shows_all=shown)
    if as_json:
        print_json({"problem": has_problem(found), "checks": [each.as_json() for each in found], "fixed": fixed})
    return has_problem(found)


def _examine(checks: Mapping[str, Check], as_json: bool, records: bool, *, shows_all: bool) -> list[Examination]:
    with _Waiting(checks) as waiting:
        computer = _computer()
        found = examine(computer, checks, waiting.done)
    if records or computer.core_runs:  # else a look leaves nothing behind
        with suppress(OSError):  # on a full disk, of which the check of it tells
            record(computer.home.root, found, is_whole=checks.keys() == all_checks().keys())
    if not as_json:
        _print_examinations(found, shows_all=shows_all)
    return found


def _computer() -> Computer:
    """The computer, with what only core knows where that runs."""
    home = Home.named()
    computer = Computer.inspect(home)
    if computer.supervisor is None or not computer.core_runs:
        return computer
    try:
        api = Api.of_status(home, computer.supervisor)
        found = api.get("/api/status")
    except (ParachuteError, OSError):
        return computer  # the check of what runs says what is wrong
    computer = replace(computer, provider=found["provider"], memory=found.get("memory"), meaning=found.get("meaning"))
    unread = [_unread(api, module) for module in ("brain", "daily")]
    known = [files for files in unread if files is not None]
    return replace(
        computer,
        unread=[each for files in known for each in files] if known else None,
        restart_module=lambda name: api.post(f"/api/modules/{quoted(name)}/restart"),
    )


def _unread(api: Api, module: str) -> list[dict[str, str]] | None:
    """Return the files that a module cannot read whole, None where it cannot be asked."""
    try:
        found: list[dict[str, str]] = api.get(f"/api/{module}/problems")["problems"]
    except (ParachuteError, OSError):
        return None
    return found


class _Waiting:
    """A line on a terminal with the checks that still run; gone at the end."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> "_Waiting":
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


def _print_examinations(found: list[Examination], *, shows_all: bool) -> None:
    """Print problems and what to do about them, the worst first; the table of all results before them if it is wanted."""
    if shows_all:
        rows = [(str(each.check.group), each.id, _WORDS[each.result.level], each.result.message) for each in found]
        print_table(["About", "Check", "Result", "Found"], _grouped(rows))
        print()
    for each in sorted(found, key=lambda each: each.result.level is not Level.PROBLEM):
        if each.result.level in (Level.WARNING, Level.PROBLEM):
            print(f"{_WORDS[each.result.level]} {styled(each.id, '1', sys.stdout)}: {clean(each.result.message)}")
            details = each.result.details if shows_all else each.result.details[:_DETAILS]
            for line in details:
                print(f"  {clean(line)}")
            if more := len(each.result.details) - len(details):
                print(f"  and {more} more: `parachute doctor {each.id}`")
            if each.result.hint:
                print(f"  Next: {clean(each.result.hint)}")
            print()
    counts = Counter(each.result.level for each in found)
    if fine := counts[Level.OK]:
        skipped = f", {counts[Level.SKIPPED]} do not apply" if counts[Level.SKIPPED] else ""
        hint = "" if shows_all else " (`--all`)"
        print(f"{counted(fine, 'check')} {'is' if fine == 1 else 'are'} fine{skipped}{hint}.")
    if any(each.result.fix for each in found):
        print_note("`parachute doctor --fix` mends some of it, and asks before each.")
    warnings = counts[Level.WARNING]
    also = f"; {counted(warnings, 'warning')}" if warnings else ""
    if wrong := counts[Level.PROBLEM]:
        print(f"{counted(wrong, 'thing')} {'does' if wrong == 1 else 'do'} not work{also}.")
    else:
        print(f"Everything works{also}." if warnings else "All checks passed.")


def _mend(found: list[Examination], *, asks: bool, shows: bool) -> list[dict[str, object]]:
    """Carry out fixes, each after a question where `asks`; what was done, by check, and whether it succeeded."""
    done: list[dict[str, object]] = []
    for each in found:
        fix = each.result.fix
        if fix is None:
            continue
        if shows:
            print(f"\n{each.id}: {clean(each.result.message)}\n{clean(fix.summary)}")
        if asks and not agrees("Do this?"):
            continue
        try:
            said, is_done = fix.apply(), True
        except (ParachuteError, OSError) as error:
            said, is_done = str(error), False
        if shows and is_done:
            print(clean(said))
        elif shows:
            print_error(said)
        done.append({"id": each.id, "done": is_done, "message": said})
        with suppress(OSError):  # on a full disk the repair counts all the same
            record_repair(Home.named().root, each.id, said, done=is_done)
    return done


def _grouped(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows, with the name of a group in the first of it only."""
    result: list[tuple[str, ...]] = []
    before = None
    for group, *rest in rows:
        result.append(("" if group == before else group, *rest))
        before = group
    return result
