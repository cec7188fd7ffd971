"""The reader of what strangers wrote has nothing of this machine but what it reads and where it writes."""

import json
import socket
import subprocess
from pathlib import Path

import pytest

from parachute.chat.imports import reader
from parachute.sandbox.engines.bubblewrap import interpreter
from tests.conftest import needs_bubblewrap

pytestmark = pytest.mark.process

PROBE = """
import json, os, socket, sys
home, upload, staged = sys.argv[1:]
found = {}
def tried(name, does):
    try:
        found[name] = does()
    except OSError as error:
        found[name] = type(error).__name__
tried("home", lambda: os.listdir(home))
tried("secret", lambda: open(home + "/secret").read())
tried("network", lambda: socket.create_connection(("127.0.0.1", int(open(upload).read())), 5) and "reached")
tried("upload", lambda: open(upload, "w") and "written")
tried("staged", lambda: open(staged + "/made", "w") and "written")
print(json.dumps(found))
"""


@needs_bubblewrap
async def test_it_sees_nothing_but_its_files(tmp_path: Path) -> None:
    upload, staged, secret = tmp_path / "import/upload", tmp_path / "import/staged", tmp_path / "secret"
    staged.mkdir(parents=True)
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        upload.write_text(str(server.getsockname()[1]))
        command = [*reader.confined(upload, staged), interpreter(), "-IS", "-c", PROBE]
        done = subprocess.run(
            [*command, str(tmp_path), str(upload), str(staged)], capture_output=True, text=True, check=True, timeout=60
        )
    assert json.loads(done.stdout) == {
        "home": ["import"],
        "secret": "FileNotFoundError",
        "network": "ConnectionRefusedError",
        "upload": "OSError",
        "staged": "written",
    }


@needs_bubblewrap
async def test_an_export_is_read_in_there(tmp_path: Path) -> None:
    upload, staged = tmp_path / "upload", tmp_path / "staged"
    staged.mkdir()
    (staged / "known").write_text("")
    upload.write_bytes(b"[]")
    said = [line async for line in reader.read(upload, "chatgpt", staged, dry_run=False)]
    assert not any("error" in line for line in said)
