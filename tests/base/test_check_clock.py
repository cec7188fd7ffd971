"""The rule of `make lint` about time: what it refuses, and that each exception is needed."""

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).parents[2] / "scripts/check_clock"


@pytest.fixture(scope="module")
def rule() -> ModuleType:
    found = ModuleType("check_clock")
    found.__file__ = str(_SCRIPT)
    SourceFileLoader("check_clock", str(_SCRIPT)).exec_module(found)
    return found


def test_each_place_is_named_with_its_line_and_so_is_an_exception_that_nothing_needs(
    rule: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, line in (
        ("core/a.py", "await_ = asyncio.sleep(1)"),
        ("cli/b.py", "time.monotonic()"),
        ("core/c.py", "clock.now() - datetime.min"),
        ("core/d.py", "from time import monotonic, sleep"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"\n{line}\n")
    assert rule.main(tmp_path, {"people wait": "cli/ web/"}) == 1
    assert [line.partition(" ")[0] for line in capsys.readouterr().out.splitlines()] == [
        "core/a.py:2:",
        "core/d.py:2:",
        "web/",
    ]
