"""Code that contradicts its manifest is refused before anything of it runs (U7)."""

from pathlib import Path

import pytest

from parachute.modules.registry.check import ModuleInvalid, check_folder
from parachute.modules.registry.service import Modules

from .building import write_module
from .steps import install

CODE = """
from parachute.core import Module, event, mcp_tool

class HelloModule(Module):
    name = "hello"
    version = "1.0.0"

    @mcp_tool("hello_search")
    async def search(self, text: str) -> str:
        return text

    @event("daily.entry.created")
    async def entry(self) -> None: ...
"""
MORE = "mcp_tools:\n  - name: hello_search\n    description: Find\nhooks:\n  - event: daily.entry.created\n"


def problems(folder: Path, code: str = CODE, more: str = MORE) -> list[str]:
    return check_folder(write_module(folder, more=more, files={"module.py": code})).problems


def test_what_agrees_can_be_installed(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"hello_search"', '"hello_find"', "the tool hello_find, and manifest.yaml does not name it under mcp_tools"),
        ('"hello_search"', '"hello_find"', "names the tool hello_search under mcp_tools, and the code has no function"),
        ('"daily.entry.created"', '"daily.entry.gone"', "the event daily.entry.gone, and manifest.yaml does not"),
        ('version = "1.0.0"', 'version = "2.0.0"', "line 6: the class has the version '2.0.0', and manifest.yaml says"),
        ('name = "hello"', 'name = "other"', "line 5: the class has the name 'other', and manifest.yaml says 'hello'"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, old: str, new: str, expected: str) -> None:
    (problem,) = problems(tmp_path, CODE.replace(old, new))
    assert expected in problem


def test_a_computed_name_is_left_to_the_host(tmp_path: Path) -> None:
    assert problems(tmp_path, CODE.replace('"hello_search"', "PREFIX + 'search'")) == []


def test_a_module_that_could_never_start_is_not_installed(modules: Modules, tmp_path: Path) -> None:
    code = CODE.replace('"hello_search"', '"hello_find"')
    with pytest.raises(ModuleInvalid):
        install(modules, write_module(tmp_path / "source", more=MORE, files={"module.py": code}))
    assert modules.list() == []
