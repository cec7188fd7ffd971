"""A git host within a test: repositories behind TLS, served by git's own `http-backend`."""

import asyncio
import base64
import os
import subprocess
from pathlib import Path

import h11

from tests.sandbox.egress.internet import PUBLIC, Internet
from tests.sandbox.git.authority import Authority

HOST = "git.example.org"
TOKEN = "secret-token-of-the-owner"
AUTHOR = {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.org",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.compression",
    "GIT_CONFIG_VALUE_0": "0",
}
"""An identity, and nothing of the configuration of whoever runs the tests."""

_CHUNK = 64 * 1024
_BASIC = f"Basic {base64.b64encode(f'git:{TOKEN}'.encode()).decode()}"


def run_git(*arguments: str, at: Path, given: bytes = b"") -> str:
    """Run git on this machine."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(at), **AUTHOR}
    done = subprocess.run(
        ["git", *arguments], cwd=at, env=environment, input=given, capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode()


class GitHost:
    """Repositories below `folder`: who has the token may do everything, all others may read what is in `public`.

    `answers` are answers to paths instead of git's own, `silent` paths that never get one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.authority = Authority(folder.parent / "authority")
        self.public: set[str] = set()
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.silent: set[str] = set()
        self.heard: list[tuple[str, dict[str, str]]] = []

    async def join(self, internet: Internet) -> None:
        """Become a part of the internet."""
        internet.names[HOST] = [[PUBLIC]]
        await internet.serve(PUBLIC, 443, self.serve, self.authority.server(HOST))

    def make(self, path: str, files: dict[str, bytes] | None = None) -> Path:
        """Make a repository with one commit on `main`."""
        bare, tree = self.folder / path, self.folder.parent / "tree" / path
        tree.mkdir(parents=True)
        run_git("init", "--initial-branch=main", "--quiet", ".", at=tree)
        for name, content in (files or {"hello.txt": b"hello\n"}).items():
            (tree / name).write_bytes(content)
        run_git("add", ".", at=tree)
        run_git("commit", "--quiet", "--message=First", at=tree)
        run_git("clone", "--bare", "--quiet", str(tree), str(bare), at=tree)
        return bare

    def log(self, path: str) -> str:
        """The subjects of the commits of a repository."""
        return run_git("log", "--format=%s", "main", at=self.folder / path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        http = h11.Connection(h11.SERVER)
        request = await _next(http, reader)
        if not isinstance(request, h11.Request):
            return
        target = request.target.decode()
        headers = {name.decode(): value.decode() for name, value in request.headers}
        self.heard.append((f"{request.method.decode()} {target}", headers))
        path, _, query = target.partition("?")
        if path in self.silent:
            await asyncio.Event().wait()
        repository = path.removeprefix("/").removesuffix("/info/refs")
        repository = repository.removesuffix("/git-upload-pack").removesuffix("/git-receive-pack")
        knows = headers.get("authorization") == _BASIC
        if path in self.answers:
            status, said, body = self.answers[path]
            await _send(http, writer, status, said, body)
        elif not knows and (repository not in self.public or "receive-pack" in target):
            await _send(http, writer, 401, {"WWW-Authenticate": 'Basic realm="git"'}, b"Who are you?")
        else:
            await self._backend(http, reader, writer, request, headers, path, query, knows)
        await writer.drain()

    async def _backend(
        self,
        http: h11.Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        request: h11.Request,
        headers: dict[str, str],
        path: str,
        query: str,
        knows: bool,
    ) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            **AUTHOR,
            "REQUEST_METHOD": request.method.decode(),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
            **({"REMOTE_USER": "git", "REMOTE_ADDR": "192.0.2.1"} if knows else {}),
        }
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec("git", "http-backend", env=environment, stdin=pipe, stdout=pipe)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            while isinstance(event := await _next(http, reader), h11.Data):
                process.stdin.write(event.data)
                await process.stdin.drain()
            process.stdin.close()
            head = (await process.stdout.readuntil(b"\r\n\r\n")).decode().splitlines()
            said = dict(line.split(": ", 1) for line in head if line)
            status = int(said.pop("Status", "200").split()[0])
            said |= {"Transfer-Encoding": "chunked", "Set-Cookie": "tracked=1"}
            writer.write(http.send(h11.Response(status_code=status, headers=list(said.items()))) or b"")
            while data := await process.stdout.read(_CHUNK):
                writer.write(http.send(h11.Data(data)) or b"")
                await writer.drain()
            writer.write(http.send(h11.EndOfMessage()) or b"")
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def _next(http: h11.Connection, reader: asyncio.StreamReader) -> object:
    while (event := http.next_event()) is h11.NEED_DATA:
        http.receive_data(await reader.read(_CHUNK))
    return event


async def _send(
    http: h11.Connection, writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes
) -> None:
    said = [*headers.items(), ("Content-Length", str(len(body)))]
    for event in (h11.Response(status_code=status, headers=said), h11.Data(body), h11.EndOfMessage()):
        writer.write(http.send(event) or b"")
