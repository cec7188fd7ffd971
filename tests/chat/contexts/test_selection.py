"""Choice of contexts for a session, and names of places."""

import pytest

from parachute.base.errors import Conflict, InvalidInput, NotFound
from parachute.chat.contexts.paths import split

from .conftest import World

BAD = [
    "../x",
    "a/../../x",
    "/etc",
    ".claude",
    "a/.git",
    "a\0b",
    "x" * 300,
    "a/" * 40,
    "~nobody-at-all",
    "a/.env",
    "credentials.json",
]


async def test_a_selection_is_kept_in_its_order_and_goes_with_its_session(world: World) -> None:
    await world.add_session()
    assert await world.contexts.selected("s") == []
    named = ["Projects/boat/AGENTS.md", str(world.root / "Areas"), "Areas/", "", ".", "Chat/contexts/a.md", "ü, b"]
    kept = ["Projects/boat", "Areas", "Chat/contexts/a.md", "ü, b"]
    assert await world.contexts.select("s", named) == kept
    assert await world.contexts.selected("s") == kept
    await world.contexts.add("s", ["Areas", "../x", "New"])
    assert await world.contexts.selected("s") == [*kept, "New"]
    assert await world.contexts.select("s", ["New"]) == ["New"]
    await world.sessions.delete("s")
    assert await world.contexts.selected("s") == []


async def test_what_is_no_place_changes_nothing(world: World) -> None:
    await world.add_session()
    await world.contexts.select("s", ["Areas"])
    for text in BAD:
        with pytest.raises(InvalidInput):
            await world.contexts.select("s", ["Projects", text])
        assert await world.contexts.selected("s") == ["Areas"], text
        assert len(world.contexts.sorted_out([text])[1]) == 1, text


async def test_too_many_and_no_session(world: World) -> None:
    await world.add_session()
    with pytest.raises(InvalidInput) as refused:
        await world.contexts.select("s", [str(number) for number in range(101)])
    assert refused.value.key == "too_many_folders"
    with pytest.raises(NotFound) as missing:
        await world.contexts.select("other", ["Areas"])
    assert missing.value.key == "session_not_found"


def test_names_with_commas() -> None:
    there = {"a", "b", "a,b,c", "d,e", " f, g"}
    for text, expected in {
        "": [],
        "a,b": ["a", "b"],
        "d,e,a": ["d,e", "a"],
        "x,d,e": ["x", "d,e"],
        " f, g": [" f, g"],
        "x,y": ["x", "y"],
        ",,a,": ["a"],
    }.items():
        assert split(text, there.__contains__) == expected, text
    assert len(split("," * 100_000, there.__contains__)) <= 100


async def test_seen_is_what_was_shown(world: World) -> None:
    world.write("a/AGENTS.md", "x")
    with pytest.raises(Conflict) as changed:
        await world.contexts.seen("a/AGENTS.md", "0" * 64)
    assert changed.value.key == "changed"
    with pytest.raises(NotFound) as missing:
        await world.contexts.seen("b", "0" * 64)
    assert missing.value.key == "no_context"
