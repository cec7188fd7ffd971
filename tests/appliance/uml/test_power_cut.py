"""The power goes while clients write, again and again: what was acknowledged is there, and nothing is half there."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from urllib.parse import quote

import pytest

from tests.appliance.agents import Agents
from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.appliance.uml.powered import Powered
from tests.appliance.uml.writers import Write, Writer, chats, entries, settings
from tests.support.sse import text_of

SOUND = f"{ENVIRONMENT}/bin/python {SOURCE}/tests/appliance/soundness.py ~/.parachute ~/Parachute"
LONG = "echo begun; sleep 1000"
UNSYNCED = "head -c 100000 /dev/zero | tr '\\0' x > ~/only-in-memory-{boot}"
LEFT = "cat ~/only-in-memory-{boot} 2> /dev/null | tr -d '\\0' | wc -c"


@pytest.mark.parametrize(
    "moment",
    [{entries: 6, settings: 2}, {chats: 1}],
    ids=["while it is written", "during a conversation"],
)
def test_what_was_acknowledged_is_there_after_the_power_has_gone(
    powered: Powered, moment: dict[Callable[[Agents], Write], int]
) -> None:
    computer, boot = powered.computer, powered.boots
    with ExitStack() as writing:
        writing.enter_context(Writer(lambda _: computer.events(LONG)))
        writing.callback(powered.off)
        computer.until(lambda: running(computer) != [], "an answer was on its way")
        (cut_off,) = running(computer)
        # Higher numbers than those of the boots before, of which some were written down and not acknowledged.
        writers = {kind: writing.enter_context(Writer(kind(computer), 1000 * boot)) for kind in moment}
        writing.callback(powered.off)
        for kind, count in moment.items():
            writers[kind].wait(count)
        computer.run(UNSYNCED.format(boot=boot))
    for kind, writer in writers.items():
        powered.acknowledged[kind] += writer.acknowledged
    powered.on()
    computer = powered.computer
    assert computer.run(LEFT.format(boot=boot)) == "0", "it was no power cut"
    check(powered)
    events = computer.streamed(f"/api/chat/{cut_off}/events")
    assert events[-1]["type"] == "aborted", events
    assert "restarted" in events[-1]["message"]
    assert text_of(computer.say("echo again", cut_off)) == "again"


def running(computer: Agents) -> list[str]:
    """Sessions that are being answered."""
    return list(computer.get("/api/chat/active-streams")["streams"])


def check(powered: Powered) -> None:
    """See that everything is there, and is whole."""
    computer = powered.computer
    found = json.loads(computer.run(SOUND))
    assert found["damaged"] == {}
    assert found["databases"] > 5
    assert found["documents"] > 10
    for entry, text in powered.acknowledged[entries]:
        assert text in computer.get(f"/api/daily/entries/{quote(entry, safe='')}")["content"]
    listed = {each["id"] for each in computer.get("/api/chat?limit=500")["sessions"]}
    for session, text in powered.acknowledged[chats]:
        assert session in listed
        messages = computer.get(f"/api/chat/{session}")["messages"]
        assert [message["role"] for message in messages][:1] == ["user"], messages
        assert text in json.dumps(messages[-1])
    limit = float(computer.run("parachute config get daily_spending_limit"))
    made = {each["slug"] for each in computer.get("/api/workspaces")["workspaces"]}
    for value, slug in powered.acknowledged[settings]:
        assert slug in made
        assert limit >= value
    assert computer.run("systemctl --user list-units --failed --quiet 'parachute-*'") == ""
