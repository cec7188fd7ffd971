"""A package index of Python (PEP 503) and a registry of npm with one small package each, `boat` 1.0.0."""

import asyncio
import base64
import hashlib
import io
import json
import tarfile
import zipfile

_METADATA = "boat-1.0.0.dist-info"


class PackageIndex:
    """A handler of connections; `asked` are the paths that were asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._files: dict[str, tuple[str, bytes]] = {}

    def at(self, host: str) -> None:
        """Serve, reached as `host`, which may have a port."""
        wheel, tarball = _wheel(), _tarball()
        digest = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
        version = {
            "name": "boat",
            "version": "1.0.0",
            "dist": {"tarball": f"http://{host}/boat/-/boat-1.0.0.tgz", "integrity": f"sha512-{digest}"},
        }
        name = "boat-1.0.0-py3-none-any.whl"
        page = f'<a href="/files/{name}#sha256={hashlib.sha256(wheel).hexdigest()}">{name}</a>'
        self._files = {
            "/simple/boat/": ("text/html", page.encode()),
            f"/files/{name}": ("application/zip", wheel),
            "/boat": (
                "application/json",
                json.dumps({"name": "boat", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}).encode(),
            ),
            "/boat/-/boat-1.0.0.tgz": ("application/octet-stream", tarball),
        }

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = await reader.readuntil(b"\r\n\r\n")
        path = head.split()[1].decode()
        self.asked.append(path)
        kind, body = self._files.get(path, ("text/plain", b"not found"))
        status = b"200 OK" if path in self._files else b"404 Not Found"
        writer.write(b"HTTP/1.1 %b\r\nContent-Type: %b\r\n" % (status, kind.encode()))
        writer.write(b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
        await writer.drain()


def _wheel() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as wheel:
        wheel.writestr("boat.py", "NAME = 'Heron'\n")
        wheel.writestr(f"{_METADATA}/METADATA", "Metadata-Version: 2.1\nName: boat\nVersion: 1.0.0\n")
        wheel.writestr(f"{_METADATA}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{_METADATA}/RECORD", "boat.py,,\n")
    return made.getvalue()


def _tarball() -> bytes:
    made = io.BytesIO()
    files = {"package.json": '{"name": "boat", "version": "1.0.0"}', "index.js": 'module.exports = "Heron";\n'}
    with tarfile.open(fileobj=made, mode="w:gz") as tarball:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            tarball.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()
