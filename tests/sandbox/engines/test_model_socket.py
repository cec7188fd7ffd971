"""A sandbox's sockets to the model and to the internet: what an agent gets there, and that nothing is left of them afterwards."""

import asyncio
import json
import socket
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.chat.sessions.models import Session
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.engines.limits import NO_LIMITS
from parachute.sandbox.layout import EGRESS_SOCKET
from parachute.security.audit.service import Audit
from tests.llm.gateway.conftest import KEY, MODEL, Installation
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.sandboxes import Sandbox, interpreter
from tests.support.messages_api import MessagesAPI, text

pytestmark = [needs_bubblewrap, pytest.mark.process]
OTHER_MODEL = "claude-opus-5-5"
ATTEMPTS = Path(__file__).parent / "escapes/attempts/model.py"
PROXY = """
import json, socket, sys
said = {}
for target in sys.argv[1:]:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        try:
            client.connect("/run/parachute/egress.sock")
            client.send(f"CONNECT {target} HTTP/1.1\\r\\nhost: {target}\\r\\n\\r\\n".encode())
            said[target] = client.recv(4096).split()[1].decode()
        except OSError as error:
            said[target] = type(error).__name__
print(json.dumps(said))
"""


@pytest.fixture
async def installation(sandboxes: SandboxFactory, api: MessagesAPI) -> AsyncIterator[Installation]:
    """The gateway of the sandboxes' computer, with one model allowed."""
    api.require(api_key=KEY)
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}
    made = Installation(sandboxes.launcher.folder, environment, {"allowed_models": ["*haiku*"]})
    await made.open()
    yield made
    await made.close()


async def opened(sandboxes: SandboxFactory, line: ModelEndpoint, session: str, environment: dict[str, str]) -> Sandbox:
    """A sandbox at the end of a line."""
    row = Session(session, created_at="2026-01-01T00:00:00Z", updated_at="2026-01-01T00:00:00Z")
    execution = await sandboxes.service.prepare(row, "sandboxed", None, line)
    return Sandbox(execution.agent_socket, execution.directory, sandboxes.launcher, f"sandbox@{session}", environment)


async def asked(sandbox: Sandbox, *arguments: str) -> dict[str, Any]:
    """Return the answers to the attempts on the model's socket; core answers meanwhile."""
    done = await asyncio.to_thread(sandbox.run, interpreter(), "-ISc", ATTEMPTS.read_text(), *arguments)
    assert done.returncode == 0, done.stderr.decode()
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


async def test_an_agent_gets_answers_of_its_models_and_nothing_else(
    sandboxes: SandboxFactory, installation: Installation, api: MessagesAPI
) -> None:
    api.default(text("Hello."))
    session, other = str(uuid.uuid4()), str(uuid.uuid4())
    line, others = await installation.gateway.open(session), await installation.gateway.open(other)
    sandbox = await opened(sandboxes, line, session, line.environment())
    answers = await asked(sandbox, MODEL, OTHER_MODEL, others.token)
    assert answers.pop("a question") == 200
    assert answers.pop("another model") == 403
    assert answers.pop("without a token") == answers.pop("the token of another session") == 401
    assert len(answers) == 10
    assert set(answers.values()) <= {400, 404}, answers
    assert len(api.requests) == 1
    assert KEY not in str(sandbox.shell("cat /proc/self/environ; ls -la /run/parachute"))
    await installation.gateway.close(session)
    # The sandbox may be there for a while yet; its folder, and what it holds open, are no way any more.
    after = await asked(sandbox, MODEL, OTHER_MODEL, others.token)
    assert set(after.values()) <= {"FileNotFoundError", "ConnectionRefusedError"}, after
    assert len(api.requests) == 1


async def test_hosts_that_are_absent_or_none_are_no_network(
    sandboxes: SandboxFactory, installation: Installation
) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    targets = (
        f"127.0.0.1:{listener.getsockname()[1]}",
        f"localhost:{listener.getsockname()[1]}",
        "api.example.org:443",
    )
    audit = Audit(sandboxes.launcher.folder / "audit")
    egress = Egress(audit)
    try:
        for hosts in (None, (), ("api.example.com",)):
            session = str(uuid.uuid4())
            line = await installation.gateway.open(session)
            if hosts is not None:
                await egress.open(session, hosts, line.folder / EGRESS_SOCKET)
            sandbox = await opened(sandboxes, line, session, {})
            said = await _proxied(sandbox, *targets)
            assert set(said.values()) == ({"FileNotFoundError"} if hosts is None else {"403"}), (hosts, said)
    finally:
        await egress.close_all()
        await audit.close()
        listener.close()


async def _proxied(sandbox: Sandbox, *targets: str) -> dict[str, str]:
    found: dict[str, str] = await asyncio.to_thread(sandbox.python, PROXY, *targets)
    return found


async def test_folders_that_are_none_are_no_vault(sandboxes: SandboxFactory) -> None:
    session = str(uuid.uuid4())
    execution = await sandboxes.service.confine(
        session, sandboxes.endpoint(session), (), egress=False, limits=NO_LIMITS
    )
    sandbox = Sandbox(execution.agent_socket, execution.directory, sandboxes.launcher, f"sandbox@{session}")
    assert sandbox.shell("ls /vault 2>/dev/null; ls /project 2>/dev/null; ls /run/parachute; true") == ""
    casual = await sandboxes.make()
    assert casual.shell("ls /vault") == "Daily\nProjects\n"
