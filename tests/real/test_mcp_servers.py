"""MCP servers of others, installed and added as docs/mcp-servers.md says, and called by an agent in a conversation."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.chat.runs.answers import answered, ended
from tests.conftest import needs_bubblewrap
from tests.real import installed
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server

pytestmark = [needs_bubblewrap, pytest.mark.long]


@pytest.fixture(scope="module")
def house(make_shared_server: Make[Server]) -> Server:
    """A server whose conversations get the tools of every approved one."""
    return make_shared_server(default_capabilities={"mcps": "all"})


def add(house: Server, name: str, command: list[str], *reads: Path, **variables: str) -> None:
    """Add a server as its owner does, and see that it answers."""
    options = [word for folder in reads for word in ("--read", str(folder))]
    options += [word for each, value in variables.items() for word in ("--env", f"{each}={value}")]
    added = house.command("mcp", "add", name, *options, "--yes", "--", *command)
    assert added.returncode == 0, added.stdout + added.stderr
    tested = house.command("mcp", "test", name)
    assert tested.returncode == 0, tested.stdout + tested.stderr + house.logs()


def of_npm(package: str, *arguments: str) -> list[str]:
    """The command of a server from npm."""
    return [installed.node(), str(installed.npm() / package / "dist/index.js"), *arguments]


async def called(house: Server, model: MessagesAPI, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """One conversation whose agent makes these calls; their results."""
    with model.lent():
        model.script(*(tool_use(f"mcp__{tool}", arguments) for tool, arguments in calls), text("Done."))
        async with house.client() as client:
            stream = await answered(client)
    assert (ended(stream)["type"], stream.of_type("warning")) == ("done", [])
    return stream.of_type("tool_result")


async def test_everything(house: Server, model: MessagesAPI) -> None:
    add(house, "everything", of_npm("@modelcontextprotocol/server-everything", "stdio"), installed.npm())
    results = await called(
        house,
        model,
        ("everything__echo", {"message": "Grüße, 世界"}),
        ("everything__get-sum", {"a": 2, "b": 40}),
        ("everything__get-structured-content", {"location": "New York"}),
        ("everything__get-resource-links", {"count": 2}),
        ("everything__get-sum", {"a": "no number"}),
        ("everything__trigger-long-running-operation", {"duration": 2, "steps": 4}),
    )
    assert [each["isError"] for each in results] == [False, False, False, False, True, False]
    said = [each["content"] for each in results]
    assert "Grüße, 世界" in said[0]
    assert "42" in said[1]
    assert "temperature" in said[2]
    assert "demo://resource/" in said[3]
    assert "2 seconds" in said[5]


async def test_filesystem(house: Server, model: MessagesAPI, tmp_path: Path) -> None:
    shown, hidden = tmp_path / "shown", tmp_path / "hidden"
    for folder in (shown, hidden):
        folder.mkdir()
        (folder / "note.txt").write_text(f"A note of {folder.name}.")
    command = of_npm("@modelcontextprotocol/server-filesystem", str(shown))
    add(house, "files", command, installed.npm(), shown)
    read, listed, refused, unwritten = await called(
        house,
        model,
        ("files__read_text_file", {"path": str(shown / "note.txt")}),
        ("files__list_directory", {"path": str(shown)}),
        ("files__read_text_file", {"path": str(hidden / "note.txt")}),
        ("files__write_file", {"path": str(shown / "new.txt"), "content": "x"}),
    )
    assert "A note of shown." in read["content"]
    assert "note.txt" in listed["content"]
    assert (refused["isError"], unwritten["isError"]) == (True, True)
    assert not (shown / "new.txt").exists()


async def test_memory_lasts_until_the_next_start(house: Server, model: MessagesAPI) -> None:
    command = of_npm("@modelcontextprotocol/server-memory")
    add(house, "memory", command, installed.npm(), MEMORY_FILE_PATH="/data/memory.jsonl")
    ada = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
    (made,) = await called(house, model, ("memory__create_entities", {"entities": [ada]}))
    assert not made["isError"], made
    assert "Ada" in (house.home.root / "mcp/memory/data/memory.jsonl").read_text()
    (graph,) = await called(house, model, ("memory__read_graph", {}))
    assert "likes tea" in graph["content"]


def environment() -> list[Path]:
    """The environment of the servers from PyPI, and the Python that it was made of."""
    return [installed.python("mcp_servers").parents[1], Path(sys.base_prefix)]


async def test_time(house: Server, model: MessagesAPI) -> None:
    add(house, "time", [str(installed.python("mcp_servers")), "-m", "mcp_server_time"], *environment())
    tokyo = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    converted, wrong = await called(
        house,
        model,
        ("time__convert_time", tokyo),
        ("time__get_current_time", {"timezone": "Nowhere/At_all"}),
    )
    assert "21:00" in converted["content"]
    assert wrong["isError"]


async def test_git_reads_a_repository_and_cannot_commit(house: Server, model: MessagesAPI, tmp_path: Path) -> None:
    for command in (
        ("init", "-q", "-b", "main"),
        (
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "First words",
        ),
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    program = [str(installed.python("mcp_servers")), "-m", "mcp_server_git", "--repository", str(tmp_path)]
    add(house, "git", program, *environment(), tmp_path)
    path = str(tmp_path)
    log, status, commit = await called(
        house,
        model,
        ("git__git_log", {"repo_path": path}),
        ("git__git_status", {"repo_path": path}),
        ("git__git_create_branch", {"repo_path": path, "branch_name": "other"}),
    )
    assert "First words" in log["content"]
    assert "main" in status["content"]
    assert commit["isError"]
