"""Questions of servers to their owner during a call: a card of the inbox, an answer of the owner's, and no other one ever."""

import asyncio
import contextlib
import contextvars
import json
from typing import Any

import pytest

from parachute.capabilities.mcp_servers.elicitations import ANSWER_SECONDS
from parachute.capabilities.mcp_servers.inbox import McpServersSource
from parachute.chat.agent_processes import progress
from parachute.chat.agent_processes.tools import CALL_SECONDS, LONGEST_CALL_SECONDS
from parachute.events.inbox.models import Answer, Item
from tests.capabilities.mcp_servers.remote_servers import no_session
from tests.capabilities.mcp_servers.running_servers import RunningServers
from tests.conftest import needs_bubblewrap
from tests.support.errors import raises
from tests.support.waiting import until

pytestmark = [needs_bubblewrap, pytest.mark.long]

BOOKING = '''
from typing import Literal
from pydantic import BaseModel, Field
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("booking")


class Table(BaseModel):
    guests: int = Field(description="How many come.", ge=1, le=9)
    name: str = Field(title="Your name", max_length=20)
    terrace: bool = Field(default=False, title="Outside")
    hour: Literal["18:00", "20:00"] = "20:00"


@server.tool()
async def book(context: Context) -> str:
    """Book a table."""
    found = await context.elicit(message="Which table?", schema=Table)
    return found.action + " " + (found.data.model_dump_json() if found.action == "accept" else "")


server.run()
'''

ASKS = """
asked_last, answers = [], []

def act(asked):
    what = asked["params"]["arguments"]
    if "answers" in what:
        text(asked, json.dumps(answers))
        return
    asked_last.append(asked)
    for number, params in enumerate(what["asks"]):
        send({"id": "own-%d" % number, "method": "elicitation/create", "params": params})

def heard(message):
    if str(message.get("id", "")).startswith("own-"):
        answers.append(message.get("result") or message.get("error"))
        if message["id"] == "own-0":
            text(asked_last[-1], json.dumps(answers))
    elif message.get("method") == "notifications/cancelled":
        answers.append("cancelled")
"""


def form(message: str = "Really?", **fields: Any) -> dict[str, Any]:
    """A request with a form."""
    return {"message": message, "requestedSchema": {"type": "object", "properties": fields}}


class Asking:
    """The inbox of servers, and a call that asks."""

    def __init__(self, servers: RunningServers) -> None:
        self.servers = servers
        self.source = McpServersSource(servers.service, no_session)

    async def item(self) -> Item:
        """The request that waits."""
        await until(self.waits, "the server asks")
        (item,) = [each for each in await self.source.items() if each.kind == "mcp_question"]
        return item

    def waits(self) -> bool:
        return bool(self.servers.service.elicitations.waiting())

    def call(self, *asks: dict[str, Any], session: str | None = None) -> asyncio.Task[str]:
        """Call the tool that asks, for a conversation."""
        context = contextvars.copy_context()
        context.run(progress.session.set, session)
        work = self.servers.service.call("asks", "act", {"asks": asks})
        return asyncio.create_task(work, name="call", context=context)

    async def items(self, number: int) -> list[Item]:
        """The requests that wait, as soon as there are so many."""
        await until(lambda: len(self.servers.service.elicitations.waiting()) == number, f"{number} wait")
        return [each for each in await self.source.items() if each.kind == "mcp_question"]

    async def answers(self) -> list[Any]:
        """The answers that the server has had so far."""
        found: list[Any] = json.loads(await self.servers.service.call("asks", "act", {"answers": 1}))
        return found


@pytest.fixture
async def asking(servers: RunningServers) -> Asking:
    """A server that asks whatever a call says."""
    servers.plain("asks", ASKS)
    await servers.service.offer("asks")  # it has started
    return Asking(servers)


async def test_a_server_of_the_library_asks_its_owner(servers: RunningServers) -> None:
    servers.write("booking", servers.program("booking", BOOKING))
    servers.approve("booking")
    asking = Asking(servers)
    call = asyncio.create_task(servers.service.call("booking", "book", {}))
    item = await asking.item()
    assert (item.source, item.details["tools"], item.details["message"]) == ("booking", ["book"], "Which table?")
    assert item.is_owners, "a key of an agent answers nothing"
    assert [(each["label"], each["kind"], each["is_required"], each["given"]) for each in item.details["fields"]] == [
        ("Guests", "integer", True, ""),
        ("Your name", "text", True, ""),
        ("Outside", "boolean", False, "false"),
        ("Hour", "choice", False, "20:00"),
    ]
    with raises("answer_does_not_fit"):
        await asking.source.answer(item, Answer("answer", "ada", {"guests": "12", "name": "Ada"}))
    with raises("unknown_field"):
        await asking.source.answer(item, Answer("answer", "ada", {"guests": "2", "name": "Ada", "more": "x"}))
    await asking.source.answer(item, Answer("answer", "ada", {"guests": "2", "name": "Ada", "terrace": "true"}))
    assert await call == 'accept {"guests":2,"name":"Ada","terrace":true,"hour":"20:00"}'
    with raises("not_waiting"):
        await asking.source.answer(item, Answer("answer", "ada", {"guests": "2", "name": "Ada"}))


async def test_a_no_is_told(asking: Asking) -> None:
    call = asking.call(form(name={"type": "string"}))
    await asking.source.answer(await asking.item(), Answer("decline", "ada"))
    assert json.loads(await call) == [{"action": "decline"}]


async def test_what_nobody_answers_is_cancelled_and_the_call_goes_on(asking: Asking) -> None:
    call = asking.call(form(name={"type": "string", "default": "Ada"}))
    await asking.item()
    await asking.servers.clock.advance(CALL_SECONDS + 1, "owner of asks")  # the server is not silent meanwhile
    assert asking.waits()
    # No longer: the server has a real moment for its answer, while the clock stands.
    await asking.servers.clock.advance(ANSWER_SECONDS - CALL_SECONDS - 1, "owner of asks")
    assert json.loads(await call) == [{"action": "cancel"}]
    assert not asking.waits()


async def test_a_call_that_is_stopped_takes_its_question_with_it_and_tells_the_server(asking: Asking) -> None:
    call = asking.call(form())
    await asking.item()
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await call
    assert not asking.waits()
    assert sorted(map(str, await asking.answers())) == ["cancelled", "{'action': 'cancel'}"]


async def test_a_question_belongs_to_the_calls_that_were_at_work_when_it_came(servers: RunningServers) -> None:
    servers.plain("asks", ASKS.replace('if message["id"] == "own-0"', "if False"))  # an answer ends no call
    await servers.service.offer("asks")
    asking = Asking(servers)
    call = asking.call(form("First?"), session="one")
    (item,) = await asking.items(1)
    assert (item.session, len(item.details["conversations"])) == ("one", 1)
    other = asking.call(form("Second?"), session="two")
    items = await asking.items(2)
    assert {each.session for each in items} == {"one", None}
    assert sorted(len(each.details["conversations"]) for each in items) == [1, 2]
    call.cancel()
    (item,) = await asking.items(1)
    assert item.details["message"] == "Second?"
    other.cancel()
    assert await asking.items(0) == []


REFUSED = """
    if message.get("error"):
        send({"id": "own-1", "method": "elicitation/create", "params": asked_last[-1]["params"]["arguments"]["asks"][0]})
        return
"""


async def test_what_is_refused_lets_a_server_send_no_more(servers: RunningServers) -> None:
    servers.plain("asks", ASKS.replace("def heard(message):", f"def heard(message):{REFUSED}"))
    await servers.service.offer("asks")
    with raises("server_ended"):
        await Asking(servers).call({"message": 7, "requestedSchema": {}})


AGAIN = """
    if message.get("result") == {"action": "cancel"}:
        send({"id": "own-1", "method": "elicitation/create", "params": asked_last[-1]["params"]["arguments"]["asks"][0]})
        return
"""


async def test_a_server_that_asks_again_and_again_ends_with_the_longest_call(servers: RunningServers) -> None:
    servers.plain("asks", ASKS.replace("def heard(message):", f"def heard(message):{AGAIN}"))
    await servers.service.offer("asks")
    asking = Asking(servers)
    call = asking.call(form())
    for _ in range(round(LONGEST_CALL_SECONDS / ANSWER_SECONDS)):
        await asking.item()
        await servers.clock.advance(ANSWER_SECONDS, "owner of asks")
    with raises("too_slow"):
        await call


@pytest.mark.parametrize(
    "params",
    [
        {"mode": "url", "message": "Pay", "url": "https://evil.example", "elicitationId": "1"},
        form("x" * 2_001),
        form("Many", **{str(number): {"type": "string"} for number in range(21)}),
        form(deep={"type": "object", "properties": {}}),
        form(title={"type": "string", "title": "x" * 121}),
        form(many={"type": "string", "enum": [str(number) for number in range(101)]}),
        {"message": 7, "requestedSchema": {}},
    ],
    ids=["url", "long", "fields", "kind", "title", "choices", "message"],
)
async def test_what_cannot_be_shown_whole_is_refused_in_a_sentence(asking: Asking, params: dict[str, Any]) -> None:
    (answer,) = json.loads(await asking.call(params))
    assert (answer["code"], bool(answer["message"])) == (-32602, True)
    assert not asking.waits()


async def test_few_wait_at_a_time(asking: Asking) -> None:
    call = asking.call(*[form(str(number)) for number in range(6)][::-1])
    await until(lambda: len(asking.servers.service.elicitations.waiting()) == 4, "four wait")
    refused = await asking.answers()
    assert [each["code"] for each in refused] == [-32602] * 2
    call.cancel()


async def test_nobody_is_asked_without_a_call(servers: RunningServers) -> None:
    code = """
def offer(asked):
    send({"id": "own-1", "method": "elicitation/create", "params": PARAMS})
    send({"id": asked["id"], "result": {"tools": TOOLS}})
"""
    servers.plain("asks", ASKS + code.replace("PARAMS", repr(form())))
    await servers.service.offer("asks")
    assert [each["code"] for each in await Asking(servers).answers()] == [-32600]
    assert not servers.service.elicitations.waiting()
