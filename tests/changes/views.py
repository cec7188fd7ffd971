"""A view of a project as a sandbox has it: a real overlay, in which a shell works; and the service that applies it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from parachute.base.database import Database
from parachute.changes import store
from parachute.changes.models import Applied
from parachute.changes.service import Changes
from parachute.config.settings.groups.agents import ChangesSettings
from tests.changes.listing import listed

GIT = {
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "A"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@example.org"),
    **dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), "/dev/null"),
}
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **GIT}


class Overlay:
    """A mounted view, in a mount namespace of its own."""

    def __init__(self, folder: Path, project: Path) -> None:
        self.upper, self.work, self.merged = (folder / name for name in ("upper", "work", "merged"))
        for each in (self.upper, self.work, self.merged):
            each.mkdir(parents=True, exist_ok=True)
        self._shell = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--mount", "bash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=ENVIRONMENT,
        )
        layers = f"lowerdir={project},upperdir={self.upper},workdir={self.work},userxattr"
        try:
            self.run(f"mount -t overlay overlay -o {layers} {self.merged} && cd {self.merged}", here=True)
        except AssertionError as error:
            self.close()
            pytest.skip(f"no overlay can be mounted here: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, script: str, *, here: bool = False) -> str:
        """Return the output of a script in the view, which has to succeed."""
        assert self._shell.stdin
        assert self._shell.stdout
        block = f"{{ {script}\n}} </dev/null" if here else f"( set -e; {script}\n) </dev/null"
        self._shell.stdin.write(f"{block}; echo; echo ENDED $?\n".encode())
        self._shell.stdin.flush()
        said = ""
        while not (line := self._shell.stdout.readline().decode(errors="replace")).startswith("ENDED"):
            assert line, said
            said += line
        assert line == "ENDED 0\n", said
        return said[:-1]

    def close(self) -> None:
        """End it; the upper layer stays."""
        assert self._shell.stdin
        assert self._shell.stdout
        self._shell.stdin.close()
        self._shell.wait()
        self._shell.stdout.close()


class World:
    """A project, the view of one session, and the service."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir(exist_ok=True)
        self.view = folder / "view"
        self.state = folder / "state"
        self.state.mkdir(exist_ok=True)
        self.settings = ChangesSettings(**settings)
        self.news = 0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.database.close()

    async def start(self) -> None:
        self.database = Database(self.state / "changes.db", store.ALL)
        await self.database.open()
        self.changes = Changes(self.settings, self.state / "changes", self.database, self._changed)
        await self.changes.start()

    async def restart(self) -> None:
        """As after the server has died."""
        await self.database.close()
        await self.start()

    def _changed(self) -> None:
        self.news += 1

    def mounted(self) -> Overlay:
        return Overlay(self.view, self.project)

    async def begin(self, **options: Any) -> int:
        return await self.changes.begin("s", self.project, self.view / "upper", **options)

    async def apply(self) -> Applied:
        """The end of a turn."""
        applied = await self.changes.apply("s", final=True)
        assert applied.problem is None
        return applied

    async def turn(self, script: str, meanwhile: Callable[[], object] = lambda: None, **options: Any) -> Applied:
        """A whole turn, in which the owner does something after the agent and before the end."""
        self.view.mkdir(exist_ok=True)
        (self.view / "upper").mkdir(exist_ok=True)
        with await asyncio.to_thread(self.mounted) as view:
            await self.begin(**options)
            await asyncio.to_thread(view.run, script)
            meanwhile()
            applied = await self.apply()
            self.seen = tree(view)
        return applied

    async def reasons(self) -> dict[str, str]:
        """Return the changes that wait, with their reasons."""
        return {each.path: each.reason for each in await self.changes.history.held("s")}

    def write(self, path: str, text: str = "mine\n") -> None:
        """A file of the owner's."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def read(self, path: str) -> str:
        return (self.project / path).read_text()

    def git(self, *arguments: str) -> str:
        """git as the owner."""
        command = ["git", *arguments]
        return subprocess.run(
            command, cwd=self.project, env=ENVIRONMENT, check=True, capture_output=True, text=True
        ).stdout


def tree(place: Path | Overlay) -> dict[str, str]:
    """Everything in a folder: kind, permissions and content by path."""
    if isinstance(place, Overlay):
        program = Path(__file__).with_name("listing.py")
        return dict(eval(place.run(f"{sys.executable} -IS {program}")))
    return listed(place)
