"""Providers with a name: each session reaches its own with its own credential, and what stays at home does so."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from parachute.llm.gateway import window
from parachute.llm.gateway.choice import ProviderChoice, write_choice
from parachute.llm.gateway.home_transport import HomeTransport
from parachute.llm.gateway.known_servers import KnownServers
from parachute.llm.gateway.named_choice import forget_named, write_named
from parachute.llm.gateway.probe import ServerFacts, probe
from parachute.llm.gateway.providers import is_at_home
from tests.support.errors import raises
from tests.support.messages_api import MessagesAPI, error, text

from .conftest import KEY, Installation, agent, question

pytestmark = pytest.mark.process

HOME_KEY = "of-the-home-server"
OUTSIDE = "claude-sonnet-4-5"


@pytest.fixture(scope="module")
def home_api() -> Iterator[MessagesAPI]:
    """A server at home."""
    with MessagesAPI() as api:
        yield api


@pytest.fixture
async def make(folder: Path, api: MessagesAPI, home_api: MessagesAPI) -> AsyncIterator[Any]:
    """Make a gateway whose first provider is `api`, and which has `home` and more."""
    made: list[Installation] = []
    api.require(api_key=KEY)
    home_api.require(api_key=HOME_KEY)
    home_api.default(None)

    async def make(**settings: Any) -> Installation:
        home = {"base_url": home_api.url, "model": "qwen3", **settings.pop("home", {})}
        settings.setdefault("providers", {"home": home})
        found = Installation(folder, {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}, settings)
        entry = {"home": {"api_key": HOME_KEY, "for": home_api.url}}
        found.home.credentials.write_text(json.dumps({"providers": entry}))
        await found.open()
        made.append(found)
        return found

    yield make
    for each in made:
        await each.close()


async def said(installation: Installation, model: str = OUTSIDE, session: str = "one", **route: Any) -> Any:
    """Ask as the agent of a session, and return the answer."""
    endpoint = await installation.gateway.open(session, **route)
    async with agent(endpoint) as client:
        return await client.post("/v1/messages", json=question(stream=False, model=model))


async def test_each_session_reaches_its_own_server_with_its_own_credential(
    make: Any, api: MessagesAPI, home_api: MessagesAPI
) -> None:
    installation = await make()
    before, home_before = len(api.requests), len(home_api.requests)
    api.script(text("outside"))
    home_api.script(text("at home"))
    assert (await said(installation)).json()["content"][0]["text"] == "outside"
    there = await said(installation, session="two", wanted="home/llama4")
    assert there.json()["content"][0]["text"] == "at home"
    (outside,), (inside,) = api.requests[before:], home_api.requests[home_before:]
    assert outside.headers["x-api-key"] == KEY
    assert inside.headers["x-api-key"] == HOME_KEY
    assert HOME_KEY not in str(outside)
    assert KEY not in str(inside)
    assert inside.body["model"] == "llama4"


@pytest.mark.parametrize("model", [OUTSIDE, "main/claude-sonnet-4-5", "home/other", "sonnet"])
async def test_an_agent_reaches_no_other_server_by_the_model_that_it_names(
    make: Any, api: MessagesAPI, home_api: MessagesAPI, model: str
) -> None:
    installation = await make()
    before = len(api.requests)
    home_api.script(text("at home"))
    assert (await said(installation, model, wanted="home/qwen3", stays=True)).status_code == 200
    assert home_api.requests[-1].body["model"] == "qwen3"
    assert len(api.requests) == before


async def test_what_stays_at_home_has_a_model_there_or_none(make: Any, home_api: MessagesAPI, api: MessagesAPI) -> None:
    installation = await make()
    before = len(api.requests)
    home_api.script(text("at home"))
    assert (await said(installation, stays=True)).status_code == 200
    with raises("only_at_home"):
        await installation.gateway.open("two", wanted=OUTSIDE, stays=True)
    with raises("unknown_provider"):
        await installation.gateway.open("two", wanted="gone/qwen3")
    elsewhere = await make(home={"at_home": False})
    with raises("only_at_home"):
        await elsewhere.gateway.open("three", stays=True)
    assert len(api.requests) == before


def test_a_model_of_a_provider_that_was_taken_out_is_not_asked_of_anthropic(folder: Path) -> None:
    upstream = Installation(folder, {"ANTHROPIC_API_KEY": KEY}, {}).gateway.upstream
    assert upstream.chosen("main/claude-opus-5").asked == upstream.chosen("claude-opus-5").asked == "claude-opus-5"
    with raises("unknown_provider"):
        upstream.chosen("home/qwen3")


def test_a_server_gets_no_model_of_a_provider_that_was_taken_out(folder: Path) -> None:
    def chosen(wanted: str | None, model: str | None) -> str | None:
        first = {"provider": "compatible", "base_url": "http://127.0.0.1:1", "model": model}
        found = Installation(folder, {}, first).gateway.upstream.chosen(wanted)
        return found.model or found.asked

    with raises("unknown_provider"):
        chosen("home/qwen3", None)
    assert chosen("main/org/qwen3", None) == "org/qwen3"
    # What the settings name is the first provider's, with a slash, too.
    assert chosen(None, "org/qwen3") == chosen("org/qwen3", "org/qwen3") == "org/qwen3"
    assert chosen(None, "main/qwen3") == "qwen3"
    with raises("unknown_provider"):
        Installation(folder, {"ANTHROPIC_API_KEY": KEY}, {"model": "gone/qwen3"}).gateway.upstream.chosen(None)


async def test_only_listed_models_are_asked_for(make: Any, home_api: MessagesAPI) -> None:
    installation = await make(home={"allowed_models": ["qwen*"]})
    before = len(home_api.requests)
    assert (await said(installation, wanted="home/llama4")).status_code == 403
    assert len(home_api.requests) == before


async def test_another_one_answers_before_the_first_token_only(
    make: Any, api: MessagesAPI, home_api: MessagesAPI
) -> None:
    installation = await make(fallback=["home"])
    endpoint = await installation.gateway.open("one")
    heard: list[str] = []
    endpoint.say = lambda title, sentence: heard.append(sentence)
    api.script(error(529, "overloaded_error", "Full."))
    home_api.script(text("at home"), text("again"))
    assert (await said(installation)).json()["content"][0]["text"] == "at home"
    before = len(api.requests)
    # Until the turn ends, the one that was silent is not waited for again.
    assert (await said(installation)).json()["content"][0]["text"] == "again"
    assert len(api.requests) == before
    assert [sentence.split()[0] for sentence in heard] == ["main"]
    installation.gateway.resume("one")
    api.script(error(400, "invalid_request_error", "No."))
    assert (await said(installation)).status_code == 400


@pytest.mark.parametrize(("leaves", "stays", "status"), [(False, False, 502), (True, False, 200), (True, True, 502)])
async def test_nobody_elsewhere_answers_in_place_of_a_model_at_home_unless_allowed(
    make: Any, api: MessagesAPI, unused_tcp_port: int, leaves: bool, stays: bool, status: int
) -> None:
    silent = {"base_url": f"http://127.0.0.1:{unused_tcp_port}", "model": "qwen3"}
    installation = await make(providers={"home": silent}, fallback=["main"], fallback_leaves_home=leaves, model=OUTSIDE)
    before = len(api.requests)
    if status == 200:
        api.script(text("outside"))
    answer = await said(installation, wanted="home/qwen3", stays=stays)
    assert answer.status_code == status
    assert len(api.requests) == before + (status == 200)
    if status == 200:
        assert api.requests[-1].headers["x-api-key"] == KEY
        assert api.requests[-1].body["model"] == OUTSIDE


async def test_what_costs_nothing_and_what_nobody_knows_are_told_apart(make: Any, home_api: MessagesAPI) -> None:
    installation = await make()
    home_api.script(text("one"), text("two"))
    await said(installation, wanted="home/qwen3")
    ((model, used),) = await installation.gateway.costs("model", 1)
    assert (model, used.dollars, used.unpriced, used.requests) == ("home/qwen3", 0, 0, 1)
    installation.gateway.upstream._settings.providers["home"].at_home = False
    await said(installation, wanted="home/qwen3")
    ((_, used),) = await installation.gateway.costs("model", 1)
    assert (used.dollars, used.unpriced, used.requests) == (0, 1, 2)


def test_a_choice_with_a_name_leaves_the_first_provider_as_it_is(folder: Path) -> None:
    installation = Installation(folder, {}, {})
    home, source = installation.home, installation.gateway.upstream.credentials
    write_choice(home, ProviderChoice("anthropic", KEY), source)
    settings = write_named(home, "home", ProviderChoice("compatible", HOME_KEY, "http://127.0.0.1:1", "qwen3"))
    assert (settings.provider, settings.providers["home"].model) == ("anthropic", "qwen3")
    held = json.loads(home.credentials.read_text())
    assert held["api_key"] == KEY
    assert held["providers"]["home"] == {"api_key": HOME_KEY, "for": "http://127.0.0.1:1"}
    assert home.credentials.stat().st_mode & 0o777 == 0o600
    assert HOME_KEY not in home.config.read_text()
    write_choice(home, ProviderChoice("offline"), source)
    write_named(home, "home", ProviderChoice("compatible", None, "http://127.0.0.1:2", "qwen3"))
    assert "providers" not in json.loads(home.credentials.read_text())
    assert forget_named(home, "home").providers == {}
    with raises("unknown_provider"):
        forget_named(home, "home")
    for name in ("main", "Home", "a/b", ""):
        with raises("provider_name"):
            write_named(home, name, ProviderChoice("offline"))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://192.168.1.5", True),
        ("http://[fd00::1]:80", True),
        ("http://box.local", True),
        ("https://models.example.org", False),
        ("http://8.8.8.8", False),
        ("http://local", False),
        ("http://100.64.0.1", False),
        ("http://[::ffff:8.8.8.8]", False),
        ("http://[::ffff:192.168.1.5]", True),
        ("http://240.0.0.1", False),
        ("http://[2001:0:1::1]", False),
        ("http://box.local.example.org", False),
    ],
)
def test_an_address_says_whether_it_is_at_home(address: str, expected: bool) -> None:
    assert is_at_home(address) is expected


def tools(*names: str, size: int = 3000) -> list[dict[str, Any]]:
    """Tools of so many bytes each."""
    schema = {"type": "object", "properties": {}}
    return [{"name": name, "description": "x" * size, "input_schema": schema} for name in names]


NAMES = ("Bash", "Read", "Write", "Edit", "Glob", "Grep", "mcp__parachute__search", "WebFetch")


@pytest.mark.parametrize("counts", [True, False])
async def test_a_model_with_a_small_window_is_told_of_fewer_tools(
    make: Any, home_api: MessagesAPI, counts: bool
) -> None:
    installation = await make()
    upstream = installation.gateway.upstream
    provider = upstream.chosen("home/")
    upstream.servers.put(provider, ServerFacts("2026-01-31T12:00:00+00:00", window=7_000, counts=counts))
    endpoint, heard = await installation.gateway.open("one", wanted="home/qwen3"), []
    endpoint.say = lambda title, sentence: heard.append(sentence)
    home_api.script(text("one"), text("two"))
    before = len(home_api.requests)
    async with agent(endpoint) as client:
        for _ in range(2):
            body = question(stream=False, tools=tools(*NAMES), system="Be short.")
            assert (await client.post("/v1/messages", json=body)).status_code == 200
    sent = home_api.requests[before:]
    told = [[each["name"] for each in request.body["tools"]] for request in sent if request.kind == "main"]
    assert told[0] == told[1]
    assert {"Read", "Write", "Edit", "Glob", "Grep"} <= set(told[0]) < set(NAMES)
    assert "mcp__parachute__search" not in told[0]
    assert len(heard) == 1
    counted = [request for request in sent if request.kind == "count_tokens"]
    assert bool(counted) is counts
    assert len(counted) <= 3


async def test_a_window_without_room_for_the_shortest_set_is_refused_before_the_model_is_asked(
    make: Any, home_api: MessagesAPI
) -> None:
    installation = await make()
    upstream = installation.gateway.upstream
    upstream.servers.put(upstream.chosen("home/"), ServerFacts("2026-01-31T12:00:00+00:00", window=2_048))
    endpoint, before = await installation.gateway.open("one", wanted="home/qwen3"), len(home_api.requests)
    async with agent(endpoint) as client:
        body = question(stream=False, tools=tools(*NAMES))
        assert (await client.post("/v1/messages", json=body)).status_code == 400
    problem = installation.gateway.take_problem("one")
    assert problem is not None
    assert (problem.code, problem.key) == ("context_exceeded", "window_too_small")
    assert len(home_api.requests) == before


async def test_a_server_is_asked_once_what_it_has(make: Any, home_api: MessagesAPI) -> None:
    installation = await make()
    upstream, before = installation.gateway.upstream, len(home_api.requests)
    home_api.tell_window(16_384)
    try:
        facts = await upstream.ask_abilities(upstream.chosen("home/"))
    finally:
        home_api.tell_window(None)
    assert facts is not None
    assert (facts.window, facts.tools, facts.streams, facts.counts) == (16_384, True, True, True)
    asked = home_api.requests[before:]
    assert len(asked) <= 5
    assert {request.body["max_tokens"] for request in asked if request.kind == "quota"} == {1}
    assert installation.home.servers.stat().st_mode & 0o777 == 0o600
    assert KnownServers(installation.home).window(upstream.chosen("home/qwen3")) == 16_384
    assert await upstream.ask_abilities(upstream.chosen(None)) is None


async def test_a_server_that_lacks_the_model_says_nothing_of_tools(make: Any) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        refusal = {"type": "invalid_request_error", "message": "Invalid model name passed in model=qwen3."}
        return httpx2.Response(400, json={"type": "error", "error": refusal})

    provider = (await make()).gateway.upstream.chosen("home/")
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        facts = await probe(client, provider, None)
    assert (facts.tools, facts.streams, facts.counts) == (None, None, False)


def test_the_window_is_read_as_each_server_says_it() -> None:
    assert window.said_in({"id": "qwen3", "max_input_tokens": 200_000, "max_output_tokens": 64_000}) == 200_000
    assert window.said_in({"id": "qwen3", "max_model_len": 4_096}) == 4_096


async def test_each_request_of_a_turn_names_a_model_of_whoever_answers(
    make: Any, api: MessagesAPI, home_api: MessagesAPI, unused_tcp_port_factory: Any
) -> None:
    def silent() -> dict[str, str]:
        return {"base_url": f"http://127.0.0.1:{unused_tcp_port_factory()}", "model": "qwen3"}

    installation = await make(
        providers={"home": silent(), "other": silent()},
        fallback=["other", "main"],
        fallback_leaves_home=True,
        model=OUTSIDE,
    )
    endpoint, before = await installation.gateway.open("one", wanted="home/qwen3"), len(api.requests)
    api.script(text("one"), text("two"))
    async with agent(endpoint) as client:
        for _ in range(2):
            answer = await client.post("/v1/messages", json=question(stream=False, model="qwen3"))
            assert answer.status_code == 200
            assert endpoint.silent == {"home", "other"}
    assert [request.body["model"] for request in api.requests[before:]] == [OUTSIDE] * 2
    assert [model for model, _ in await installation.gateway.costs("model", 1)] == [OUTSIDE]


@pytest.mark.parametrize(
    ("addresses", "reached"), [(["203.0.113.9", "8.8.8.8"], False), (["8.8.8.8", "127.0.0.1"], True)]
)
async def test_a_name_at_home_leads_to_no_address_elsewhere(
    home_api: MessagesAPI, addresses: list[str], reached: bool
) -> None:
    async def lookup(name: str) -> list[str]:
        assert name == "box.local"
        return addresses

    before, port = len(home_api.requests), home_api.url.rpartition(":")[2]
    home_api.script(text("at home"))
    async with httpx2.AsyncClient(transport=HomeTransport(lookup), trust_env=False) as client:
        asked = client.post(
            f"http://box.local:{port}/v1/messages", json=question(stream=False), headers={"x-api-key": HOME_KEY}
        )
        if reached:
            assert (await asked).status_code == 200
            assert home_api.requests[-1].headers["host"] == f"box.local:{port}"
        else:
            with pytest.raises(httpx2.ConnectError, match="at home"):
                await asked
    assert len(home_api.requests) == before + reached
    home_api.default(None)


async def test_a_proxy_of_the_environment_gets_nothing_that_stays_at_home(
    make: Any, home_api: MessagesAPI, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_tcp_port}")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{unused_tcp_port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    installation = await make()
    home_api.script(text("at home"))
    assert (await said(installation, wanted="home/qwen3")).status_code == 200
