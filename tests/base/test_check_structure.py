"""The rule of `make lint` about long functions, and about how the parts of the server are put together."""

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).parents[2] / "scripts/check_structure"


def test_each_place_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = ModuleType("check_structure")
    rule.__file__ = str(_SCRIPT)
    SourceFileLoader("check_structure", str(_SCRIPT)).exec_module(rule)

    def function(lines: int) -> str:
        return "async def work():\n" + "    pass\n" * (lines - 1)

    for name, text in (
        ("parachute/a.py", function(60) + function(61)),
        ("parachute/b.py", "one.heard = two.hear\n"),
        (
            "parachute/server/composition/c.py",
            "self.kept = one\none.heard = two.heard = three\nfound, one.heard = 1, 2\n",
        ),
        ("modules/d/tests/e.py", function(100)),
        ("modules/d/f.py", function(100)),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert rule.main(tmp_path) == 1
    assert [line.split(" ")[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["parachute/a.py:61:", "work"],
        ["parachute/server/composition/c.py:2:", "one.heard"],
        ["parachute/server/composition/c.py:2:", "two.heard"],
        ["parachute/server/composition/c.py:3:", "one.heard"],
        ["modules/d/f.py:1:", "work"],
    ]
