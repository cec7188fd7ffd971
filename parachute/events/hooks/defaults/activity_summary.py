"""A hook for session.end: one line for each conversation in `{vault}/.parachute/activity/YYYY-MM.md`.

To change it, copy this file to ~/.parachute/hooks/on-session-end.py, take the entry out of ~/.parachute/hooks.yaml, and run
`parachute hooks approve`. `Folder` follows no link in the vault, where others write, too.
"""

import fcntl
import json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from parachute.base.folders import Folder

_LIMIT = 8 * 1024 * 1024


def line_of(data: dict[str, Any]) -> tuple[str, str]:
    """The month (`2026-01`) and the line of a conversation, in this computer's own time."""
    ended = datetime.fromisoformat(data["ended_at"])
    started = datetime.fromisoformat(data["started_at"])
    minutes = round((ended - started).total_seconds() / 60)
    count = int(data["message_count"])
    local = ended.astimezone()
    messages = "1 message" if count == 1 else f"{count} messages"
    return f"{local:%Y-%m}", f"- {local:%Y-%m-%d %H:%M} · {messages} in {minutes} min · session {data['session_id']}\n"


def append(vault: Path, month: str, line: str) -> bool:
    """Add the line, unless it is there already: an event may be delivered twice. Returns whether it was added."""
    with Folder.open(vault) as root, root.folder(".parachute/activity", make=True) as folder:
        descriptor = folder.descriptor(f"{month}.md", os.O_RDWR | os.O_CREAT | os.O_NONBLOCK)
    with os.fdopen(descriptor, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = file.read(_LIMIT)
        if line.encode() in before:
            return False
        file.seek(0, os.SEEK_END)
        file.write(line.encode() if before else f"# Activity in {month}\n\n{line}".encode())
        file.flush()
        os.fsync(file.fileno())
    return True


def main() -> int:
    """Read the event from standard input; the exit code is 1 if it is not the end of a session."""
    try:
        event = json.load(sys.stdin)
        month, line = line_of(event["data"])
        vault = Path(event["vault_path"])
    except (ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"This is not the end of a session: {error!r}\n")
        return 1
    append(vault, month, line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
