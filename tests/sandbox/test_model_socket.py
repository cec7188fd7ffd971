"""A box's sockets to the model and to the internet: what an agent gets there, and that nothing is left of them afterwards."""

import asyncio
import json
import socket
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.audit.service import Audit
from parachute.egress.service import Egress
from parachute.gateway.service import Line
from parachute.sandbox.limits import NO_LIMITS
from parachute.sandbox.places import EGRESS_SOCKET
from parachute.sessions.models import Session
from tests.gateway.conftest import KEY, MODEL, Installation
from tests.sandbox.boxes import Box, interpreter
from tests.sandbox.conftest import Boxes, needs_bubblewrap
from tests.support.messages_api import MessagesAPI, text

pytestmark = needs_bubblewrap
OTHER_MODEL = "claude-opus-5-5"
ATTEMPTS = Path(__file__).parent / "escapes/attempts/model.py"
PROXY = """
import json, socket, sys
said = {}
for target in sys.argv[1:]:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        try:
            client.connect("/run/parachute/egress.sock")
            client.send(f"CONNECT {target} HTTP/1.1\\r\\nhost: {target}\\r\\n\\r\\n".encode())
            said[target] = client.recv(4096).split()[1].decode()
        except OSError as error:
            said[target] = type(error).__name__
print(json.dumps(said))
"""


@pytest.fixture
async def installation(boxes: Boxes, api: MessagesAPI) -> AsyncIterator[Installation]:
    """The gateway of the boxes' computer, with one model allowed."""
    api.require(api_key=KEY)
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}
    made = Installation(boxes.launcher.folder, environment, {"allowed_models": ["*haiku*"]})
    await made.open()
    yield made
    await made.close()


async def opened(boxes: Boxes, line: Line, session: str, environment: dict[str, str]) -> Box:
    """A box at the end of a line."""
    row = Session(session, created_at="2026-01-01T00:00:00Z", updated_at="2026-01-01T00:00:00Z")
    execution = await boxes.sandboxes.prepare(row, "sandboxed", None, line)
    return Box(execution.agent_socket, execution.directory, boxes.launcher, f"sandbox@{session}", environment)


async def asked(box: Box, *arguments: str) -> dict[str, Any]:
    """What the attempts on the model's socket say; core answers meanwhile."""
    done = await asyncio.to_thread(box.run, interpreter(), "-ISc", ATTEMPTS.read_text(), *arguments)
    assert done.returncode == 0, done.stderr.decode()
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


async def test_an_agent_gets_answers_of_its_models_and_nothing_else(
    boxes: Boxes, installation: Installation, api: MessagesAPI
) -> None:
    api.default(text("Hello."))
    session, other = str(uuid.uuid4()), str(uuid.uuid4())
    line, others = await installation.gateway.open(session), await installation.gateway.open(other)
    box = await opened(boxes, line, session, line.environment())
    answers = await asked(box, MODEL, OTHER_MODEL, others.token)
    assert answers.pop("a question") == 200
    assert answers.pop("another model") == 403
    assert answers.pop("without a token") == answers.pop("the token of another session") == 401
    assert len(answers) == 10
    assert set(answers.values()) <= {400, 404}, answers
    assert len(api.requests) == 1
    assert KEY not in str(box.shell("cat /proc/self/environ; ls -la /run/parachute"))
    await installation.gateway.close(session)
    # The box may be there for a while yet; its folder, and what it holds open, are no way any more.
    after = await asked(box, MODEL, OTHER_MODEL, others.token)
    assert set(after.values()) <= {"FileNotFoundError", "ConnectionRefusedError"}, after
    assert len(api.requests) == 1


async def test_hosts_that_are_absent_or_none_are_no_network(boxes: Boxes, installation: Installation) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    targets = (
        f"127.0.0.1:{listener.getsockname()[1]}",
        f"localhost:{listener.getsockname()[1]}",
        "api.example.org:443",
    )
    audit = Audit(boxes.launcher.folder / "audit")
    egress = Egress(audit)
    try:
        for hosts in (None, (), ("api.example.com",)):
            session = str(uuid.uuid4())
            line = await installation.gateway.open(session)
            if hosts is not None:
                await egress.open(session, hosts, line.folder / EGRESS_SOCKET, kind="agent")
            box = await opened(boxes, line, session, {})
            said = await _proxied(box, *targets)
            assert set(said.values()) == ({"FileNotFoundError"} if hosts is None else {"403"}), (hosts, said)
    finally:
        await egress.close_all()
        await audit.close()
        listener.close()


async def _proxied(box: Box, *targets: str) -> dict[str, str]:
    found: dict[str, str] = await asyncio.to_thread(box.python, PROXY, *targets)
    return found


async def test_folders_that_are_none_are_no_vault(boxes: Boxes) -> None:
    session = str(uuid.uuid4())
    execution = await boxes.sandboxes.confine(session, boxes.line(session), (), egress=False, limits=NO_LIMITS)
    box = Box(execution.agent_socket, execution.directory, boxes.launcher, f"sandbox@{session}")
    assert box.shell("ls /vault 2>/dev/null; ls /project 2>/dev/null; ls /run/parachute; true") == ""
    casual = await boxes.make()
    assert casual.shell("ls /vault") == "Daily\nProjects\n"
