"""A git server on the loopback interface, over plain HTTP."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.capabilities.plugins.building import repository
from tests.modules.registry.building import Repository
from tests.sandbox.git.git_host import GitHost, run_git


class GitServer:
    """Serves bare copies of repositories."""

    def __init__(self, host: GitHost, port: int) -> None:
        self._host = host
        self.address = f"http://127.0.0.1:{port}"

    def publish(self, repository: Repository) -> str:
        """Serve what is committed now, in the place of what was there; the address."""
        name = repository.folder.name
        run_git("clone", "--bare", "--quiet", str(repository.folder), f"{name}.new", at=self._host.folder)
        bare = self._host.folder / name
        if bare.exists():
            bare.rename(bare.with_name(f"{name}.{len(list(self._host.folder.iterdir()))}"))
        (self._host.folder / f"{name}.new").rename(bare)
        self._host.public.add(name)
        return f"{self.address}/{name}"

    @property
    def heard(self) -> list[str]:
        """The requests so far."""
        return [line for line, _ in self._host.heard]


@contextmanager
def git_server(folder: Path) -> Iterator[GitServer]:
    """A server that runs in a thread of its own."""
    host, ready, end = GitHost(folder / "git-host"), threading.Event(), threading.Event()
    ports: list[int] = []

    async def serve() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await host.serve(reader, writer)
            finally:
                writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()
        async with server:
            await asyncio.to_thread(end.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        ready.wait()
        yield GitServer(host, ports[0])
    finally:
        end.set()
        thread.join()


async def call_plugins(folder: Path, call: Callable[..., Awaitable[Any]]) -> None:
    """Use each route of plugins; `call` is given the route, a body and the names in it."""
    with git_server(folder) as server:
        url = server.publish(repository(folder / "demo-plugin"))
        made = (await call("POST /api/plugins/install", {"url": url}))["plugin"]
        await call("GET /api/plugins")
        for path in ("", "/check-update", "/skills/greet", "/agents/reviewer"):
            route = path.replace("greet", "{name}").replace("reviewer", "{name}")
            await call(f"GET /api/plugins/{{slug}}{route}", slug=made["slug"], name=path.rpartition("/")[2])
        await call("POST /api/plugins/{slug}/changes", slug=made["slug"])
        await call("POST /api/plugins/{slug}/update", slug=made["slug"])
        body = {"hash": made["hash"], "parts": ["programs"]}
        await call("POST /api/plugins/{slug}/approve", body, slug=made["slug"])
        await call("DELETE /api/plugins/{slug}", slug=made["slug"])
