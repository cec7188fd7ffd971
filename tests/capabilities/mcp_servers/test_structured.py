"""Structured results and their schemas: an agent sees both, and what does not fit costs itself only."""

from typing import Any

import pytest

from parachute.capabilities.mcp_servers.offers import DESCRIPTION_LIMIT, Offer, offer_of
from parachute.capabilities.mcp_servers.resources import OWN_TOOLS
from parachute.capabilities.mcp_servers.results import text_of
from parachute.capabilities.mcp_servers.structured import problem_of_structured

COUNT = {"type": "object", "properties": {"count": {"type": "integer", "minimum": 0}}, "required": ["count"]}


def offered(**fields: Any) -> Offer:
    """The offer of a server with one tool `act`."""
    return offer_of("some", [{"name": "act", "description": "Do it.", "input_schema": {}, **fields}])


def test_an_agent_is_told_of_the_schema() -> None:
    found = offered(output_schema=COUNT)
    assert found.outputs == {"act": COUNT}
    assert found.tools[0].description.startswith("Do it.\n\n")
    assert '"minimum": 0' in found.tools[0].description


@pytest.mark.parametrize("output", [None, 7, {"type": "none"}, {"title": "x" * 70_000}])
def test_a_schema_that_is_none_costs_itself_only(output: Any) -> None:
    found = offered(output_schema=output)
    assert (found.tools[0].description, found.outputs, found.left_out) == ("Do it.", {}, ())


def test_a_long_schema_is_used_and_not_told() -> None:
    long = {**COUNT, "description": "x" * DESCRIPTION_LIMIT}
    found = offered(output_schema=long)
    assert (found.tools[0].description, found.outputs) == ("Do it.", {"act": long})


def text(content: list[str], structured: Any, output: dict[str, Any] | None = None) -> str:
    """The text of a result."""
    blocks = [{"type": "text", "text": each} for each in content]
    return text_of({"content": blocks, "structuredContent": structured}, {}, output)


def test_both_ways_are_passed_on_once() -> None:
    assert text(["Three boats."], {"count": 3}, COUNT) == 'Three boats.\n{"count": 3}'
    assert text(['{ "count":3 }'], {"count": 3}, COUNT) == '{ "count":3 }'
    assert text(["Kiel"], {"result": "Kiel"}) == "Kiel"
    assert text(["Kiel", "Laboe"], {"result": ["Kiel", "Laboe"]}) == "Kiel\nLaboe"
    assert text(["1", "2"], {"result": [1, 2]}) == "1\n2"


@pytest.mark.parametrize("structured", [{}, {"count": "3"}, {"count": -1}, [3], "3"])
def test_what_the_schema_refuses_is_left_out_and_the_text_stays(structured: Any) -> None:
    first, second = text(["Three boats."], structured, COUNT).splitlines()
    assert first == "Three boats."
    assert second.startswith("[The structured content was left out: ")


DEEPER: dict[str, Any] = {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(64)}
DEEP: dict[str, Any] = {"$ref": "#/$defs/0", "$defs": {**DEEPER, "64": {}}}


@pytest.mark.parametrize(
    "schema",
    [
        DEEP,
        {"$ref": "#"},
        {"$ref": "http://127.0.0.1:9/schema"},
        {"$ref": "#/no"},
    ],
    ids=["many steps", "itself", "elsewhere", "nowhere"],
)
def test_a_hostile_schema_comes_to_an_end(schema: dict[str, Any]) -> None:
    assert problem_of_structured({"a": 1}, schema) is not None


@pytest.mark.parametrize("place", ["pattern", "patternProperties", "propertyNames"])
def test_a_pattern_is_never_tried(place: str) -> None:
    endless = "^(a+)+$"
    said: dict[str, dict[str, Any]] = {
        "pattern": {"properties": {"x": {"pattern": endless}}},
        "patternProperties": {"patternProperties": {endless: {}}, "additionalProperties": False},
        "propertyNames": {"propertyNames": {"pattern": endless}},
    }
    hostile = "a" * 64 + "b"
    assert problem_of_structured({"x": hostile, hostile: 1}, said[place]) is None


def test_an_own_tool_gives_way_to_one_of_the_server() -> None:
    theirs = {"name": "list_resources", "description": "Theirs.", "input_schema": {}}
    found = offer_of("some", [*OWN_TOOLS, theirs])
    assert ([tool.name for tool in found.tools], found.own) == (["list_resources", "read_resource"], ("read_resource",))
    assert (found.tools[0].description, found.left_out) == ("Theirs.", ())
