"""A Bash command line as a flat list of the simple commands it would run."""

from pathlib import Path

from parachute.permissions.script import CommandLine, State, Stream
from parachute.permissions.walker import Walker
from parachute.permissions.words import Unparsable


def parse(line: str, folder: str | Path, user_home: str | Path) -> CommandLine:
    """Parse a command line that runs in the folder; `Unparsable` with a sentence for all that is not understood completely.

    What pipes, lists, substitutions, shells, wrappers, here-documents and functions would start stands in the list itself.
    """
    state = State(str(user_home), [str(folder)])
    _walk(line, state)
    if state.variables or (state.repeats and len(state.folders) > 1):
        # A loop or function may use what is assigned further down, so a second walk starts with all that the first found.
        folders = state.folders if state.repeats else [str(folder)]
        lost = state.lost and state.repeats
        state = State(str(user_home), list(folders), lost, variables=state.variables)
        _walk(line, state)
    return CommandLine(
        tuple(state.commands), frozenset(state.functions), _fork_bombs(state), "dotglob" in line or "GLOBIGNORE" in line
    )


def _walk(line: str, state: State) -> None:
    try:
        Walker(state).parse(line, Stream.EMPTY)
    except RecursionError:
        raise Unparsable("The command line is nested too deeply.", "Run it in simpler parts.") from None


def _fork_bombs(state: State) -> frozenset[str]:
    """Return the functions that call themselves, also by way of another, while running several things at once."""
    found: set[str] = set()
    for name in state.functions:
        reached: set[str] = set()
        waiting = [name]
        while waiting:
            for called in state.functions.get(waiting.pop(), ()):
                if called in state.functions and called not in reached:
                    reached.add(called)
                    waiting.append(called)
        if name in reached and state.multiplying & reached:
            found.add(name)
    return frozenset(found)
