"""Records as lines: none of them can pass for another."""

from parachute.base.plain import plain_lines


def test_a_name_is_one_line_whatever_is_in_it() -> None:
    assert plain_lines({"a_b\ncommand: ls\u2028x": "rm"}) == ["a b command: ls x: rm"]


def test_a_text_of_several_lines_stands_below_its_name() -> None:
    assert plain_lines({"command": "ls\nhost: here"}) == ["command:", "  ls", "  host: here"]
