"""Context that hooks of session.start give the agent."""

import json
from pathlib import Path

import pytest

from parachute.events.hooks import memory
from parachute.events.hooks.context import LIMIT, joined
from parachute.events.hooks.defaults import load_context
from parachute.events.hooks.models import Added

from .conftest import Place

pytestmark = pytest.mark.long


def _printing(output: object) -> str:
    return f"#!/bin/sh\ncat <<'END'\n{json.dumps(output)}\nEND\n"


async def test_both_forms_are_taken_in_the_order_of_the_hooks(place: Place) -> None:
    place.script("one.sh", _printing({"additionalContext": " It rains. "}))
    place.script("two.sh", _printing({"hookSpecificOutput": {"additionalContext": "It is late."}}))
    place.script("three.sh", _printing({"told": True, "hookSpecificOutput": None}))
    place.write(session__start=["./one.sh", "./three.sh", "./two.sh"])
    await place.approve()
    outcome = await place.fire()
    assert outcome.added == (Added("one", "It rains."), Added("two", "It is late."))
    assert joined(outcome.added).startswith('<from_hook name="one">\nIt rains.\n</from_hook>\n\n<from_hook name="two">')
    assert place.messages() == []


@pytest.mark.parametrize("text", [1, ["x"], {"a": 1}])
async def test_what_is_no_text_is_an_error_of_the_hook(place: Place, text: object) -> None:
    place.script("one.sh", _printing({"additionalContext": text}))
    place.write(session__start="./one.sh")
    await place.approve()
    assert (await place.fire()).added == ()
    assert place.messages() == ["additionalContext is not a text, so nothing was added."]


async def test_what_is_too_long_is_left_out_and_told(place: Place) -> None:
    place.script("one.sh", _printing({"additionalContext": "ü" * (LIMIT // 2 - 1)}))
    place.script("two.sh", _printing({"additionalContext": "abc"}))
    place.script("three.sh", _printing({"additionalContext": "ab"}))
    place.write(session__start=["./one.sh", "./two.sh", "./three.sh"])
    await place.approve()
    assert [each.hook for each in (await place.fire()).added] == ["one", "three"]
    assert "16,384 bytes, and 2 are left" in place.messages()[0]


async def test_the_default_hook_loads_the_memory_for_conversations_only(place: Place) -> None:
    place.write(session__start="python -m parachute.hooks.defaults.load_context")
    assert (await place.fire(module="chat", trust_level="sandboxed")).added == ()
    memory.append(place.vault, "2026-01-31", ["The telescope is Ottilie's."])
    (added,) = (await place.fire(module="chat", trust_level="sandboxed")).added
    assert added.hook == "load_context"
    assert "## 2026-01-31\n\n- The telescope is Ottilie's." in added.text
    assert (await place.fire(module="daily")).added == ()
    assert place.messages() == []


async def test_a_copy_of_the_default_hook_takes_its_place(place: Place) -> None:
    text = Path(load_context.__file__).read_text().replace("Notes that", "Copied notes that")
    (place.folder / "on-session-start.py").write_text(text)
    await place.approve()
    memory.append(place.vault, "2026-01-31", ["The telescope is Ottilie's."])
    (added,) = (await place.fire(module="chat", trust_level="sandboxed")).added
    assert added.text.startswith("Copied notes that")
    assert added.text.endswith("- The telescope is Ottilie's.")
    assert place.messages() == []


async def test_what_goes_wrong_with_the_default_hook_is_an_error_and_no_more(place: Place) -> None:
    place.write(session__start="python -m parachute.hooks.defaults.load_context")
    assert not (await place.fire()).blocked
    (place.vault / "parachute" / "memory.md").mkdir(parents=True)
    assert not (await place.fire(module="chat", trust_level="sandboxed")).blocked
    assert len(place.messages()) == 2
