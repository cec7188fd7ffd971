"""The rule of `make lint` about paths: what it refuses, and that it refuses nothing else."""

import ast
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).parents[2] / "scripts/check_opening"


@pytest.fixture(scope="module")
def rule() -> ModuleType:
    found = ModuleType("check_opening")
    found.__file__ = str(_SCRIPT)
    SourceFileLoader("check_opening", str(_SCRIPT)).exec_module(found)
    return found


def test_paths_are_refused(rule: ModuleType) -> None:
    for line in (
        "open(path)",
        "path.open()",
        "os.open(path, 0)",
        "(vault / 'a').read_text()",
        "path.write_bytes(b'')",
        "read_regular(path, 10)",
        "atomic_write(path, '')",
        "os.walk(path)",
        "shutil.rmtree(path)",
        "asyncio.to_thread(shutil.rmtree, path)",
    ):
        assert list(rule.opened(ast.parse(line)))


def test_the_opener_is_not(rule: ModuleType) -> None:
    for line in (
        "Folder.open(vault)",
        "folder.read('a', 10)",
        "await files.read_bytes('a')",
        "package_files('x').read_text()",
    ):
        assert not list(rule.opened(ast.parse(line)))


def test_opening_by_hand_is_refused(rule: ModuleType) -> None:
    for line in ("os.open(name, os.O_NOFOLLOW)", "os.unlink(name, dir_fd=folder)", "os.rename(a, b, src_dir_fd=1)"):
        assert list(rule.by_hand(ast.parse(line)))


def test_each_place_is_named_with_its_line_and_so_is_an_exception_that_nothing_needs(
    rule: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, line in {
        "parachute/core/files.py": "open(path)",
        "parachute/core/tests/test_files.py": "open(path)",
        "parachute/base/folders.py": "os.open(name, os.O_NOFOLLOW)",
        "parachute/web/page.py": "\nos.open(name, os.O_NOFOLLOW)",
        "parachute/core/allowed.py": "open(path)",
        "modules/daily/daily/entries.py": "path.read_text()",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{line}\n")
    allowed = {"parachute/core/allowed.py": "", "parachute/core/gone.py": ""}
    assert rule.main(tmp_path, allowed) == 1
    assert [line.split(" ")[0] for line in capsys.readouterr().out.splitlines()] == [
        "modules/daily/daily/entries.py:1:",
        "parachute/core/files.py:1:",
        "parachute/web/page.py:2:",
        "parachute/core/gone.py",
    ]
