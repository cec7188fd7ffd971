"""Slugs, and what a choice of capabilities leaves."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from parachute.chat.workspaces.models import EVERYTHING, Workspace, is_slug, slug_of
from parachute.modules.runtime.models import OfferedTool

TOOLS = [OfferedTool(module, name, "", {}) for module, name in (("brain", "brain_search"), ("daily", "daily_today"))]


def test_slugs() -> None:
    for name, slug in (
        ("Garden plan", "garden-plan"),
        ("  Über  Größe!! ", "uber-groe"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本", "workspace"),
        ("a", "a"),
        ("x" * 100, "x" * 40),
        ("--rm -v /:/host", "rm-v-host"),
    ):
        assert slug_of(name, ()) == slug
        assert is_slug(slug)


def test_a_slug_is_never_given_twice() -> None:
    taken: list[str] = []
    for _ in range(12):
        taken.append(slug_of("y" * 100, taken))
    assert len(set(taken)) == 12
    assert all(is_slug(slug) for slug in taken)
    assert taken[1] == "y" * 38 + "-2"


@given(st.text(max_size=120), st.sets(st.sampled_from(["workspace", "a", "b", "1", "workspace-2"])))
def test_any_name_has_a_slug(name: str, taken: set[str]) -> None:
    slug = slug_of(name, taken)
    assert is_slug(slug)
    assert slug not in taken


def test_what_is_no_slug() -> None:
    for text in ("", "-a", "a-", "a--b", "A", "a/b", "..", "a.b", "a\n", "ä", "x" * 41):
        assert not is_slug(text)


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        ("all", ["brain_search", "daily_today"]),
        ("none", []),
        ((), []),
        (("brain",), ["brain_search"]),
        (("daily_today",), ["daily_today"]),
        (("parachute",), ["brain_search", "daily_today"]),
        (("Brain", "brain_", "*"), []),
    ],
)
def test_tools_that_are_left(choice: Any, left: list[str]) -> None:
    assert [tool.name for tool in replace(EVERYTHING, mcps=choice).tools(TOOLS)] == left


@pytest.mark.parametrize("left_out", ["capabilities", "mcps"])
def test_a_stored_workspace_without_its_capabilities_does_not_get_all(left_out: str) -> None:
    document = msgspec.to_builtins(Workspace("boat", "Boat", "", "", EVERYTHING))
    document.pop(left_out, None)
    document.get("capabilities", {}).pop(left_out, None)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(document, Workspace)
