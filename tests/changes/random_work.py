"""Random work of an agent and an owner in a project, wherever the agent is; `random_work.py PROJECT` writes as the owner.

It reads JSON of what to write from its standard input, and prints what it wrote.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from hypothesis import strategies as st

NAMES = ("a", "b", "c")
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
WORDS = st.sampled_from(("x", "yy", "zzz"))

OPERATIONS = st.one_of(
    st.builds("mkdir -p {}".format, PATHS),
    st.builds("mkdir -p $(dirname {0}) && echo {1} > {0}".format, PATHS, WORDS),
    st.builds("echo {1} >> {0}".format, PATHS, WORDS),
    st.builds("mv -T {} {}".format, PATHS, PATHS),
    st.builds("rm -rf {}".format, PATHS),
    st.builds("rmdir {}".format, PATHS),
    st.builds("chmod {1} {0}".format, PATHS, st.sampled_from(("700", "755", "640", "600", "555"))),
    st.builds("ln -s {1} {0}".format, PATHS, st.sampled_from(("a", "b/c", "nowhere"))),
    st.builds("ln -T {} {}".format, PATHS, PATHS),
    st.builds("git -C {0} init -q; echo {1} > {0}/.envrc".format, PATHS, WORDS),
    st.builds("cp -r {} {}".format, PATHS, PATHS),
)
WORK = st.lists(OPERATIONS, min_size=1, max_size=8).map(lambda each: "\n".join(f"({one}) || true" for one in each))
OWNERS = st.lists(st.tuples(PATHS, WORDS), max_size=3)

Owners = Sequence[tuple[str, str]]


def own(project: Path, changes: Owners) -> dict[str, str]:
    """Write files of the owner's wherever they can be; what was written."""
    written = {}
    for path, text in changes:
        file = project / path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"owner {text}\n")
        except OSError:
            continue
        written[str(file.resolve().relative_to(project.resolve()))] = f"owner {text}\n"
    return written


class Place(Protocol):
    """A computer with a project in which an agent works."""

    def clear(self) -> None:
        """Begin with an empty project."""

    def own(self, changes: Owners) -> dict[str, str]:
        """Write files of the owner's; what was written."""

    def listed(self) -> dict[str, str]:
        """Everything in the project."""

    def read(self, path: str) -> str:
        """A file of the project."""

    def turn(self, script: str, meanwhile: Callable[[], object]) -> None:
        """A turn in which an agent runs a script in its sandbox while the owner does something."""

    def undo(self) -> None:
        """Take the turn back, if it has changed anything."""


def comes_back(place: Place, before: Owners, script: str, meanwhile: Owners) -> None:
    """Have both work at the same time, and see that an undo brings the project back and leaves what is the owner's."""
    place.clear()
    place.own(before)
    state = place.listed()
    kept: dict[str, str] = {}
    place.turn(script, lambda: kept.update(place.own(meanwhile)))
    place.undo()
    owners = {str(above) for path in kept for above in (Path(path), *Path(path).parents)}
    found = place.listed()
    assert {path: what for path, what in found.items() if path not in owners} == {
        path: what for path, what in state.items() if path not in owners
    }
    for path, text in kept.items():
        assert place.read(path) == text


def main() -> None:
    """Write as the owner."""
    json.dump(own(Path(sys.argv[1]), json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
