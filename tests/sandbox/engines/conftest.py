"""Sandboxes for tests."""

import json
import shutil
import socket
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from parachute.chat.sessions.models import Session
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.config.settings.groups.sandbox import SandboxSettings
from parachute.config.settings.models import Settings
from parachute.config.vault.service import Vault
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.models import CredentialKind
from parachute.sandbox.engines import bubblewrap
from parachute.sandbox.engines.execution import Execution
from parachute.sandbox.engines.service import Sandboxes
from tests.sandbox.engines.sandboxes import RUNNER, Sandbox
from tests.supervisor.launching import Launcher, launcher

_unavailable = bubblewrap.unavailable()
needs_bubblewrap = pytest.mark.skipif(
    _unavailable is not None, reason=f"{_unavailable} `make test-deps` installs what is missing."
)


class SharedLauncher:
    """One supervisor without a server for many tests, each of which finds it as if it were new."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._launcher: Launcher | None = None

    def take(self) -> Launcher:
        """The supervisor; another one if a test has ended it."""
        if self._launcher is None or self._launcher.process.poll() is not None:
            self.close()
            self._launcher = self._running.enter_context(launcher())
        return self._launcher

    def tidy(self) -> None:
        """Close all units, and remove whatever is not of the supervisor itself."""
        if self._launcher is None or self._launcher.process.poll() is not None:
            return
        for unit in self._ask("status")["units"]:
            self._ask("close_unit", name=unit["name"])
        home = self._launcher.home
        for folder, kept in ((self._launcher.folder, {home.root}), (home.root, {home.run, home.logs})):
            for path in set(folder.iterdir()) - kept:
                path.unlink() if path.is_symlink() or path.is_file() else shutil.rmtree(path)
        for path in filter(Path.is_dir, home.run.iterdir()):
            shutil.rmtree(path)

    def close(self) -> None:
        """End it."""
        self._running.close()
        self._launcher = None

    def _ask(self, operation: str, **fields: Any) -> dict[str, Any]:
        assert self._launcher is not None
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._launcher.home.control_socket))
            connection.sendall(json.dumps({"operation": operation, **fields}).encode() + b"\n")
            answer: dict[str, Any] = json.loads(connection.makefile("rb").readline())
        assert answer["ok"], answer
        return answer


@pytest.fixture(scope="session")
def shared_launcher() -> Iterator[SharedLauncher]:
    """The supervisor of all tests that run in this process."""
    shared = SharedLauncher()
    yield shared
    shared.close()


@pytest.fixture
def units_process(shared_launcher: SharedLauncher) -> Iterator[Launcher]:
    """A supervisor without a server."""
    yield shared_launcher.take()
    shared_launcher.tidy()


class SandboxFactory:
    """Makes sandboxes as the server does, for sessions that need no model."""

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
        self.service = self.make_service()

    def make_service(self, **settings_of_sandboxes: Any) -> Sandboxes:
        """The server's side."""
        sandbox = SandboxSettings(scratch_megabytes=16, **settings_of_sandboxes)
        # Without a view asked for, agents write to their project themselves.
        changes = ChangesSettings(apply="live")
        settings = Settings(vault=self.vault.root, project_folders=[Path("/tmp")], sandbox=sandbox, changes=changes)
        return Sandboxes(self.launcher.home, settings, self.vault, self.program)

    def endpoint(self, session: str) -> ModelEndpoint:
        """A model endpoint that nobody answers."""
        folder = self.launcher.home.run / "sandbox" / session / "sandbox"
        folder.mkdir(parents=True, exist_ok=True)
        return ModelEndpoint(session, folder, CredentialKind.API_KEY, "token")

    async def prepare(self, directory: Path | None = None, session: str | None = None, **given: Any) -> Execution:
        """Decide and prepare where a session runs."""
        row = Session(
            session or str(uuid.uuid4()), created_at="2026-01-01T00:00:00Z", updated_at="2026-01-01T00:00:00Z"
        )
        folder = self.service.check_directory(directory) if directory else None
        return await self.service.prepare(row, "sandboxed", folder, self.endpoint(row.id), **given)

    async def make(self, directory: Path | None = None, session: str | None = None, **given: Any) -> Sandbox:
        """A sandbox for a session; what is `given` is that of `Sandboxes.prepare`."""
        identifier = session or str(uuid.uuid4())
        execution = await self.prepare(directory, identifier, **given)
        return Sandbox(execution.agent_socket, execution.directory, self.launcher, f"sandbox@{identifier}")


@pytest.fixture
def sandboxes(units_process: Launcher) -> SandboxFactory:
    """A vault and its sandboxes."""
    return SandboxFactory(units_process)


async def direct(running: Launcher) -> Sandbox:
    """A runner without a sandbox."""
    child = (sys.executable, "-m", "parachute.supervisor.children.child", str(running.process.pid))
    path = await running.open("direct", *child, str(RUNNER), "--", "/usr/bin/env")
    return Sandbox(path, str(running.folder), running, "direct")


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="pb-", dir="/tmp") as folder:
        yield Path(folder)
