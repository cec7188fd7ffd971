"""Tools of a server as agents are offered them: mended where its meaning is plain, and otherwise left out by name."""

from typing import Any

import pytest

from parachute.capabilities.mcp_servers.offers import Offer, offer_of
from parachute.capabilities.mcp_servers.results import text_of


def offer(*schemas: Any) -> Offer:
    """The offer of a server whose tools `t0`, `t1` … take these."""
    tools = [
        {"name": f"t{number}", "description": None, "input_schema": schema} for number, schema in enumerate(schemas)
    ]
    return offer_of("old", tools)


def an_object(**fields: Any) -> dict[str, Any]:
    """The schema of an object with these fields."""
    return {"type": "object", "properties": fields}


@pytest.mark.parametrize(
    ("said", "given"),
    [
        (
            {"type": "number", "minimum": 2, "exclusiveMinimum": True, "exclusiveMaximum": False, "maximum": 9},
            {"type": "number", "exclusiveMinimum": 2, "maximum": 9},
        ),
        (
            {"type": "array", "items": [{"type": "int"}], "additionalItems": False},
            {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
        ),
        ({"type": "array", "items": []}, {"type": "array"}),
        ({"type": "String", "description": None, "default": None}, {"type": "string", "default": None}),
        ({"type": "any", "required": False}, {}),
        ({"type": "object", "properties": []}, {"type": "object", "properties": {}}),
        ({"pattern": r"^\p{L}(?<rest>.)$"}, {}),
        ({"pattern": "^a+$"}, {"pattern": "^a+$"}),
        # Names of fields are no words of the schema, and examples are not schemas.
        (
            {"type": "object", "properties": {"items": {"type": "str"}, "required": {}}, "examples": [{"items": [1]}]},
            {
                "type": "object",
                "properties": {"items": {"type": "string"}, "required": {}},
                "examples": [{"items": [1]}],
            },
        ),
    ],
)
def test_a_field_that_another_draft_means(said: dict[str, Any], given: dict[str, Any]) -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", **an_object(field=said)}
    (tool,) = offer(schema).tools
    assert tool.input_schema == an_object(field=given)
    assert schema["properties"] == {"field": said}


@pytest.mark.parametrize(
    ("said", "given"),
    [
        (None, {"type": "object"}),
        ({}, {"type": "object"}),
        ({"properties": {}}, an_object()),
        ({"type": ["object", "null"]}, {"type": "object"}),
        ({**an_object(a={}), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, an_object(a={})),
        (
            {**an_object(a={"required": True}, b={"required": True}), "required": ["b"]},
            {**an_object(a={}, b={}), "required": ["b", "a"]},
        ),
    ],
)
def test_a_schema_that_leaves_out_what_is_plain(said: Any, given: dict[str, Any]) -> None:
    assert [tool.input_schema for tool in offer(said).tools] == [given]


def test_what_cannot_be_mended_is_left_out_with_its_reason() -> None:
    found = offer(
        an_object(a={"type": "strng"}),
        an_object(a={"pattern": "(?<x>["}),
        {"anyOf": [an_object()]},
        an_object(a={"minLength": "3"}),
        an_object(a={"required": "yes"}),
        {"type": "string"},
        an_object(**{"a b": {}}),
        {"type": "object", "properties": {"a": {"patternProperties": {"[": {}}}}},
        "no schema",
        an_object(),
    )
    assert [tool.name for tool in found.tools] == ["t9"]
    assert [each.name for each in found.left_out] == [f"t{number}" for number in range(9)]
    assert len({each.reason for each in found.left_out}) > 5
    assert "strng" in found.left_out[0].reason
    assert found.summary.startswith("9 left out: t0 (")
    assert found.summary.endswith("; and 4 more.")


def test_a_schema_without_an_end() -> None:
    deep: dict[str, Any] = {}
    for _ in range(2_000):
        deep = {"items": deep}
    assert [each.name for each in offer(an_object(a=deep)).left_out] == ["t0"]


@pytest.mark.parametrize(
    "hostile",
    [
        an_object(a={"pattern": "a{99999999999999}"}),
        an_object(a={"patternProperties": {"a{99999999999999}": {}}}),
        an_object(a={"pattern": "(" * 5_000}),
        an_object(a={"patternProperties": {"(" * 5_000: {}}}),
        an_object(a={"minimum": float("nan")}),
        {"required": [{str(number): 0} for number in range(5_000)]},
        an_object(a={"definitions": {"b": {"type": [*range(1_000), "x"]}}}),
        # Of what would be mended into a short one, nothing is read either.
        {"description": None, "$schema": "x" * 70_000},
    ],
)
def test_a_schema_on_which_a_library_would_fail_or_work_for_long_costs_its_tool(hostile: dict[str, Any]) -> None:
    found = offer(hostile, {})
    assert ([each.name for each in found.left_out], [tool.name for tool in found.tools]) == (["t0"], ["t1"])


def test_what_is_left_out_is_not_read_without_end() -> None:
    bad = an_object(a={"type": "none", "description": "x" * 60_000})
    found = offer(*[{**bad, "title": str(number)} for number in range(6)])
    assert len({each.reason for each in found.left_out}) == 2


def test_names_are_written_as_the_service_takes_them() -> None:
    said = [
        {"name": name, "description": "", "input_schema": {}} for name in ("a.b", "a_b", "pages/get", "7up", "é" * 65)
    ]
    found = offer_of("old", said)
    assert [tool.name for tool in found.tools] == ["7up", "a_b", "pages_get"]
    assert found.names == {"pages_get": "pages/get"}
    assert [each.name for each in found.left_out] == ["a.b", "é" * 64]


def test_a_hundred_and_fifty_tools() -> None:
    assert (len(offer(*[{}] * 150).tools), len(offer(*[{}] * 201).left_out)) == (150, 1)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({}, ""),
        ({"toolResult": {"n": 1}}, '{"toolResult": {"n": 1}}'),
        ({"content": "no list", "structuredContent": [1]}, "[1]"),
        ({"content": [{"type": "text", "text": "one"}, {"type": "text"}, 7, "two"]}, None),
    ],
)
def test_a_malformed_part_of_a_result_costs_this_part(result: dict[str, Any], text: str | None) -> None:
    found = text_of(result, {})
    if text is not None:
        assert found == text
    else:
        lines = found.splitlines()
        assert (lines[0], len(lines), lines[3]) == ("one", 4, "two")
