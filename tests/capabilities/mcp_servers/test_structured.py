"""Structured results and their schemas: an agent sees both, and what does not fit costs itself only."""

import tracemalloc
from typing import Any

import pytest
from jsonschema import Draft202012Validator

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


def test_schemas_of_results_leave_no_tool_out() -> None:
    fields = {"input_schema": {"title": "x" * 6_000}, "output_schema": {**COUNT, "title": "x" * 10_000}}
    found = offer_of("some", [{"name": f"act{number}", "description": "Do it.", **fields} for number in range(40)])
    assert (len(found.tools), found.left_out) == (40, ())
    assert 20 < len(found.outputs) < 40


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


def doubled(schema: Any) -> dict[str, Any]:
    """A schema that asks for another one more often than anybody can count."""
    return {**DEEP, "$defs": {**DEEPER, "64": schema}}


MANY = {str(n): n for n in range(5_000)}


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ([1] * 50_000, doubled({"items": {}})),
        (MANY, doubled({"additionalProperties": {}})),
        (MANY, doubled({"not": {"const": {**MANY, "0": 1}}})),
        (7, doubled({"not": {"enum": [*range(8, 10_000)]}})),
        ({}, doubled({"not": {"required": [*MANY]}})),
    ],
    ids=["items", "additionalProperties", "const", "enum", "required"],
)
def test_whatever_is_looked_at_counts(value: Any, schema: dict[str, Any]) -> None:
    assert problem_of_structured(value, schema) == "it cannot be checked with the tool's own schema"


def test_a_refusal_takes_no_more_memory_than_the_result() -> None:
    schema = {"items": {"anyOf": [{"type": "integer"}] * 1_000}}
    tracemalloc.start()
    try:
        assert problem_of_structured(["x" * 150_000], schema) is not None
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_what_would_be_cut_is_not_checked() -> None:
    assert "200,000" in str(problem_of_structured("x" * 200_000, {"type": "string"}))


SCHEMAS: list[Any] = [
    *({"type": kind} for kind in ("array", "boolean", "integer", "null", "number", "object", "string")),
    {"type": ["null", "integer"]},
    {"enum": [1, "a", None]},
    {"const": False},
    {"const": {"a": [1]}},
    {"minimum": 1, "exclusiveMaximum": 2},
    {"maximum": 1, "exclusiveMinimum": 0},
    {"minLength": 1, "maxLength": 1},
    {"minItems": 1, "maxItems": 1},
    {"items": {"type": "integer"}},
    {"prefixItems": [{"type": "integer"}], "items": False},
    {"required": ["a"]},
    {"properties": {"a": {"type": "array"}}, "additionalProperties": False},
    {"additionalProperties": {"type": "array"}},
    {"allOf": [{"type": "number"}, {"minimum": 1}]},
    {"anyOf": [{"type": "number"}, {"minLength": 1}]},
    {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    {"not": {"type": "string"}},
    {"$ref": "#/$defs/a~1b%25/anyOf/0", "$defs": {"a/b%": {"anyOf": [{"type": "string"}]}}},
    {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]},
]
VALUES: list[Any] = [None, True, False, 0, 1, 1.0, 1.5, 2, "", "a", "ab", [], [1], [1, 2], ["a"], [[1]], {}]
VALUES += [{"a": [1]}, {"a": [True]}, {"a": 1}, {"b": []}, {"a": [], "b": 1}]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_it_decides_as_the_library_does(schema: Any) -> None:
    library = Draft202012Validator(schema)
    ours = [problem_of_structured(value, schema) is None for value in VALUES]
    assert ours == [library.is_valid(value) for value in VALUES]


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
