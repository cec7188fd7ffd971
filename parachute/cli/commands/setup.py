"""`parachute setup`: the official modules on a new computer; and what is offered after its first starts."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from parachute.base.errors import Conflict, InvalidInput, NotFound
from parachute.base.files import atomic_write
from parachute.cli import own_command
from parachute.cli.asking import NOT_ANSWERED, ask, can_ask
from parachute.cli.commands import YES, group
from parachute.cli.installation import modules as installed_modules
from parachute.cli.modules import reload_server
from parachute.cli.output import clean, print_note
from parachute.config.settings.home import Home
from parachute.config.vault.place import VaultPlace
from parachute.modules.trees.sources import official_module

if TYPE_CHECKING:
    from parachute.modules.registry.consent import Question
    from parachute.modules.registry.service import Modules

OFFICIAL = "brain,daily,chat,imports"
_OFFERS = 2


def setup(
    modules: str = typer.Option(OFFICIAL, "--modules", help="Names of official modules, with commas."),
    yes: bool = YES,
) -> None:
    """Install the journal, the knowledge base, their chats and imports; what is installed already stays as it is."""
    names = [name.strip() for name in modules.split(",") if name.strip()]
    if not names:
        raise InvalidInput("--modules: name at least one, such as daily.", key="no_modules_named")
    home = Home.find()
    service = _service(home)
    questions = []
    for name in _missing(service, names):
        with service.installing(f"parachute://{name}") as installation:
            questions.append(installation.question)  # nothing of it is in place
    if not questions:
        return
    if yes or not can_ask():
        _print_questions(questions)
    if yes:
        chosen = questions
    elif can_ask():
        chosen = _choose(questions)
    else:
        print_note("Nothing was installed. `--yes` agrees without a question.")
        raise typer.Exit(NOT_ANSWERED)
    try:
        for question in chosen:
            _install(service, question)
            print(f"✓ Module '{question.module.name}' installed and approved")
    finally:
        address = reload_server(home) if chosen else None
    if left := [question.module.name for question in questions if question not in chosen]:
        _say(f"Not installed: {', '.join(left)}. Later: `parachute setup --modules {','.join(left)}`")
    if address:
        _say('Try: `parachute daily add "Today I …"`')
    elif chosen:
        _say("Start the computer to load them: `parachute start`")


app = group(setup)


def offer(home: Home) -> None:
    """Offer the program on the PATH and the official modules, twice at most; where nobody can answer, name the command."""
    if own_command.can_be_linked() and _may_ask(home, "link"):
        _offer_link()
    missing = _missing(_service(home), OFFICIAL.split(","), silent=True)
    if missing and _may_ask(home, "modules"):
        print("\nThe journal, the knowledge base and their chats are modules.")
        setup(modules=",".join(missing), yes=False)
    elif missing and not (home.root / "modules.yaml").exists():
        print_note("Install the journal, the knowledge base, their chats and imports: `parachute setup`")


def _offer_link() -> None:
    if _answer("Link `parachute` into ~/.local/bin, so that your shell finds it? [Y/n]") in ("n", "no"):
        return
    try:
        own_command.make_link()
    except OSError as error:
        print_note(f"{own_command.link()} cannot be made: {error.strerror}.")
        return
    if line := own_command.line_for_shell():
        print(f"New shells find it after: {line}")


def _may_ask(home: Home, what: str) -> bool:
    """True if somebody is there who was not asked often enough; counts this time."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    path = home.root / "offers.json"
    try:
        asked = json.loads(path.read_text())
        count = int(asked.get(what, 0))
    except (OSError, ValueError, AttributeError, TypeError):
        asked, count = {}, 0
    if count >= _OFFERS:
        return False
    atomic_write(path, json.dumps({**asked, what: count + 1}) + "\n")
    return True


def _service(home: Home) -> "Modules":
    service = installed_modules(home)
    VaultPlace(home.root, service.places.vault).check()
    service.places.vault.mkdir(mode=0o700, parents=True, exist_ok=True)
    return service


def _missing(service: "Modules", names: Sequence[str], *, silent: bool = False) -> list[str]:
    """Choose the modules that are not installed; prints why of the others. Error: NotFound for a name that there is not."""
    for name in names:
        official_module(name)  # before anything is installed: one of them may be misspelt
    found = {name: _installed(service, name) for name in names}
    for problem in found.values():
        if problem and not silent:
            print_note(problem)
    return [name for name, problem in found.items() if problem is None]


def _installed(service: "Modules", name: str) -> str | None:
    try:
        found = service.status(name)
    except NotFound:
        return None
    if found.declared:
        return f"The module {name} is declared by the system's configuration."
    return None if found.state == "not_installed" else f"The module {name} is installed already."


def _install(service: "Modules", question: "Question") -> None:
    """Install what the user has said yes to; error: Conflict if it is not what was shown."""
    with service.installing(f"parachute://{question.module.name}") as installation:
        if installation.module.hash != question.module.hash:
            raise Conflict(
                f"The module {question.module.name} has changed since it was shown.", "Try again.", key="module_changed"
            )
        installation.finish()


def _choose(questions: Sequence["Question"]) -> list["Question"]:
    """Ask which of the modules to install: Enter is all of them."""
    # YAML
    from parachute.modules.manifest.consents import summary

    print("Each module can use only what is listed here:")
    for question in questions:
        print(clean("\n".join(["", *summary(question.asked)])))
    names = [question.module.name for question in questions]
    print("\n`each` asks about each by itself, and shows all that it may do.")
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    said = _answer(f"Install {listed}? [Y/n/each]")
    if said in ("n", "no"):
        return []
    if said not in ("e", "each"):
        return list(questions)
    chosen = []
    for question in questions:
        _print_questions([question])
        if _answer(f"{question.sentence} [Y/n]") not in ("n", "no"):
            chosen.append(question)
    return chosen


def _print_questions(questions: Sequence["Question"]) -> None:
    for question in questions:
        print(f"\n{clean(question.as_text())}\n", flush=True)


def _answer(question: str) -> str:
    """The answer in small letters; what is neither yes nor no is asked again, and the end of the input is no."""
    while True:
        said = ask(question)
        if said is None:
            return "n"
        said = said.lower()
        if said in ("", "y", "yes", "n", "no") or ("/each]" in question and said in ("e", "each")):
            return said


def _say(text: str) -> None:
    print(own_command.typed(text))
