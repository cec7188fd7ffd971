"""`parachute auth login` and `logout`, with the real computer and a scripted model."""

import json
import socket
import stat
from collections.abc import Iterator

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.messages_api import MessagesAPI
from tests.support.replies import text
from tests.support.terminal import Terminal

KEY = "sk-ant-api03-" + "k" * 40
TOKEN = "sk-ant-oat01-" + "t" * 40


@pytest.fixture
def signed_out(parachute: Terminal, api: MessagesAPI) -> Iterator[Terminal]:
    """The command, with a computer that runs without credentials; Anthropic is the scripted model."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    parachute.ok("start", "--port", str(port), ANTHROPIC_BASE_URL=api.url)
    yield parachute
    parachute.ok("stop")


@pytest.mark.computer
def test_a_key_is_typed_unseen_stored_tried_and_holds_at_once(signed_out: Terminal, api: MessagesAPI) -> None:
    api.require(api_key=KEY)
    api.default(text("OK."))
    with signed_out.screen("auth", "login") as screen:
        screen.until("`claude setup-token`: ")
        screen.type(f"{KEY}\n")
        shown = screen.until("A test message was answered.")
        assert screen.end() == 0
    assert KEY not in shown + screen.seen
    assert "The API key is stored in" in shown
    file = Home(signed_out.home).credentials
    assert json.loads(file.read_text())["api_key"] == KEY
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    provider = json.loads(signed_out.ok("status", "--json"))["core"]["provider"]
    assert provider["provider"] == "anthropic"

    assert "The stored credential is removed." in signed_out.ok("auth", "logout")
    assert not file.exists()
    assert "anthropic" not in json.loads(signed_out.ok("config", "get", "provider", "--json"))


@pytest.mark.computer
def test_a_wrong_secret_is_told(signed_out: Terminal, api: MessagesAPI) -> None:
    api.require(bearer="another")
    said = signed_out("auth", "login", stdin=f"{TOKEN}\n")
    assert said.code == 1
    assert "The token is stored" in said.out
    assert "The test message failed" in said.err


@pytest.mark.computer
def test_a_window_that_is_too_small_is_said_where_the_server_tells_it(signed_out: Terminal, api: MessagesAPI) -> None:
    api.default(text("OK."))
    arguments = ("auth", "login", "--base-url", api.url, "--model", "qwen3")
    assert "tokens" not in signed_out(*arguments, stdin="\n").err
    api.tell_window(2048)
    try:
        assert "-c 16384" in signed_out(*arguments, stdin="\n").err
    finally:
        api.tell_window(None)
        signed_out.ok("auth", "logout")


@pytest.mark.computer
def test_of_a_server_that_does_not_answer_nothing_is_stored(signed_out: Terminal) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # and does not listen
        said = signed_out("auth", "login", "--base-url", f"http://127.0.0.1:{silent.getsockname()[1]}", "--model", "x")
    assert said.code == 1
    assert "does not answer" in said.err
    rows = {row["name"]: row["value"] for row in json.loads(signed_out.ok("config", "--json"))}
    assert rows["base_url"] is None


def test_a_compatible_server_is_connected(parachute: Terminal, api: MessagesAPI) -> None:
    api.default(text("OK."))
    parachute.ok("auth", "login", "--base-url", api.url, "--model", "qwen3")
    rows = {row["name"]: row["value"] for row in json.loads(parachute.ok("config", "--json"))}
    assert (rows["provider"], rows["base_url"], rows["model"]) == ("compatible", api.url, "qwen3")
    parachute.ok("auth", "logout")
    assert "base_url" not in Home(parachute.home).config.read_text()


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        ((), ""),
        ((), "sk-other\n"),
        (("--model", "x"), ""),
    ],
)
def test_what_is_no_secret_is_refused(
    parachute: Terminal, arguments: tuple[str, ...], typed: str, snapshot: SnapshotAssertion
) -> None:
    result = parachute("auth", "login", *arguments, stdin=typed)
    assert result.code == 1
    assert not Home(parachute.home).credentials.exists()
    assert parachute.screens == snapshot
