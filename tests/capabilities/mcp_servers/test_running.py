"""Servers that run: started by the first need in a box, with what their approval names and nothing else."""

import asyncio
import contextlib
import json
import os
from pathlib import Path

import psutil
import pytest

from parachute.base.errors import ParachuteError, Unavailable
from parachute.chat.agent_processes.tools import CALL_SECONDS
from tests.capabilities.mcp_servers.programs import NOTES, plain
from tests.capabilities.mcp_servers.running_servers import RunningServers, running_servers
from tests.conftest import needs_bubblewrap
from tests.supervisor.launching import Launcher, with_argument
from tests.support.errors import raises
from tests.support.waiting import still_running, wait_until

pytestmark = [needs_bubblewrap, pytest.mark.long]


async def test_a_server_written_with_the_library(servers: RunningServers) -> None:
    servers.write("notes", servers.program("notes", NOTES))
    servers.approve("notes")
    tools, warnings = await servers.offered()
    assert warnings == []
    assert [tool.name for tool in tools] == ["add", "count", "fail", "token"]
    assert tools[0].description.startswith("Write a note down.\n\nIt answers with JSON of this schema: {")
    assert tools[0].input_schema["properties"]["text"]["type"] == "string"
    assert await servers.service.call("notes", "add", {"text": "Buy milk"}) == "Noted: Buy milk"
    assert (servers.data("notes") / "notes.txt").read_text() == "Buy milk\n"
    assert '"notes": 1' in await servers.service.call("notes", "count", {})
    with raises("tool_failed"):
        await servers.service.call("notes", "fail", {})
    with pytest.raises(ParachuteError):
        await servers.service.call("notes", "add", {"wrong": 1})


MARKS = "def begin():\n    open('/data/started', 'a').write('x')\n"


async def test_what_is_not_approved_never_starts(servers: RunningServers) -> None:
    program = servers.program("marks", plain(MARKS))
    servers.write("marks", program)
    assert await servers.offered() == ([], [])
    with raises("not_approved"):
        await servers.service.call("marks", "act", {})
    with raises("not_approved"):
        await servers.service.offer("marks")
    assert not servers.data("marks").exists()
    servers.approve("marks")
    assert await servers.service.call("marks", "act", {}) == "done"
    assert (servers.data("marks") / "started").read_text() == "x"  # the same test sees it when it does start


async def test_the_launcher_itself_starts_nothing_that_is_not_approved(servers: RunningServers) -> None:
    servers.write("marks", servers.program("marks", plain(MARKS)))
    servers.approve("marks")
    assert await servers.service.call("marks", "act", {}) == "done"
    folders = servers.catalog.folders("marks")
    specification = json.loads(folders.specification.read_text())
    runnable = servers.catalog.runnable("marks")
    await servers.service._running.end("marks")
    (folders.data / "started").unlink()
    # As if somebody had got core to write another command than the approved one.
    folders.run.mkdir(parents=True)
    folders.specification.write_text(json.dumps({**specification, "args": [*specification["args"], "--more"]}))
    await servers.launcher.ask("open", unit="mcp@marks")
    reader, writer = await asyncio.open_unix_connection(folders.run / "server.sock")
    assert await reader.read() == b""
    writer.close()
    assert not (folders.data / "started").exists()
    log = servers.home.logs / "mcp-marks.log"
    wait_until(lambda: "is not approved as it is" in log.read_text(), "the log has the reason")
    await servers.launcher.ask("close", unit="mcp@marks")
    assert await servers.service._running.call(runnable, "act", {}, 30) == "done"


async def test_an_edited_file_waits_for_an_approval_and_the_server_ends(servers: RunningServers) -> None:
    program = servers.program("marks", plain(MARKS))
    servers.write("marks", program)
    servers.approve("marks")
    assert await servers.service.call("marks", "act", {}) == "done"
    servers.write("marks", program, env={"EXTRA": "1"})
    with raises("not_approved", names="has changed"):
        await servers.service.call("marks", "act", {})
    tools, warnings = await servers.offered()
    assert tools == []
    assert "has changed and waits for your approval" in warnings[0]
    servers.approve("marks")
    assert await servers.service.call("marks", "act", {}) == "done"
    assert (servers.data("marks") / "started").read_text() == "xx"  # a process of the new configuration


async def test_an_edited_program_waits_too_and_the_approved_copy_is_what_ran(servers: RunningServers) -> None:
    servers.plain("one", "def act(asked):\n    text(asked, open(__file__).read()[:5] and 'first')\n")
    assert await servers.service.call("one", "act", {}) == "first"
    program = servers.programs / "one.py"
    program.write_text(plain("def act(asked):\n    text(asked, 'second')\n"))
    with raises("not_approved", names="has changed"):
        await servers.service.call("one", "act", {})
    servers.approve("one")
    assert await servers.service.call("one", "act", {}) == "second"


GROWS = """
def offer(asked):
    names = open("names").read().split() if os.path.exists("names") else ["act"]
    send({"id": asked["id"], "result": {"tools": [tool(name) for name in names]}})

def act(asked):
    if asked["params"]["name"] == "act":
        open("names", "w").write("act later")
        send({"method": "notifications/tools/list_changed"})
    text(asked, "done")
"""


async def test_a_server_that_offers_other_tools_is_asked_again(servers: RunningServers) -> None:
    async def names() -> list[str]:
        return [tool.name for tool in (await servers.offered())[0]]

    servers.plain("grows", GROWS)
    assert await names() == ["act"]
    await servers.service.call("grows", "act", {})
    assert await names() == ["act", "later"], "the server has said that there is another one"
    await servers.service._running.end("grows")
    (servers.data("grows") / "names").write_text("later")
    assert await names() == ["act", "later"], "a chat begins without starting it"
    await servers.service.call("grows", "later", {})
    assert await names() == ["later"], "it was connected to anew"
    await servers.service._running.end("grows")
    (servers.data("grows") / "names").write_text("act")
    kept = servers.catalog.folders("grows").tools
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "at": 0.0}))
    async with running_servers(servers.launcher) as later:
        assert [tool.name for tool in (await later.service.offer("grows")).tools] == ["act"]
        kept.write_text(json.dumps({**json.loads(kept.read_text()), "at": 0.0}))
        assert [tool.name for tool in (await later.offered())[0]] == ["act"]


LINKS = """
RESOURCES = {"notes://boat": "The boat lies in Kiel."}

def act(asked):
    links = [{"type": "resource_link", "uri": uri, "name": uri} for uri in ("notes://boat", "notes://gone")]
    send({"id": asked["id"], "result": {"content": links}})
"""


async def test_what_a_result_links_to_comes_with_it(servers: RunningServers) -> None:
    servers.plain("links", LINKS)
    answer = await servers.service.call("links", "act", {})
    assert answer == "[link to notes://boat]\nThe boat lies in Kiel.\n[link to notes://gone]"


REPORTS = """
waiting = []

def act(asked):
    waiting.append(asked)
    if len(waiting) == 1:
        return
    token = waiting[0]["params"]["_meta"]["progressToken"]
    send({"method": "notifications/progress", "params": {"progressToken": token, "progress": len(waiting)}})
    if len(waiting) == 5:
        text(waiting[0], "done")
    text(asked, "reported")
"""


async def test_a_tool_that_reports_its_progress_may_take_longer(servers: RunningServers) -> None:
    servers.plain("reports", REPORTS)
    await servers.service.offer("reports")  # it has started
    call = asyncio.create_task(servers.service.call("reports", "act", {}), name="call")
    for _ in range(4):
        await servers.clock.advance(CALL_SECONDS - 1, "call")
        assert await servers.service.call("reports", "act", {}) == "reported"
    assert await call == "done"


LOOK = """
import socket
def act(asked):
    found = {}
    for path in %r:
        try:
            found[path] = sorted(os.listdir(path)) if os.path.isdir(path) else open(path).read()
        except OSError as error:
            found[path] = type(error).__name__
    for name, address in %r.items():
        try:
            socket.create_connection(tuple(address), 2).close()
            found[name] = "reached"
        except OSError as error:
            found[name] = type(error).__name__
    try:
        open("/usr/marker", "w")
        found["write"] = "written"
    except OSError as error:
        found["write"] = type(error).__name__
    found["environment"] = dict(os.environ)
    found["processes"] = [open("/proc/" + name + "/cmdline").read() for name in os.listdir("/proc") if name.isdigit()]
    found["own"] = sorted(os.listdir("."))
    open("own.txt", "w").write("mine")
    text(asked, json.dumps(found))
"""


async def test_a_server_sees_no_vault_no_trust_no_network_and_no_other_process(servers: RunningServers) -> None:
    (servers.vault / "Daily").mkdir()
    (servers.vault / "Daily" / "day.md").write_text("private")
    listener = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    places = [
        str(servers.vault),
        str(servers.vault / "Daily" / "day.md"),
        str(servers.home.root),
        str(servers.home.root / "mcp-approved.json"),
        str(servers.home.control_socket),
        str(Path("~/.ssh").expanduser()),
        "/etc/shadow",
        "/run",
        "/opt/parachute",
    ]
    code = LOOK % (places, {"loopback": ("127.0.0.1", port), "internet": ("93.184.215.14", 443)})
    servers.plain("look", code)
    found = json.loads(await servers.service.call("look", "act", {}))
    listener.close()
    for place in places[:7]:
        assert found[place] in ("FileNotFoundError", "PermissionError"), place
    assert found["/run"] == []
    assert found["/opt/parachute"] == ["parachute_runner"]
    assert (found["loopback"] != "reached", found["internet"] != "reached") == (True, True)
    assert found["write"] in ("OSError", "PermissionError")
    assert set(found["environment"]) == {"HOME", "LANG", "PATH", "TMPDIR"} | ({"LC_CTYPE"} & set(found["environment"]))
    assert all("relay" in each or "look.py" in each for each in found["processes"])
    assert found["own"] == []
    assert json.loads(await servers.service.call("look", "act", {}))["own"] == ["own.txt"]


async def test_a_secret_reaches_the_server_and_no_command_line_or_file_of_the_vault(servers: RunningServers) -> None:
    program = servers.program("notes", plain("def act(asked):\n    text(asked, os.environ['TOKEN'])\n"))
    servers.write("notes", program, env={"TOKEN": "Bearer ${secret:KEY}"})
    servers.approve("notes")
    listed = servers.catalog.get("notes")
    assert (listed.state, listed.problems[0].startswith("env: the secret KEY is not set")) == ("invalid", True)
    servers.catalog.secrets.set("KEY", "s3cr3t-value")
    assert await servers.service.call("notes", "act", {}) == "Bearer s3cr3t-value"
    assert with_argument("s3cr3t-value") == []
    for process in psutil.Process(servers.launcher.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "notes.py" not in " ".join(process.cmdline()):
                assert "s3cr3t-value" not in str(process.environ())
    assert "s3cr3t-value" not in servers.catalog.folders("notes").specification.read_text()


async def test_a_crash_is_an_error_of_its_call_and_the_next_one_works(servers: RunningServers) -> None:
    servers.plain(
        "fragile", "def act(asked):\n    os._exit(3) if asked['params']['arguments'] else text(asked, 'whole')\n"
    )
    servers.plain("solid")
    with pytest.raises(Unavailable, match="The MCP server fragile has ended"):
        await servers.service.call("fragile", "act", {"crash": True})
    assert await servers.service.call("solid", "act", {}) == "done"
    assert await servers.service.call("fragile", "act", {}) == "whole"
    assert "ended by itself, with status 3" in (servers.home.logs / "mcp-fragile.log").read_text()


async def test_a_server_killed_from_outside(servers: RunningServers) -> None:
    servers.plain("solid")
    assert await servers.service.call("solid", "act", {}) == "done"
    process = psutil.Process((await servers.launcher.unit("mcp@solid"))["process"])
    process.kill()
    assert not still_running([process])
    results = []
    for _ in range(2):
        try:
            results.append(await servers.service.call("solid", "act", {}))
        except Unavailable as error:
            results.append(error.message)
    assert results[-1] == "done"


async def test_closing_leaves_nothing_behind_not_even_what_hid(servers: RunningServers) -> None:
    code = """
def begin():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "%s"])
        os._exit(0)
"""
    # The number only tells our process from others.
    number = f"76543.{os.getpid()}"
    servers.plain("forks", code % number)
    assert await servers.service.call("forks", "act", {}) == "done"
    wait_until(lambda: with_argument(number), "the hidden process runs")
    hidden = with_argument(number)
    await servers.service._running.end("forks")
    assert not still_running(hidden)
    assert not servers.catalog.folders("forks").run.exists()


async def test_another_core_ends_what_the_one_before_left(supervisor: Launcher) -> None:
    async with running_servers(supervisor) as servers:
        servers.plain("solid")
        assert await servers.service.call("solid", "act", {}) == "done"
        async with running_servers(supervisor) as later:
            units = (await supervisor.ask("status"))["units"]
            assert [unit["name"] for unit in units if unit["name"].startswith("mcp@")] == []
            assert await later.service.call("solid", "act", {}) == "done"


async def test_tools_are_known_without_starting_the_server_again(supervisor: Launcher) -> None:
    async with running_servers(supervisor) as servers:
        servers.plain("marks", MARKS)
        assert [tool.name for tool in (await servers.offered())[0]] == ["act"]
    async with running_servers(supervisor) as servers:
        assert [tool.name for tool in (await servers.offered())[0]] == ["act"]
        assert servers.service.running() == frozenset()
        assert (servers.data("marks") / "started").read_text() == "x"
