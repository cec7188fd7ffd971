"""Questions to the person at the terminal: on standard error, so that the output stays clean."""

import getpass
import sys
from collections.abc import Sequence

import typer

from parachute.cli.output import print_answer, print_json, print_note

NOT_ANSWERED = 3
"""The exit code when somebody has to say yes, and nobody is there to ask."""


def can_ask() -> bool:
    """True if a person sits at the terminal and sees the question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str | None:
    """Ask, and return the answer without spaces around it; None at the end of the input."""
    sys.stdout.flush()
    print(question, end=" ", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    return line.strip() if line else None


def agrees(question: str) -> bool:
    """A yes or no; anything but yes is no."""
    return (ask(f"{question} [y/N]") or "").lower() in ("y", "yes")


def confirm(question: str, nothing: str, *, yes: bool, as_json: bool = False) -> None:
    """Return once a person agrees, or `yes`; else say that `nothing` was done, and exit: 3 if nobody can answer, 1 for no."""
    if yes:
        return
    if as_json or not can_ask():
        print_note(f"{nothing} `--yes` agrees without a question.")
        raise typer.Exit(NOT_ANSWERED)
    if not agrees(question):
        print_note(nothing)
        raise typer.Exit(1)


def confirm_approval(waiting: Sequence[str], question: str, *, yes: bool, as_json: bool) -> None:
    """Ask whether what waits may run; exits as `confirm` does, after JSON that names what waits."""
    if waiting and not yes and as_json:
        print_json({"approved": [], "waiting": list(waiting)})
    if waiting:
        confirm(question, "Nothing was approved.", yes=yes, as_json=as_json)


def print_approved(names: Sequence[str], as_json: bool, none: str = "Nothing waits for approval.") -> None:
    """Print what was approved; `none` if nothing was."""
    print_answer({"approved": list(names), "waiting": []}, as_json, f"Approved: {', '.join(names)}." if names else none)


def secret(question: str) -> str:
    """Ask for a secret, which is not shown; exit code 1 at the end of the input."""
    try:
        return getpass.getpass(f"{question}: ")
    except EOFError:
        print_note("Nothing was changed.")
        raise typer.Exit(1) from None
