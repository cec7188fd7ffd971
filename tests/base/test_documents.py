"""YAML within bounds: what is read, what is refused, and where."""

from itertools import product

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from parachute.base.documents import Bounds, NotYaml, child, compose, line_of, load, load_mapping


def test_values_are_plain() -> None:
    text = "a: yes\nb: 21:30\nc: 2024-01-15\nd: 0x1f\ne: 1.5\nf: ~\ng: [Hi!, R&D, a*b]\n5: {x: }\n"
    assert load(text) == {
        "a": True,
        "b": 1290,
        "c": "2024-01-15",
        "d": 31,
        "e": 1.5,
        "f": None,
        "g": ["Hi!", "R&D", "a*b"],
        "5": {"x": None},
    }


def test_the_core_schema_takes_what_people_write_for_text() -> None:
    text = "a: yes\nb: 21:30\nc: 2024-01-15\nd: 0x1f\ne: 1.5\nf: ~\ng: 007\nh: true\ni: -3\n"
    assert load(text, Bounds(core_schema=True)) == {
        "a": "yes",
        "b": "21:30",
        "c": "2024-01-15",
        "d": "0x1f",
        "e": 1.5,
        "f": None,
        "g": "007",
        "h": True,
        "i": -3,
    }


def test_what_is_refused_is_named_with_its_place() -> None:
    for data, line, column in (
        ("a: 1\nb: [\n", 3, 1),
        ("a: 1\n\tb: 2\n", 2, 1),
        ("a: 1\n---\nb: 2\n", 2, 1),
        ("a: 1\nb: x\x00\n", 2, 5),
        (b"a: 1\nb: \xff\n", 2, 4),
        ("a: \ud800", 1, 1),
        ("a: 1\nb: &x 2\n", 2, 4),
        ("a: 1\nb: *x\n", 2, 4),
        ("a: &x [*x]\n", 1, 4),
        ("a: 1\nb: !!python/object:os.system x\n", 2, 4),
        ("a: {<<: *x}\n", 1, 9),
        ("a: 1\nb: 2\na: 3\n", 3, 1),
        ("a: {b: 1, c: 2, 'b': 3}\n", 1, 17),
        ("? [a]\n: 1\n", 1, 3),
        ("a: " + "1" * 5_000, 1, 4),
        ("a: " + "[" * 16 + "]" * 16, 1, 19),
        ("\n".join(" " * n + "a:" for n in range(20)), 17, 17),
    ):
        with pytest.raises(NotYaml) as refused:
            load(data)
        assert (refused.value.line, refused.value.column) == (line, column)
        assert (refused.value.key, refused.value.status) == ("yaml_unreadable", 422), (data, line, column)
        assert refused.value.fields == {"line": line, "column": column}


def test_each_bound_holds() -> None:
    for text, bounds in (
        ("a: ü", Bounds(size=4)),
        ("a: [b]", Bounds(depth=1)),
        ("- []", Bounds(depth=1)),
        ("[a, b, c]", Bounds(nodes=3)),
        ("-\n-\n-\n", Bounds(nodes=3)),
    ):
        load(text)
        with pytest.raises(NotYaml):
            load(text, bounds)


def test_a_mapping_is_asked_for() -> None:
    assert load_mapping("") == load_mapping("# nothing\n") == load_mapping("~") == {}
    for text in ("- a", "just text", "false"):
        with pytest.raises(NotYaml):
            load_mapping(text)


def test_nodes_know_their_lines() -> None:
    root = compose("# first\na:\n  b: 1\n")
    found = child(root, "a")
    assert found is not None
    inner = child(found[1], "b")
    assert inner is not None
    assert (line_of(found[0]), line_of(inner[1])) == (2, 3)
    assert child(root, "b") is None
    assert child(None, "a") is None


FRAGMENTS = (
    "- ",
    "? ",
    ": ",
    "-\t",
    "a: ",
    '"a": ',
    "\n",
    "\r",
    "\u2028",
    " ",
    "[",
    "{",
    "a",
    ", ",
    "'",
    "|",
    "\ufeff",
)


def test_nothing_deep_reaches_the_recursive_parser() -> None:
    for unit in map("".join, product(FRAGMENTS, repeat=2)):
        for text in (unit * 2_000, "".join(" " * n + unit for n in range(100))):
            try:
                root = compose(text, Bounds(size=1 << 30))
            except NotYaml:
                continue
            assert depth_of(root) <= 16, unit


@given(st.text(st.sampled_from("-?: \n\r\t[]{}'\"&*!|>#ab1"), max_size=40))
def test_what_is_read_has_neither_aliases_nor_tags(text: str) -> None:
    try:
        compose(text)
    except NotYaml:
        return
    for event in yaml.parse(text, yaml.CSafeLoader):
        assert not isinstance(event, yaml.AliasEvent)
        assert getattr(event, "anchor", None) is None
        assert getattr(event, "tag", None) is None


def depth_of(node: yaml.Node | None) -> int:
    if isinstance(node, yaml.MappingNode):
        return 1 + max((depth_of(value) for _, value in node.value), default=0)
    return 1 + max(map(depth_of, node.value), default=0) if isinstance(node, yaml.SequenceNode) else 0


def test_a_number_that_was_written_is_read_as_a_number() -> None:
    for number in (0.5, 1e6, 1e16, 1e-7, 0.00012345678901234567, 2.2250738585072014e-308, 5e-324):
        for core_schema in (False, True):
            assert load(yaml.safe_dump(number), Bounds(core_schema=core_schema)) == number
