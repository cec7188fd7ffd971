"""The rule of `make lint` about keys of errors: those it refuses, and that it refuses no others."""

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).parents[2] / "scripts/check_keys"
_BASE = "class ParachuteError(Exception):\n    key = 'error'\nclass NotFound(ParachuteError):\n    key = 'not_found'\n"
_FROM = "from parachute.base.errors import NotFound\n"


@pytest.fixture(scope="module")
def rule() -> ModuleType:
    found = ModuleType("check_keys")
    found.__file__ = str(_SCRIPT)
    SourceFileLoader("check_keys", str(_SCRIPT)).exec_module(found)
    return found


@pytest.mark.parametrize(
    ("name", "source", "lines"),
    [
        ("parachute/a.py", f"{_FROM}raise NotFound('It is gone.')\n", [2]),
        ("parachute/a.py", f"{_FROM}raise NotFound('It is gone.', key='gone')\n", []),
        ("parachute/a.py", f"{_FROM}raise NotFound('It is gone.', **more)\n", []),
        ("parachute/a.py", f"{_FROM}def f():\n    return NotFound('It is gone.')\n", [3]),
        ("parachute/a.py", f"{_FROM}raise NotFound\n", [2]),
        ("parachute/a.py", f"{_FROM}class Gone(NotFound):\n    status = 410\n\nraise Gone('It is gone.')\n", [5]),
        ("parachute/a.py", f"{_FROM}class Gone(NotFound):\n    key = 'gone'\n\nraise Gone('It is gone.')\n", []),
        ("parachute/a.py", "class NotFound(Exception):\n    pass\n\nraise NotFound('No error of ours.')\n", []),
        ("modules/a/a/a.py", "from parachute.core import NotFound\nraise NotFound('It is gone.')\n", [2]),
        ("modules/a/tests/a.py", "from parachute.core import NotFound\nraise NotFound('It is gone.')\n", []),
    ],
)
def test_each_is_named_with_its_line(
    rule: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, source: str, lines: list[int]
) -> None:
    for path, text in ((tmp_path / "parachute/base/errors.py", _BASE), (tmp_path / name, source)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert rule.main(tmp_path) == bool(lines)
    assert [line.split(": ")[0] for line in capsys.readouterr().out.splitlines()] == [
        f"{name}:{line}" for line in lines
    ]
