"""Suggestions for conversations that others make and the user approves."""

import importlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.core import Conflict, InvalidInput, NotFound
from parachute.core.para_id import ParaId
from parachute.core.testing import Running, run

TALK = [("user", "Hello."), ("assistant", "Hello.")]
S1 = str(ParaId.of("chat", "s1"))
NOBODY = "para:chat:aaaaaaaaaaaa"


@pytest.fixture
async def chat(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Running]:
    names = ("module", "changes", "knowledge", "updates")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1]))
    async with run(importlib.import_module("module").ChatModule, conversations={"s1": TALK, "s2": TALK}) as running:
        yield running
    for name in names:
        sys.modules.pop(name, None)


async def test_a_conversation_gets_another_title_and_is_put_away(chat: Running) -> None:
    seen = await chat.module.resolve_para_id(S1)
    assert (seen["title"], seen["archived"]) == ("", False)
    options = {"target_id": S1, "expected_version": seen["version"]}
    assert await chat.applied("update", {"title": "Kevin"}, **options) is None
    await chat.check("update", {"title": "Kevin"}, target_id=S1)
    done = await chat.apply("update", {"title": "Kevin"}, **options)
    assert (done["title"], done["archived"]) == ("Kevin", False)
    assert await chat.applied("update", {"title": "Kevin"}, **options) == done
    with pytest.raises(Conflict):
        await chat.apply("update", {"archived": True}, **options)
    done = await chat.apply("update", {"archived": True}, target_id=S1, expected_version=done["version"])
    assert (done["title"], done["archived"]) == ("Kevin", True)
    assert chat.fake.changed == {"s1": {"title": "Kevin", "archived": True}}


async def test_agents_see_the_para_ids_of_conversations(chat: Running) -> None:
    assert f'"para_id":"{S1}"' in await chat.tool("chat-sessions")
    assert await chat.module.resolve_para_id(NOBODY) is None


@pytest.mark.parametrize(
    ("action", "payload", "target"),
    [
        ("create", {"title": "x"}, None),
        ("delete", {}, S1),
        ("update", {}, S1),
        ("update", {"title": "x"}, None),
        ("update", {"title": "x"}, NOBODY),
        ("update", {"title": ["x"]}, S1),
        ("update", {"title": " "}, S1),
        ("update", {"title": "x" * 201}, S1),
        ("update", {"archived": "yes"}, S1),
        ("update", {"trust_level": "direct"}, S1),
    ],
)
async def test_what_cannot_be_meant_changes_nothing(
    chat: Running, action: str, payload: dict[str, Any], target: str | None
) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        await chat.apply(action, payload, target_id=target)
    assert chat.fake.changed == {}


async def test_a_change_is_shown_before_it_is_made_and_taken_back_after(chat: Running) -> None:
    await chat.apply("update", {"title": "Kevin"}, target_id=S1)
    payload = {"title": "Kevin in Rome", "archived": True}
    shown = await chat.preview("update", payload, target_id=S1)
    assert shown is not None
    assert (shown.before, shown.after) == (
        "Title: Kevin\nPut away: no\n",
        "Title: Kevin in Rome\nPut away: yes\n",
    )
    made = await chat.apply("update", payload, target_id=S1)
    for _ in range(2):
        await chat.undo("update", payload, shown.keep, made, target_id=S1)
        assert chat.fake.changed == {"s1": {"title": "Kevin", "archived": False}}
    made = await chat.apply("update", payload, target_id=S1)
    await chat.apply("update", {"title": "Kevin in Berlin"}, target_id=S1)
    with pytest.raises(Conflict):
        await chat.undo("update", payload, shown.keep, made, target_id=S1)
