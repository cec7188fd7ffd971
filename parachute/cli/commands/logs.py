"""`parachute logs`: what the processes said."""

import sys
import time

import typer

from parachute.cli.commands import group
from parachute.cli.output import clean, print_note
from parachute.config.settings.home import Home
from parachute.ops.logs import files as log_files
from parachute.ops.logs.files import Follower

_POLL_SECONDS = 0.2


def logs(
    name: str = typer.Argument("", help="supervisor, core, model, a module, a messenger, ...; all if none is named."),
    lines: int = typer.Option(50, "--limit", "--lines", "-n", min=1, max=100_000, help="How many lines of each."),
    follow: bool = typer.Option(False, "--follow", "-f", help="Follow the log until Ctrl-C."),
) -> None:
    """Show the last lines of the logs."""
    home = Home.find()
    if name:
        name = log_files.find(home, name)
    names = [name] if name else log_files.names(home)
    if not names:
        print_note("There are no logs: nothing has run yet.")
    followers = {}
    for number, each in enumerate(names):
        path = home.logs / f"{each}.log"
        until = None
        if follow:
            followers[each] = Follower(path, at_end=True)
            until = followers[each].position
        if not name:
            print(f"{'' if number == 0 else chr(10)}==> {each} <==")
        _show(log_files.tail(path, lines, until=until))
    if follow:
        try:
            _follow(home, name, followers, names[-1] if names else "")
        except BrokenPipeError:
            pass  # whoever read it has gone


app = group(logs)


def _follow(home: Home, name: str, followers: dict[str, Follower], shown: str) -> None:
    while True:
        for each in [name] if name else log_files.names(home):
            if each not in followers:
                followers[each] = Follower(home.logs / f"{each}.log", at_end=False)
            found = followers[each].lines()
            if found and each != shown:
                print(f"\n==> {each} <==")
                shown = each
            _show(found)
        sys.stdout.flush()
        time.sleep(_POLL_SECONDS)


def _show(lines: list[str]) -> None:
    for line in lines:
        print(clean(line))
