"""Package managers and a compiler in a sandbox: through the proxy, and into places that are large enough."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.sandbox.egress.models import Network
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.layout import EGRESS_SOCKET
from parachute.security.audit.service import Audit
from tests.sandbox.egress.internet import PUBLIC, Internet
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.sandboxes import Sandbox
from tests.support.package_index import PackageIndex

pytestmark = [needs_bubblewrap, pytest.mark.long]

HOST = "index.example.org"
SESSION = "6f0f4c1e-0000-4000-8000-000000000001"


class World:
    """A sandbox of a project that reaches one host, and what is there."""

    def __init__(self, folder: Path, sandboxes: SandboxFactory) -> None:
        self.sandboxes = sandboxes
        self.project = sandboxes.vault.root / "Projects/one"
        self.index = PackageIndex()
        self.index.at(HOST)
        self.internet = Internet()
        self.internet.names[HOST] = [[PUBLIC]]
        self.audit = Audit(folder / "audit")
        self.egress = Egress(self.audit, resolve=self.internet.resolve, connect=self.internet.connect)

    async def open(self, session: str = SESSION, directory: Path | None = None) -> None:
        """Make the sandbox."""
        network = Network("list", (HOST,))
        await self.internet.serve(PUBLIC, 80, self.index)
        path = self.sandboxes.endpoint(session).folder / EGRESS_SOCKET
        await self.egress.open(session, network.hosts, path)
        self.sandbox: Sandbox = await self.sandboxes.make(directory or self.project, session, network=network)

    async def shell(self, script: str) -> str:
        """The output of a script in it; the proxy is in this very process."""
        return await asyncio.to_thread(self.sandbox.shell, f"set -e; exec 2>&1; {script}")


@pytest.fixture
async def world(tmp_path: Path, sandboxes: SandboxFactory) -> AsyncIterator[World]:
    made = World(tmp_path, sandboxes)
    await made.open()
    yield made
    await made.egress.close_all()
    await made.internet.close()
    await made.audit.close()


async def test_pip_installs_into_the_project(world: World) -> None:
    index = f"--index-url http://{HOST}/simple/ --trusted-host {HOST}"
    said = await world.shell(
        f"python3 -m venv .venv && .venv/bin/pip install {index} boat && .venv/bin/python -c 'import boat; print(boat.NAME)'"
    )
    assert said.endswith("Heron\n"), said
    assert "/simple/boat/" in world.index.asked
    assert (world.project / ".venv/bin/pip").exists()
    refused = await world.shell(".venv/bin/pip download --index-url https://other.example.org/ boat || true")
    assert "403 Host Not Allowed" in refused


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
async def test_npm_installs_into_the_project_and_caches_on_the_disk(world: World) -> None:
    said = await world.shell(
        f"npm init --yes > /dev/null; npm install --registry http://{HOST}/ boat; node -p 'require(\"boat\")'"
    )
    assert said.endswith("Heron\n"), said
    (cache,) = world.sandboxes.launcher.home.caches.iterdir()
    assert (cache / "npm/_cacache").is_dir()
    asked = len(world.index.asked)
    await world.shell("rm -rf node_modules; npm ci --prefer-offline")
    assert len(world.index.asked) == asked, "it comes from the cache"


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler: `make test-deps` installs it")
async def test_a_program_is_compiled(world: World) -> None:
    (world.project / "hello.c").write_text('#include <stdio.h>\nint main(void) { puts("hello"); }\n')
    assert await world.shell("cc -o hello hello.c && ./hello") == "hello\n"
