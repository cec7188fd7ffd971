"""Boxes for tests."""

import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from parachute.gateway.models import CredentialKind
from parachute.gateway.service import Line
from parachute.sandbox import bubblewrap
from parachute.sandbox.service import Execution, Sandboxes
from parachute.sessions.models import Session
from parachute.settings.models import SandboxSettings, Settings
from parachute.vault.service import Vault
from tests.sandbox.boxes import RUNNER, Box
from tests.supervisor.launching import Launcher, launcher

_unavailable = bubblewrap.unavailable()
needs_bubblewrap = pytest.mark.skipif(
    _unavailable is not None, reason=f"{_unavailable} `make test-deps` installs what is missing."
)


@pytest.fixture
def units_process() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher() as running:
        yield running


class Boxes:
    """Makes boxes as core does, of sessions that need no model."""

    def __init__(self, running: Launcher) -> None:
        self.launcher = running
        self.vault = Vault(running.folder / "Parachute")
        self.vault.prepare()
        for name in ("Daily", "Projects/one", "Projects/two", ".hidden"):
            (self.vault.root / name).mkdir(parents=True)
        (self.vault.root / "Daily/note.md").write_text("a note")
        (self.vault.root / ".hidden/secret").write_text("a secret")
        self.program = running.folder / "program"
        self.program.write_text('#!/bin/sh\nexec "$@"\n')
        self.program.chmod(0o755)
        self.sandboxes = self.service()

    def service(self, **settings_of_boxes: Any) -> Sandboxes:
        """Core's part."""
        sandbox = SandboxSettings(scratch_megabytes=16, **settings_of_boxes)
        settings = Settings(vault=self.vault.root, project_folders=[Path("/tmp")], sandbox=sandbox)
        return Sandboxes(self.launcher.home, settings, self.vault, self.program)

    def line(self, session: str) -> Line:
        """A line to a model that nobody answers."""
        folder = self.launcher.home.run / "sandbox" / session / "box"
        folder.mkdir(parents=True, exist_ok=True)
        return Line(session, folder, CredentialKind.API_KEY, "token")

    async def prepare(self, directory: Path | None = None, session: str | None = None) -> Execution:
        """Decide and prepare where a session runs."""
        row = Session(
            session or str(uuid.uuid4()), created_at="2026-01-01T00:00:00Z", updated_at="2026-01-01T00:00:00Z"
        )
        folder = self.sandboxes.check_directory(directory) if directory else None
        return await self.sandboxes.prepare(row, "sandboxed", folder, self.line(row.id))

    async def make(self, directory: Path | None = None, session: str | None = None) -> Box:
        """A box for a session."""
        identifier = session or str(uuid.uuid4())
        execution = await self.prepare(directory, identifier)
        return Box(execution.agent_socket, execution.directory, self.launcher, f"sandbox@{identifier}")


@pytest.fixture
def boxes(units_process: Launcher) -> Boxes:
    """A vault and its boxes."""
    return Boxes(units_process)


async def direct(running: Launcher) -> Box:
    """A runner without a box."""
    child = (sys.executable, "-m", "parachute.supervisor.child", str(running.process.pid))
    socket = await running.open("direct", *child, str(RUNNER), "--", "/usr/bin/env")
    return Box(socket, str(running.folder), running, "direct")


@pytest.fixture(params=["direct", pytest.param("bubblewrap", marks=needs_bubblewrap)])
async def box(request: pytest.FixtureRequest, units_process: Launcher) -> AsyncIterator[Box]:
    """A runner, in each engine."""
    if request.param == "direct":
        yield await direct(units_process)
    else:
        yield await Boxes(units_process).make()


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="pb-", dir="/tmp") as folder:
        yield Path(folder)
