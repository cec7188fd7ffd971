"""Requests made up from the API's own description: none may fail inside the computer."""

import hashlib
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from parachute.security.keys.cli_token import CliToken
from tests.automation.transcription.calls import call_voice
from tests.capabilities.mcp_servers.programs import plain
from tests.capabilities.mcp_servers.remote_servers import RemoteServer, browse
from tests.capabilities.plugins.git_server import call_plugins
from tests.changes.seeding import call_changes
from tests.chat.claude_code_import.writing import talk as said
from tests.chat.claude_code_import.writing import write
from tests.connectors.bots.calling import call_bots
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.browser import call_pairing
from tests.support.mcp_client import call_mcp_clients
from tests.support.messages_api import Gate, MessagesAPI, hold, text, tool_use
from tests.support.sse import ChatStream, chat

from .conftest import KEY, talk
from .furnishing import call_files, call_modules, furnish

# Over a hundred routes, ten requests each and more, in one test.
pytestmark = [pytest.mark.long, pytest.mark.timeout(600), pytest.mark.computer]

EXAMPLES = 10
LEFT_OUT = (
    *("/supervisor/server/restart", "/supervisor/server/stop", "/api/panic", "/api/resume"),
    *("/api/provider", "/api/setup/finish", "/api/backups/repository"),
    *("/api/phone", "/api/forget/apply"),
    *("/api/updates", "/api/updates/back", "/api/updates/running"),
    *("/api/backups/access", "/api/backups/restore", "/api/backups/restore/undo", "/api/backups/restore/kept"),
)
"""Routes that end the server that is asked, or all agents, take the model away, or make folders; the tests of each call them."""

NEVER_RIGHT = (
    "/api/events/dead-letters/{identifier}/retry",
    *("/api/doctor/fix", "/api/doctor/dismiss", "/api/doctor/undismiss"),
    *("/api/backups", "/api/backups/list", "/api/backups/drill", "/api/backups/credentials"),
    *("/api/backups/kit", "/api/backups/kit/check"),
    "/api/contexts/curator/review",
    "/api/push/devices/{identifier}/test",
    "/api/files/pages",
    "/api/backups/running",
    *("/api/tls/renew", "/tls/ca.crt", "/tls/ca.mobileconfig"),
)
"""There is a dead letter only after ten tries, which take nine minutes, a problem of the doctor where there is one, a certificate where others
can connect, and a list of backups
in a repository, and a notice goes out to the internet; a review of the curator would take the answers of the model that others wait for; pages are those of the internet: the tests of each use them."""

ENDLESS = ("/api/inbox/events", "/api/events")
"""Streams that end with their reader."""

MADE_UP = {
    "GET /api/chat": EXAMPLES // 2,
    "GET /api/health": 1,
    "GET /api/status": 1,
    "GET /api/auth/keys": 1,
    "POST /api/auth/keys": 1,
}
"""Least number of made-up requests that succeed, for routes whose description alone says what is right."""


@pytest.fixture
async def asking(model: MessagesAPI) -> AsyncIterator[ModuleComputer]:
    """A computer that asks before it does something in a direct session."""
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
    with ModuleComputer(settings={"trust_mode": False, "curator": {"mode": "off"}}, environment=environment) as running:
        furnish(running)
        yield running


async def test_no_request_fails_inside(asking: ModuleComputer, model: MessagesAPI) -> None:
    # Its import takes seconds, and `make test` collects this file as well.
    import schemathesis

    headers = {"authorization": f"Bearer {CliToken(asking.home.root).obtain()}"}
    good: Counter[str] = Counter()
    async with asking.client(headers=headers) as client:
        await talk(client)
        document = (await client.get("/openapi.json")).json()
        for operation in (each for methods in document["paths"].values() for each in methods.values()):
            del operation["security"]  # made-up keys beside ours would be refused, which tests of access try
        schema = schemathesis.openapi.from_dict(document)
        operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
        routes = {f"{operation.method.upper()} {operation.path}": operation for operation in operations}
        for route, operation in routes.items():
            if not operation.path.startswith(LEFT_OUT) and operation.path not in ENDLESS:
                _try(asking, operation, route, headers, good)
        made_up = good.copy()
        for route in await _rightly(asking, client, model):
            assert route in routes, f"{route} is not in the description"
            good[route] += 1
    left_out = (*LEFT_OUT, *NEVER_RIGHT)
    missing = [route for route, operation in routes.items() if not good[route] and operation.path not in left_out]
    assert not missing, f"No request of these routes succeeded: {missing}"
    few = {route: made_up[route] for route, least in MADE_UP.items() if made_up[route] < least}
    assert not few, f"Too few of {EXAMPLES} requests succeeded: {few}"
    assert "Traceback" not in asking.logs()


def _try(installation: ModuleComputer, operation: Any, route: str, headers: dict[str, str], good: Counter[str]) -> None:
    """Send made-up requests of one route.

    They are not the same in every process: Hypothesis draws from the constants of our modules that are imported by then as well, which
    depends on the tests that ran before. What has to hold in every run, such as bounds of numbers, has a test of its own
    (`test_numbers.py`).
    """

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def attempt(case: Any) -> None:
        response = case.call(base_url=installation.url, headers=headers, timeout=60)
        assert response.status_code < 500, f"{route}: {response.status_code} {response.text[:500]}"
        if response.status_code >= 400 and case.method != "HEAD":
            assert isinstance(response.json()["detail"], str), f"{route}: {response.text[:200]}"
        good[route] += 200 <= response.status_code < 300

    attempt()


async def _rightly(installation: ModuleComputer, client: httpx2.AsyncClient, model: MessagesAPI) -> list[str]:
    """Use every route as it is meant to be; the routes that answered 200."""
    done: list[str] = []

    async def call(route: str, body: Any = None, query: str = "", **names: str) -> Any:
        method, path = route.split(" ")
        response = await client.request(method, path.format(**names) + query, json=body)
        assert response.status_code == 200, f"{route}: {response.status_code} {response.text[:300]}"
        done.append(route)
        return response.json() if method != "HEAD" and "json" in response.headers["content-type"] else None

    session = await talk(client)
    done.append("POST /api/chat")
    for route in ("GET /api/health", "GET /api/status", "GET /api/usage", "GET /api/chat", "GET /api/setup"):
        await call(route)
    for route in (
        "GET /supervisor/status",
        "GET /supervisor/models",
        "POST /supervisor/server/start",
        "GET /api/provider/models",
    ):
        await call(route)
    for path in ("", "/transcript", "/export", "/versions", "/events", "/stream-status", "/pending-questions"):
        await call("GET /api/chat/{session}" + path, session=session)
    (folder := installation.vault / ".parachute" / "attachments" / session).mkdir(parents=True, exist_ok=True)
    (folder / "peas.txt").write_text("Sown.")
    await call("GET /api/chat/{session}/attachments/{name}", session=session, name="peas.txt")
    await call("POST /api/memory", {"session_id": session, "lines": ["Peas are sown in March."]})
    for path in ("end", "archive", "unarchive", "pin", "unpin", "activate"):
        await call("POST /api/chat/{session}/" + path, {}, session=session)
    await call("PUT /api/contexts/session/{session}", {"folder_paths": ["Garden"]}, session=session)
    assert await call("GET /api/contexts/session/{session}", session=session) == {"folder_paths": ["Garden"]}
    (installation.vault / "AGENTS.md").write_text("Be kind.")
    seen = {"path": "AGENTS.md", "hash": hashlib.sha256(b"Be kind.").hexdigest()}
    assert await call("POST /api/contexts/seen", seen) == {"path": "AGENTS.md"}
    await call("PATCH /api/chat/{session}/config", {"trustLevel": "direct"}, session=session)
    await call("GET /api/chat/active-streams")
    await call("POST /api/chat/reindex")
    await call("GET /api/auth/settings")
    key = await call("POST /api/auth/keys", {"label": "Phone"})
    await call("GET /api/auth/keys")
    await call("POST /api/auth/keys", {"label": "Tablet"})
    await call("DELETE /api/auth/keys/{identifier}", identifier=key["id"])
    done += await call_pairing(installation)
    await call("PUT /api/usage/limits/{subject}", {"dollars": 5.0}, subject="chats")
    await call("DELETE /api/usage/limits/{subject}", subject="chats")
    await call("POST /api/ask", {"prompt": "Is it late?"})
    for path in ("/api/events/dead-letters", "/api/hooks", "/api/hooks/errors"):
        await call(f"GET {path}")
    await call_modules(installation, call)
    done += await call_files(call, client)
    for path, begin in (("/api/inbox/events", "data: "), ("/api/events", "id: ")):
        async with (
            client.stream("GET", path) as stream,
            aclosing(cast(AsyncGenerator[str, None], stream.aiter_lines())) as lines,
        ):
            assert (await anext(lines)).startswith(begin)
        done.append(f"GET {path}")
    await call("GET /api/logs/{unit}", unit="core")
    await call("GET /api/config")
    await call("PUT /api/config/{name}", {"value": 30}, name="audit.keep_days")
    await call("DELETE /api/config/{name}", name="audit.keep_days")
    host = {"host": "example.org", "choice": "never"}
    await call("PUT /api/network/decisions", host)
    await call("GET /api/network/decisions")
    assert (await client.delete("/api/network/decisions?host=example.org")).status_code == 200
    done.append("DELETE /api/network/decisions")
    await call("PUT /api/git/decisions", {"repository": "example.org/owner/hull", "choice": "never"})
    await call("GET /api/git/decisions")
    assert (await client.delete("/api/git/decisions?repository=example.org/owner/hull")).status_code == 200
    done.append("DELETE /api/git/decisions")
    await call("PUT /api/git/tokens", {"host": "example.org", "token": "a-token"})
    await call("GET /api/git/tokens")
    assert (await client.delete("/api/git/tokens?host=example.org")).status_code == 200
    done.append("DELETE /api/git/tokens")
    made = await call("POST /api/workspaces", {"name": "A quiet place"})
    place = {"slug": made["workspace"]["slug"]}
    await call("GET /api/workspaces")
    await call("GET /api/workspaces/{slug}", **place)
    await call("PUT /api/workspaces/{slug}", {"description": "Very."}, **place)
    await call("DELETE /api/workspaces/{slug}", **place)
    (installation.folder / "server.py").write_text(plain(""))
    server = {"name": "notes", "command": sys.executable, "args": [str(installation.folder / "server.py")]}
    await call("POST /api/mcps", server)
    await call("GET /api/mcps")
    await call("POST /api/mcps/{name}/test", name="notes")
    await call("GET /api/mcps/{name}/tools", name="notes")
    await call("DELETE /api/mcps/{name}", name="notes")
    await call_plugins(installation.folder, call)
    for kind, words in (("agents", {"prompt": "You cook."}), ("skills", {"content": "Stir.", "description": "Cooks."})):
        await call(f"POST /api/{kind}", {"name": "cook", **words})
        await call(f"PUT /api/{kind}/{{name}}", words, name="cook")
        await call(f"DELETE /api/{kind}/{{name}}", name="cook")
    with RemoteServer(oauth=True) as elsewhere:
        await call("POST /api/mcps", {"name": "elsewhere", "url": elsewhere.url})
        begun = await call("POST /api/mcps/{name}/login", {}, name="elsewhere")
        body = {"answer": browse(begun["link"])}
        await call("POST /api/mcps/{name}/login/answer", body, name="elsewhere")
        await call("DELETE /api/mcps/{name}/login", name="elsewhere")
    await call_mcp_clients(installation, call)
    await call_bots(installation, call)
    await call_changes(installation.home, installation.folder / "boat", call, session)
    await call("GET /api/sandbox/sessions/{session}", session=session)
    adoptable = write(installation.folder / ".claude", "/a", *said("/a"))
    for path in ("/recent", "/projects", "/sessions/{session}"):
        await call(f"GET /api/claude-code{path}", session=adoptable)
    done.append("GET /api/claude-code/sessions")
    assert (await client.get("/api/claude-code/sessions?path=/a")).json()["sessions"]
    await call_voice(installation, call)
    await call("POST /mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    await call("DELETE /mcp")
    async with client.stream("GET", "/mcp", headers={"accept": "text/event-stream"}) as news:
        assert news.status_code == 200
    done.append("GET /mcp")
    await call("GET /api/export")
    await call("POST /api/forget", {"words": "Zwiebelkuchen"})
    await call("GET /api/forget")
    await call("GET /api/claude-code/expiring")
    await call("POST /api/claude-code/keep")
    await call("POST /api/claude-code/adopt/{session}", session=adoptable)
    await _in_conversation(client, model, call, session)
    await call("DELETE /api/chat/{session}", session=session)
    return done


async def _in_conversation(client: httpx2.AsyncClient, model: MessagesAPI, call: Any, session: str) -> None:
    """Send the requests that are valid only during an answer."""
    options = [{"label": "Yes", "description": ""}, {"label": "No", "description": ""}]
    question = {
        "question": "Tea?",
        "header": "Tea",
        "options": options,
        "multiSelect": False,
    }
    gate = Gate()
    model.script(
        tool_use("AskUserQuestion", {"questions": [question]}),
        tool_use("Bash", {"command": "touch made-by-test"}),
        hold(gate, text("Never said.")),
    )
    stream: ChatStream
    async with chat(client, "Go on.", session, canAnswerPermissions=True) as stream:
        asked = await stream.until("user_question")
        answer = {"request_id": asked["requestId"], "answers": {"Tea?": "Yes"}}
        await call("POST /api/chat/{session}/answer", answer, session=session)
        asked = await stream.until("permission_request")
        path = {"session": session, "request_id": asked["requestId"]}
        await call("POST /api/chat/{session}/permissions/{request_id}", {"allow": False}, **path)
        await gate.reached()
        await call("POST /api/chat/{session}/inject", {"message": "And sugar."}, session=session)
        await call("POST /api/chat/{session}/abort", session=session)
        await stream.collect()
    gate.open()
