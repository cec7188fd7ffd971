"""The rule of `make lint` about docstrings: those it refuses, and that it refuses no others."""

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).parents[2] / "scripts/check_docstrings"


@pytest.fixture(scope="module")
def rule() -> ModuleType:
    found = ModuleType("check_docstrings")
    found.__file__ = str(_SCRIPT)
    SourceFileLoader("check_docstrings", str(_SCRIPT)).exec_module(found)
    return found


@pytest.mark.parametrize(
    ("name", "source", "lines"),
    [
        ("parachute/a.py", '"""What it is."""\n', [1]),
        ("parachute/a.py", '"""Address of the proxy."""\n', []),
        ("modules/a.py", 'class A:\n    """Whether."""\n\n    def f(self):\n        """How."""\n', [2, 5]),
        ("tests/a.py", 'LIMIT = 1\n"""Where it ends."""\nOTHER = 1\n"""Iteration of it."""\n', [2]),
        ("tests/a.py", 'text = "What it is."\nprint("How?")\n', []),
        ("scripts/a", '#!/usr/bin/env python3\n"""That it works."""\n', [2]),
        ("scripts/a", '#!/bin/sh\n"""That it works."""\n', []),
        ("console/src/a.ts", "/** Who asks. */\n/** Caller. */\n// What\n/**\n * If so.\n */\n", [1, 5]),
    ],
)
def test_each_is_named_with_its_line(
    rule: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, source: str, lines: list[int]
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(source)
    assert rule.main(tmp_path) == bool(lines)
    assert [line.split(": ")[0] for line in capsys.readouterr().out.splitlines()] == [
        f"{name}:{line}" for line in lines
    ]
