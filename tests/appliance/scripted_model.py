"""A model for the guest that runs what the user's message says, and answers with what came of it: `scripted_model.py [PORT]`.

It prints its address, and serves until its standard input ends. Only `run: COMMAND`, `call: TOOL JSON`, `hold: FILE` and anything
else is understood.
"""

import json
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.support.messages_api import Gate, MessagesAPI, Reply, hold, several, text, tool_use

PREFIX = "run: "
CALL = "call: "
HOLD = "hold: "
_WHO = re.compile(r"\A[^\n(]{1,80} \(\d+\): ")
"""Sender of a message in a group, as the computer tells the agent."""


def answer(body: dict[str, Any]) -> Reply:
    """The next step of a conversation."""
    # What the agent's program adds is a message of another role.
    content = next(message["content"] for message in reversed(body["messages"]) if message["role"] == "user")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks:
        if block["type"] == "tool_result":
            said = block["content"]
            return text(said if isinstance(said, str) else "".join(part.get("text", "") for part in said))
    # The last block is what the user wrote; others before it are added by the agent's program.
    for block in reversed(blocks):
        # Before it stands what the turn before was asked, if that was cut off.
        said = block.get("text", "").rpartition("</interrupted_turn>")[2].lstrip()
        said = _WHO.sub("", said)
        if said.startswith(PREFIX):
            return tool_use("Bash", {"command": said.removeprefix(PREFIX)})
        if said.startswith(CALL):
            name, _, arguments = said.removeprefix(CALL).partition(" ")
            return tool_use(name, json.loads(arguments))
        if said.startswith(HOLD):
            return _held(Path(said.removeprefix(HOLD).splitlines()[0]))
    return text("Hello.")


def _held(file: Path) -> Reply:
    """An answer that names a file, and whose end waits until it is there."""
    gate = Gate()

    def open_it() -> None:
        while not file.exists():
            time.sleep(0.05)
        gate.open()

    threading.Thread(target=open_it, daemon=True).start()
    return several(text("Once upon a time "), hold(gate, text(f"there was {file.name}.")))


def main() -> None:
    """Serve."""
    with MessagesAPI(*map(int, sys.argv[1:])) as api:
        api.default(answer)
        sys.stdout.write(f"{api.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
