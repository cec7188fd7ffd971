"""What is offered after the start of a new computer: the program on the PATH, and the official modules; twice at most."""

import json
import sys

from parachute.cli import own_command
from parachute.cli.output import print_note
from parachute.files import atomic_write
from parachute.settings.home import Home

_OFFERS = 2


def offer(home: Home) -> None:
    """Ask what there is to ask, where somebody is there to answer; else say how to get it."""
    if own_command.can_be_linked() and _may_ask(home, "link"):
        _offer_link()
    _offer_modules(home)


def _offer_link() -> None:
    if not _yes("Link `parachute` into ~/.local/bin, so that your shell finds it? [Y/n]"):
        return
    try:
        own_command.make_link()
    except OSError as error:
        print_note(f"{own_command.link()} cannot be made: {error.strerror}.")
        return
    if line := own_command.line_for_shell():
        print(f"New shells find it after: {line}")


def _offer_modules(home: Home) -> None:
    from parachute.cli.commands.setup import OFFICIAL, setup
    from parachute.cli.official_modules import OfficialModules

    missing = OfficialModules(home).missing(OFFICIAL.split(","), silent=True)
    if not missing:
        return
    if _may_ask(home, "modules"):
        print("\nThe journal, the knowledge base and their chats are modules.")
        setup(modules=",".join(missing), yes=False)
    elif not (home.root / "modules.yaml").exists():
        print_note("Install the journal, the knowledge base and their chats: `parachute setup`")


def _may_ask(home: Home, what: str) -> bool:
    """Whether somebody is there who was not asked often enough; from now on once more."""
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


def _yes(question: str) -> bool:
    sys.stdout.flush()
    print(f"{question} ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    return bool(line) and line.strip().lower() not in ("n", "no")
