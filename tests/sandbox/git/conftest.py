"""git of this machine as a program behind the proxy, a git host in the test's internet, and decisions of the test."""

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from parachute_runner.egress_forward import Forwarder, git_environment

from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.models import Refused
from parachute.sandbox.git.models import ADDRESS, Access, Repository
from parachute.sandbox.git.service import GitService, Verdict
from parachute.sandbox.git.tokens import Tokens
from parachute.security.audit.decisions import Decisions
from tests.sandbox.egress.conftest import SECONDS
from tests.sandbox.egress.conftest import World as EgressWorld
from tests.sandbox.git.git_host import AUTHOR, HOST, TOKEN, GitHost


@dataclass
class Grants:
    """Decisions by repository and access; what is asked about is kept."""

    decided: dict[tuple[str, Access], Verdict] = field(default_factory=dict)
    asked: list[tuple[str, Access]] = field(default_factory=list)

    def verdict(self, repository: Repository, access: Access) -> Verdict:
        return self.decided.get((str(repository), access), "undecided")

    def refusal(self, repository: Repository, access: Access) -> Refused:
        self.asked.append((str(repository), access))
        return Refused(f"The owner was asked about {access} {repository}.", "Try again.")

    def allow(self, repository: str, *accesses: Access) -> None:
        for access in accesses or ("fetch", "push"):
            self.decided[repository, access] = "allowed"


class World(EgressWorld):
    """A proxy with a git service, and a host with a token."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.host = GitHost(folder / "host" / "repositories")
        self.grants = Grants()
        self.tokens = Tokens(folder / "state")
        (folder / "state").mkdir(mode=0o700)
        certificates = Certificates(self.host.authority.file)
        records = Decisions(self.audit, "agent", "agent:test", event_type="git")
        self.service = GitService(self.grants, self.tokens, certificates, records)
        self.home = folder / "home"
        self.home.mkdir()
        self._forwarder: Forwarder | None = None
        self._thread: threading.Thread | None = None

    async def open(self, *hosts: str, **limits: Any) -> None:
        """Open the line, with the git host behind it."""
        await super().open(*hosts, **limits)
        await self.egress.open("daily", hosts, self.path, private=True, services={ADDRESS: self.service})
        await self.host.join(self.internet)
        self.tokens.set(HOST, TOKEN)
        self._forwarder = Forwarder(str(self.path), 0)
        self._thread = threading.Thread(target=self._forwarder.serve)
        self._thread.start()

    async def git(self, *arguments: str, at: Path | None = None) -> tuple[int, str]:
        """(exit code, all that it says) of git behind the proxy."""
        assert self._forwarder is not None
        environment = {
            **{"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C"},
            **AUTHOR,
            **self._forwarder.environment(),
            **git_environment(),
        }
        process = await asyncio.create_subprocess_exec(
            "git",
            *arguments,
            cwd=at or self.home,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            output, _ = await asyncio.wait_for(process.communicate(), 5 * SECONDS)  # some are large
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return process.returncode or 0, output.decode()

    async def works(self, *arguments: str, at: Path | None = None) -> str:
        """Return the output of a git command that has to succeed."""
        code, output = await self.git(*arguments, at=at)
        assert code == 0, output
        return output

    async def fails(self, *arguments: str, at: Path | None = None) -> str:
        """Return the output of a git command that has to fail."""
        code, output = await self.git(*arguments, at=at)
        assert code != 0, output
        return output

    async def close(self) -> None:
        """End what was started."""
        for client in self.clients:
            client.transport.abort()
        await self.egress.close_all()
        if self._forwarder is not None and self._thread is not None:
            self._forwarder.close()
            await asyncio.to_thread(self._thread.join, SECONDS)
        await self.internet.close()
        await self.audit.close()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """See World; the folder has a short path because of its socket."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    made = World(folder)
    yield made
    await made.close()
    shutil.rmtree(folder)
