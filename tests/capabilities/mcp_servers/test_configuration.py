"""`.mcp.json`: anybody may have written it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound
from parachute.capabilities.mcp_servers.configuration import Configuration, server_of
from tests.support.bad_names import BAD_NAMES
from tests.support.errors import raises

SOUND = {"command": "npx", "args": ["-y", "notes"], "env": {"TOKEN": "${secret:NOTES}", "MODE": "fast"}}


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    """The file of an empty vault."""
    (tmp_path / "vault").mkdir()
    return Configuration(tmp_path / "vault", tmp_path / "lock")


def write(configuration: Configuration, servers: Any, **more: Any) -> None:
    """Write the file anew."""
    configuration.path.write_text(json.dumps({"mcpServers": servers, **more}))


def test_without_a_file_there_is_no_server(configuration: Configuration) -> None:
    assert (configuration.load().servers, configuration.load().problem) == ((), None)


def test_a_sound_server(configuration: Configuration) -> None:
    write(configuration, {"notes": SOUND}, other="kept")
    (server,) = configuration.load().servers
    assert (server.name, server.kind, server.shown, server.problems) == ("notes", "stdio", "npx -y notes", ())
    assert (server.secrets, dict(server.env)["MODE"]) == (("NOTES",), "fast")


def test_a_sound_server_elsewhere(configuration: Configuration) -> None:
    for fields, kind, url in (
        ({"url": "https://example.org/mcp"}, "http", "https://example.org/mcp"),
        ({"url": "https://Example.ORG:443/mcp?a=b"}, "http", "https://example.org/mcp?a=b"),
        ({"url": "https://example.org", "type": "streamable-http"}, "http", "https://example.org"),
        ({"url": "https://example.org:8443/sse", "type": "sse"}, "sse", "https://example.org:8443/sse"),
        ({"url": "http://localhost:8000/mcp"}, "http", "http://localhost:8000/mcp"),
        ({"url": "http://192.168.1.20/mcp"}, "http", "http://192.168.1.20/mcp"),
        ({"url": "http://[::1]:8000/mcp"}, "http", "http://[::1]:8000/mcp"),
        ({"url": "http://nas.local/mcp"}, "http", "http://nas.local/mcp"),
    ):
        write(configuration, {"notes": {**fields, "headers": {"Authorization": "Bearer ${secret:NOTES}"}}})
        (server,) = configuration.load().servers
        assert (server.kind, server.shown, server.problems) == (kind, url, ())
        assert server.secrets == ("NOTES",), (fields, kind, url)


WRONG: list[tuple[Any, str]] = [
    ("npx", "expected an object"),
    ({}, "command: expected"),
    ({"command": ""}, "command: expected"),
    ({"command": "./run"}, "command: expected a name without /"),
    ({"command": 7}, "command: expected"),
    ({"command": "a\0b"}, "command: expected"),
    ({"command": "a\ud800"}, "command: expected"),
    ({"command": "a", "cwd": "/"}, "cwd: unknown field"),
    ({"command": "a", "args": "b"}, "args: expected a list"),
    ({"command": "a", "args": ["b", 1]}, "args: expected a list"),
    ({"command": "a", "args": ["b"] * 101}, "args: expected a list"),
    ({"command": "a", "env": ["b"]}, "env: expected an object"),
    ({"command": "a", "env": {"A B": "c"}}, "env.A B: expected text"),
    ({"command": "a", "env": {"A": 1}}, "env.A: expected text"),
    ({"command": "a", "env": {"A": "${HOME}"}}, "env.A: only references of the form ${secret:NAME} are allowed"),
    ({"command": "a", "env": {"A": "${secret:../x}"}}, "env.A: only references"),
    ({"command": "a", "url": "https://example.org"}, "command: a server with a url has none"),
    ({"type": 7, "command": "a"}, "type: expected stdio, http or sse"),
    ({"type": "websocket", "url": "https://example.org"}, "type: expected stdio, http or sse"),
    ({"type": "http"}, "url: expected an address"),
    ({"url": 7}, "url: expected an address"),
    ({"url": "mcp.example.org"}, "url: expected an address"),
    ({"url": "file:///etc/passwd"}, "url: expected an address"),
    ({"url": f"https://example.org/{'a' * 2000}"}, "url: expected an address of up to"),
    ({"url": "https://example.org/a b"}, "url: expected an address of up to"),
    ({"url": "https://example.org/${secret:A}"}, "url: expected an address of up to"),
    ({"url": "https://example.org\r\nHost: evil"}, "url: expected an address of up to"),
    ({"url": "https://user:pass@example.org/"}, "url: a user name"),
    ({"url": "https://example.org/#a"}, "url: a user name"),
    ({"url": "http://example.org/mcp"}, "url: only machines at home"),
    ({"url": "http://169.254.169.254/latest"}, "url: it is a link-local address"),
    ({"url": "https://[::ffff:127.0.0.1]/"}, "url: it is an IPv4 address in IPv6 form"),
    ({"url": "http://2130706433/"}, "url: it ends in a number"),
    ({"url": "http://0.0.0.0/"}, "url: it is no address of a machine"),
    ({"url": "https://intranet/"}, "url: its host has only one part"),
    ({"url": "https://example.org", "env": {}}, "env: a server with a url has none"),
    ({"url": "https://example.org", "headers": ["A"]}, "headers: expected an object"),
    ({"url": "https://example.org", "headers": {"A": "b\r\nC: d"}}, "headers.A: expected text"),
    ({"url": "https://example.org", "headers": {"A": 1}}, "headers.A: expected text"),
    ({"url": "https://example.org", "headers": {"A B": "c"}}, "headers.A B: that is not the name"),
    ({"url": "https://example.org", "headers": {"Host": "c"}}, "headers.Host: the connection sets"),
    ({"url": "https://example.org", "headers": {"Content-Length": "1"}}, "headers.Content-Length: the connection sets"),
    ({"url": "https://example.org", "headers": {"A": "1", "a": "2"}}, "headers: a name stands there twice"),
    ({"url": "https://example.org", "headers": {"A": "${HOME}"}}, "headers.A: only references"),
    ({"url": "https://example.org", "headers": {str(n): "" for n in range(21)}}, "headers: expected an object"),
    ({"type": "stdio", "command": "a", "headers": {}}, "headers: a server with a command has none"),
]


def test_what_is_wrong_with_one_server_keeps_no_other(configuration: Configuration) -> None:
    for fields, problem in WRONG:
        write(configuration, {"wrong": fields, "sound": SOUND})
        sound, wrong = configuration.load().servers
        assert sound.problems == (), (fields, problem)
        assert any(problem in each for each in wrong.problems), wrong.problems


def test_names_that_cannot_be() -> None:
    for name in (*BAD_NAMES, "a__b", "a_", "_a", "a" * 41, "parachute", "IDE", "claude-x"):
        assert server_of(name, SOUND).problems[0].startswith("name: ")


def test_names_that_differ_in_case_only(configuration: Configuration) -> None:
    write(configuration, {"Notes": SOUND, "notes": SOUND})
    assert [bool(server.problems) for server in configuration.load().servers] == [False, True]


def test_a_file_that_cannot_be_read_is_a_problem_and_not_changed(configuration: Configuration) -> None:
    for text in (
        "",
        "[]",
        "{",
        '{"mcpServers": []}',
        "[" * 100_000,
        '{"mcpServers": {"a": {}, "a": {}}}',
        '{"mcpServers": {"a": {"command": "x", "command": "y"}}}',
        '"' + "x" * 300_000 + '"',
        "\x00\xff",
        json.dumps({"mcpServers": {f"s{number}": SOUND for number in range(51)}}),
    ):
        configuration.path.write_text(text)
        loaded = configuration.load()
        assert loaded.servers == (), text
        assert loaded.problem, text
        with pytest.raises((InvalidInput, Conflict)):
            configuration.add("another", SOUND)
        assert configuration.path.read_text() == text


def test_neither_links_nor_pipes_are_followed(configuration: Configuration, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text(json.dumps({"mcpServers": {"notes": SOUND}}))
    configuration.path.symlink_to(tmp_path / "elsewhere.json")
    assert "no link is followed" in str(configuration.load().problem)
    with pytest.raises(InvalidInput):
        configuration.add("another", SOUND)
    configuration.path.unlink()
    os.mkfifo(configuration.path)
    assert "not a regular file" in str(configuration.load().problem)


def test_a_change_is_seen_at_once_also_of_the_same_size_and_time(configuration: Configuration) -> None:
    write(configuration, {"one": SOUND})
    status = configuration.path.stat()
    assert configuration.load().get("one")
    write(configuration, {"two": SOUND})
    os.utime(configuration.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [server.name for server in configuration.load().servers] == ["two"]


def test_adding_and_removing_touch_nothing_else(configuration: Configuration) -> None:
    write(configuration, {"one": SOUND, "odd": {"what": "ever"}}, other={"kept": True})
    configuration.path.chmod(0o640)
    configuration.add("two", {"command": "b"})
    document = json.loads(configuration.path.read_text())
    assert document == {
        "mcpServers": {"one": SOUND, "odd": {"what": "ever"}, "two": {"command": "b"}},
        "other": {"kept": True},
    }
    assert configuration.path.stat().st_mode & 0o777 == 0o640
    configuration.remove("odd")
    configuration.remove("two")
    assert json.loads(configuration.path.read_text()) == {"mcpServers": {"one": SOUND}, "other": {"kept": True}}
    assert sorted(path.name for path in configuration.path.parent.iterdir()) == [".mcp.json"]


def test_what_cannot_be_added_or_removed(configuration: Configuration) -> None:
    configuration.add("Notes", SOUND)
    for name in ("Notes", "notes", "parachute"):
        with pytest.raises(Conflict):
            configuration.add(name, SOUND)
    with raises("server_invalid", names="only machines at home"):
        configuration.add("web", {"url": "http://example.org"})
    with pytest.raises(NotFound):
        configuration.remove("other")
    with pytest.raises(NotAllowed):
        configuration.remove("parachute")
    assert [server.name for server in configuration.load().servers] == ["Notes"]
