"""Runs the program that reads exports, and collects what it says."""

import atexit
import functools
import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAM = "parachute.chat.imports.reading.program"
# What the program imports takes longer than most exports: it is imported once, and each export has a process forked from that.
FORKING = f"""
import json, os, sys
from {PROGRAM} import main
for line in sys.stdin:
    said, errors, *arguments = json.loads(line)
    if not (child := os.fork()):
        for descriptor, path in enumerate(("/dev/null", said, errors)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), descriptor)
        sys.argv[1:] = arguments
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass
class Read:
    """Result of a reading: conversations by their title, with (role, text) of each message."""

    kind: str | None = None
    conversations: list[dict[str, Any]] = field(default_factory=list)
    said: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    is_whole: bool = False

    def titles(self) -> list[str | None]:
        """The titles, in order."""
        return [each["title"] for each in self.conversations]


def read(
    folder: Path, data: bytes | Path, kind: str = "auto", *, known: tuple[str, ...] = (), mode: str | None = None
) -> Read:
    """Read an export in a process of its own; it ends by itself, with one `end` and nothing on its standard error."""
    upload = data if isinstance(data, Path) else folder / "upload"
    if isinstance(data, bytes):
        upload.write_bytes(data)
    staged = folder / "staged"
    staged.mkdir()
    (staged / "known").write_text("\n".join(known))
    paths = [folder / "said", folder / "errors"]
    arguments = [str(upload), kind, str(staged), *([mode] if mode else [])]
    forking = _forking()
    assert forking.stdin is not None
    assert forking.stdout is not None
    forking.stdin.write(json.dumps([*map(str, paths), *arguments]) + "\n")
    forking.stdin.flush()
    code = int(forking.stdout.readline())
    said, errors = (path.read_bytes() for path in paths)
    assert errors == b""
    found = Read()
    for line in map(json.loads, said.splitlines()):
        _take(found, line, staged)
    assert found.is_whole == (code == 0)
    return found


@functools.cache
def _forking() -> subprocess.Popen[str]:
    command = [sys.executable, "-I", "-c", FORKING]
    forking = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # It ends with its input.
    atexit.register(forking.communicate)
    return forking


def _take(found: Read, line: dict[str, Any], staged: Path) -> None:
    found.kind = line.get("kind", found.kind)
    found.left_out.update(line.get("left_out", {}))
    found.is_whole = line.get("end", False)
    if "error" in line:
        found.errors.append(line["error"])
    if "skipped" in line:
        found.skipped.append(line["skipped"])
    if conversation := line.get("conversation"):
        found.conversations.append(conversation)
        path = staged / str(conversation["staged"])
        if conversation["staged"] and path.exists():
            head, *events = map(json.loads, path.read_text().splitlines())
            assert head["type"] == "import"
            found.said[conversation["title"]] = [
                (each["type"], each["message"]["content"][0]["text"]) for each in events
            ]
    if file := line.get("file"):
        path = staged / file["staged"]
        found.files[file["path"]] = path.read_bytes() if path.exists() else b""
