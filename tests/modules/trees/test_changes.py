"""Differences between an approved copy and the vault, however large or strange the files are."""

from pathlib import Path

import pytest

from parachute.modules.trees.changes import file_changes


def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The approved copy and the folder in the vault."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    return old, new


def test_one_line_of_many_is_shown(tmp_path: Path) -> None:
    old, new = folders(tmp_path)
    lines = [f"line {number}" for number in range(3_000)]
    (old / "a.py").write_text("\n".join(lines))
    lines[1_500] = "changed"
    (new / "a.py").write_text("\n".join(lines))
    (change,) = file_changes(old, new)
    assert [line for line in change.lines if line[0] in "+-"] == ["--- a/a.py", "+++ b/a.py", "-line 1500", "+changed"]


def test_what_is_too_long_is_named(tmp_path: Path) -> None:
    old, new = folders(tmp_path)
    (old / "long.py").write_text("x\n" * 6_000)
    (new / "long.py").write_text("y\n" * 6_000)
    (old / "wide.py").write_text("x" * 300_000)
    (new / "wide.py").write_text("y" * 300_000)
    (new / "line.py").write_text("z" * 2_000)
    for number in range(4):
        (new / f"new{number}.py").write_text("x\n" * 4_000)
    found = {change.path: change for change in file_changes(old, new)}
    assert "6,000 lines before, 6,000 lines now" in (found["long.py"].note or "")
    assert "too long" in (found["wide.py"].note or "")
    assert found["line.py"].lines[-1] == "+" + "z" * 499 + " … and 1,501 more characters"
    assert sum(len(change.lines) for change in found.values()) <= 10_000
    assert "too long to show with the others" in (found["new3.py"].note or "")
    assert len(found) == 7


def test_ends_of_lines_links_and_binaries_are_told(tmp_path: Path) -> None:
    old, new = folders(tmp_path)
    (old / "ends.py").write_bytes(b"a\nb\n")
    (new / "ends.py").write_bytes(b"a\r\nb\r\n")
    (old / "last.py").write_text("a")
    (new / "last.py").write_text("a\n")
    (old / "bytes.py").write_bytes(b"\xfe\n")
    (new / "bytes.py").write_bytes(b"\xff\n")
    (old / "kind").write_text("a file")
    (new / "kind").symlink_to("ends.py")
    (old / "link").symlink_to("a")
    (new / "link").symlink_to("b")
    (old / "native.so").write_bytes(b"\x7fELF\0a")
    (new / "native.so").write_bytes(b"\x7fELF\0b!")
    (new / "empty.py").write_text("")
    (old / "same.py").write_text("same")
    (new / "same.py").write_text("same")
    found = {change.path: change for change in file_changes(old, new)}
    assert found["ends.py"].lines[3:] == ["-a", "-b", "+a\\r", "+b\\r"]
    assert found["last.py"].note == "differs in the end of its last line"
    assert found["bytes.py"].note == "differs in bytes that are no text"
    assert found["kind"].note == "was a file, is a link"
    assert "+-> b" in found["link"].lines
    assert found["native.so"].note == "binary, 6 bytes before, 7 bytes now"
    assert (found["empty.py"].kind, found["empty.py"].lines) == ("added", [])
    assert "same.py" not in found


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        # The second line becomes a part of the comment, and Python takes it for a line of its own.
        ("# first\nverify()\n", "# first\x0cverify()\n", "+# first\\x0cverify()"),
        ("# first\nverify()\n", "# first\u2028verify()\n", "+# first\\u2028verify()"),
        ("# harmless\n", "# harmless\rsteal()\n", "+# harmless\\rsteal()"),
        ("x = 1\n", "x = 1" + " " * 600 + "; steal()\n", "+x = 1" + " " * 494 + " … and 115 more characters"),
        ("x = 1\n", "x = 1  # \u202esteal\x1b[8m\n", "+x = 1  # \\u202esteal\\x1b[8m"),
    ],
    ids=["form feed", "line separator", "carriage return", "far to the right", "hidden by the terminal"],
)
def test_nothing_hides_in_a_line(tmp_path: Path, before: str, after: str, line: str) -> None:
    old, new = folders(tmp_path)
    (old / "module.py").write_bytes(before.encode())
    (new / "module.py").write_bytes(after.encode())
    (change,) = file_changes(old, new)
    assert change.lines[-1] == line
