"""The modules that came with the computer, offered at a terminal in one question."""

import sys
from collections.abc import Iterable, Sequence

from parachute.cli.output import clean, print_note
from parachute.errors import Conflict, NotFound
from parachute.manifest.short import in_short
from parachute.modules.consent import Question
from parachute.modules.models import State
from parachute.modules.service import Modules
from parachute.modules.sources import official_module
from parachute.settings.home import Home
from parachute.settings.store import load


class OfficialModules:
    """What of them is installed, what the others ask for, and their installation."""

    def __init__(self, home: Home) -> None:
        vault = load(home).vault
        vault.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._service = Modules(home, vault)

    def missing(self, names: Iterable[str], *, silent: bool = False) -> list[str]:
        """Those of the names that are not installed; says why of the others. Error: NotFound for a name that there is not."""
        names = list(names)
        for name in names:
            official_module(name)  # before anything is installed: one of them may be misspelt
        found = {name: self._problem(name) for name in names}
        for problem in found.values():
            if problem and not silent:
                print_note(problem)
        return [name for name, problem in found.items() if problem is None]

    def question(self, name: str) -> Question:
        """What is asked about one; nothing of it is in place."""
        with self._service.installing(f"parachute://{name}") as installation:
            return installation.question

    def install(self, question: Question) -> None:
        """Install what the user has said yes to; error: Conflict if it is not what was shown."""
        with self._service.installing(f"parachute://{question.module.name}") as installation:
            if installation.module.hash != question.module.hash:
                raise Conflict(f"The module {question.module.name} has changed since it was shown.", "Try again.")
            installation.finish()

    def _problem(self, name: str) -> str | None:
        try:
            found = self._service.status(name)
        except NotFound:
            return None
        if found.declared:
            return f"The module {name} is declared by the system's configuration."
        return None if found.state is State.NOT_INSTALLED else f"The module {name} is installed already."


def print_questions(questions: Sequence[Question]) -> None:
    """Everything that the modules may do."""
    for question in questions:
        print(f"\n{clean(question.as_text())}\n", flush=True)


def choose(questions: Sequence[Question]) -> list[Question]:
    """Which of the modules the person at the terminal wants: Enter is all of them."""
    print("Each module can use only what is listed here:")
    for question in questions:
        print(clean("\n".join(["", *in_short(question.asked)])))
    names = [question.module.name for question in questions]
    print("\n`each` asks about each by itself, and shows all that it may do.")
    said = _answer(f"Install {_listed(names)}? [Y/n/each]")
    if said in ("n", "no"):
        return []
    if said not in ("e", "each"):
        return list(questions)
    chosen = []
    for question in questions:
        print_questions([question])
        if _answer(f"{question.sentence} [Y/n]") not in ("n", "no"):
            chosen.append(question)
    return chosen


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _answer(question: str) -> str:
    """What was typed, in small letters; what is neither yes nor no is asked again, and the end of the input is no."""
    while True:
        sys.stdout.flush()
        print(f"{question} ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        said = line.strip().lower()
        if not line or said in ("", "y", "yes", "n", "no") or ("/each]" in question and said in ("e", "each")):
            return said if line else "n"
