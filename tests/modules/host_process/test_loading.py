"""Forms of a module's code, and the errors about others."""

import py_compile
from pathlib import Path

import pytest

from parachute.modules.host_process.loading import verified
from parachute.modules.trees.hashing import read_tree
from parachute.supervisor.specifications.host import HostSpecification
from tests.modules.host_process.activator import hosted
from tests.support.errors import raises

pytestmark = pytest.mark.process

HEAD = "from parachute.core import Module, event, mcp_tool, route\n"
CLASS = HEAD + "class Mine(Module):\n    name = 'mine'\n    version = '1.0.0'\n"
GET = "    @route('GET', '/')\n    async def get(self):\n        return {}\n"
MANIFEST = "name: mine\nversion: 1.0.0\nmodule: module.py\n"


def test_siblings_are_found_by_both_spellings_and_are_one() -> None:
    module = (
        HEAD
        + """
import sys
import tools
from . import tools as same
from .inner.deep import VALUE
import inner.deep
import inner.deep as alias
from inner import other
import json, asyncio
from .json import TRICK

class Mine(Module):
    name = "mine"
    version = "1.0.0"

    @route("GET", "/")
    async def get(self):
        return {
            "same": tools is same and inner.deep is sys.modules["parachute_module_mine.inner.deep"] is alias,
            "value": VALUE, "other": other.NAME, "json": json.loads("1"), "trick": TRICK, "file": tools.FILE,
        }
"""
    )
    files = {
        "tools.py": "import second\nfrom .second import BACK\nFILE = __name__\n",
        "second.py": "import tools\nBACK = tools.__name__\n",
        "inner/__init__.py": "",
        "inner/deep.py": "from ..tools import FILE\nfrom . import other\nVALUE = 7\n",
        "inner/other.py": "import tools\nNAME = __name__\n",
        "json.py": "TRICK = 'own'\ndef loads(text): raise SystemExit\n",
        "asyncio/__init__.py": "raise SystemExit",
        "parachute/__init__.py": "raise SystemExit",
        "yaml.py": "raise SystemExit",
        "sitecustomize.py": "raise SystemExit",
    }
    with hosted("mine", module, files=files) as mine:
        assert mine.get("/").json() == {
            "same": True,
            "value": 7,
            "other": "parachute_module_mine.inner.other",
            "json": 1,
            "trick": "own",
            "file": "parachute_module_mine.tools",
        }


def test_functions_that_the_manifest_names() -> None:
    manifest = MANIFEST + (
        "mcp_tools: [{name: greet, description: Greet, handler: 'inner.tools:greet'}]\n"
        "hooks: [{event: mine.changed, handler: 'hooks:changed', async: true}]\n"
    )
    files = {
        "inner/tools.py": "async def greet(module, name: str) -> str:\n    return f'{module.name} greets {name}'\n",
        "hooks.py": "async def changed(module, what: str):\n    await module.core.storage.set('what', what)\n",
    }
    get = "    @route('GET', '/')\n    async def get(self):\n        return await self.core.storage.get('what')\n"
    with hosted("mine", CLASS + get, manifest=manifest, files=files) as mine:
        answer = mine.post("/_parachute/tool", {"name": "greet", "arguments": {"name": "Ann"}})
        assert answer.json() == {"content": "mine greets Ann"}
        assert mine.post("/_parachute/event", {"id": "1", "name": "mine.changed", "data": {"what": "x"}}).json() == {
            "handled": 1
        }
        assert mine.get("/").body == b"x"


def test_an_interface_is_called_over_the_socket() -> None:
    module = (
        HEAD
        + """
from typing import Protocol

class WeatherInterface(Protocol):
    async def forecast(self, city: str, days: int = 1) -> dict: ...

class Mine(Module):
    name = "mine"
    version = "1.0.0"

    async def forecast(self, city: str, days: int = 1) -> dict:
        if days > 9:
            from parachute.core import InvalidInput
            raise InvalidInput("days: nobody knows.")
        return {"city": city, "days": days}
"""
    )
    with hosted("mine", module, manifest=MANIFEST + "provides: [WeatherInterface]\n") as mine:
        call = {"interface": "WeatherInterface", "method": "forecast", "arguments": {"city": "Rome", "days": 2}}
        assert mine.post("/_parachute/interface", call).json() == {"result": {"city": "Rome", "days": 2}}
        failed = mine.post("/_parachute/interface", {**call, "arguments": {"city": "Rome", "days": 10}})
        error = {"type": "InvalidInput", "message": "days: nobody knows.", "hint": None, "key": "invalid_input"}
        assert failed.json() == {"error": error}
        assert mine.post("/_parachute/interface", {**call, "method": "get_interface"}).status == 404


def test_packages_of_its_own_and_only_those() -> None:
    module = CLASS + (
        "    @route('GET', '/{name}')\n    async def get(self, name: str):\n        import importlib\n"
        "        try:\n            return {'version': importlib.import_module(name).__version__}\n"
        "        except ModuleNotFoundError as error:\n            return {'missing': error.name}\n"
    )
    with hosted("mine", module) as mine:
        for name in ("yaml", "helper"):
            (mine.packages / name).mkdir()
            (mine.packages / name / "__init__.py").write_text(f"__version__ = 'own {name}'\n")
        assert mine.get("/helper").json() == {"version": "own helper"}
        # Its own, although this computer uses another one; and none of those that it did not ask for.
        assert mine.get("/yaml").json() == {"version": "own yaml"}
        for name in ("fastapi", "pydantic", "httpx2", "claude_agent_sdk"):
            assert mine.get(f"/{name}").json() == {"missing": name}
        assert not list(mine.packages.rglob("*.pyc"))


def test_packages_that_changed_since_they_were_installed_are_not_loaded(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "helper.py").write_text("VERSION = 1\n")
    place = str(tmp_path)
    specification = HostSpecification(
        name="mine",
        hash="",
        code=place,
        packages=str(packages),
        data=place,
        core_socket=f"{place}/core.sock",
        vault=place,
        read=(),
        write=(),
        memory=64 << 20,
        pids=10,
        idle_seconds=None,
        trust="trusted",
        packages_hash=read_tree(packages, complete=True).hash,
        dev=True,
    )
    assert verified(specification)[packages].keys() == {"helper.py"}
    (packages / "helper.py").write_text("VERSION = 2\n")
    with raises("packages_changed"):
        verified(specification)


def test_other_modules_cannot_be_imported_and_it_says_what_to_do() -> None:
    with hosted("mine", "from parachute.modules.daily import daily_module\n" + CLASS) as mine:
        said = mine.failure()
        assert 'self.get_interface("JournalInterface")' in said
        assert "optional_requires" in said
        assert mine.exits == [3]


def test_one_changed_byte_and_nothing_is_imported() -> None:
    with hosted("mine", CLASS + "print('LOADED')\n", files={"prompts/agent.md": "Be nice."}) as mine:
        (mine.code / "prompts/agent.md").chmod(0o644)
        (mine.code / "prompts/agent.md").write_text("Be evil.")
        said = mine.failure()
        assert "is not what was approved" in said
        assert "LOADED" not in said
        assert mine.exits == [3]


def test_compiled_files_are_neither_read_nor_written(tmp_path: Path) -> None:
    evil = tmp_path / "tools.py"
    evil.write_text("VALUE = 'evil'\n")
    compiled = tmp_path / "tools.pyc"
    py_compile.compile(str(evil), cfile=str(compiled), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    module = (
        CLASS
        + "    @route('GET', '/')\n    async def get(self):\n        import tools\n        return {'value': tools.VALUE}\n"
    )
    files = {"tools.py": "VALUE = 'good'\n", "tools.pyc": compiled.read_bytes(), "lonely.pyc": compiled.read_bytes()}
    with hosted("mine", module, files=files) as mine:
        assert mine.get("/").json() == {"value": "good"}
        assert not list(mine.code.rglob("__pycache__"))
    with hosted("mine", "import lonely\n" + CLASS, files=files) as mine:
        assert "No module named 'lonely'" in mine.failure()
    with hosted("mine", CLASS, files=files) as mine:
        (mine.code / "__pycache__").mkdir()
        (mine.code / "__pycache__/tools.cpython-311.pyc").write_bytes(compiled.read_bytes())
        assert "__pycache__ was not there when this copy was made" in mine.failure()


def test_a_source_that_changes_after_it_was_verified_is_not_run() -> None:
    module = CLASS + "    @route('GET', '/')\n    async def get(self):\n        import late\n        return {}\n"
    with hosted("mine", module, files={"late.py": ""}) as mine:
        assert mine.get("/_parachute/health").status == 200
        (mine.code / "late.py").chmod(0o644)
        (mine.code / "late.py").write_text("print('RAN', flush=True)\n")
        assert mine.get("/").status == 500
        assert "was changed after it was verified" in mine.log
        assert "RAN" not in mine.log


def test_code_in_place_has_no_hash() -> None:
    with hosted("mine", CLASS + GET, changes={"dev": True, "hash": "dev"}) as mine:
        (mine.code / "__pycache__").mkdir()
        assert mine.get("/").status == 200


@pytest.mark.parametrize(
    ("module", "added", "said"),
    [
        ("", "", "must have exactly one class that inherits from Module; it has: none"),
        (CLASS + "class Other(Module):\n    pass\n", "", "it has: Mine, Other"),
        (CLASS.replace("'mine'", "'other'"), "", "Mine.name is 'other', and manifest.yaml says 'mine'"),
        (CLASS.replace("1.0.0", "2.0.0"), "", "Mine.version is '2.0.0'"),
        ("import nothing_like_it\n" + CLASS, "", "Add the package to dependencies in manifest.yaml"),
        ("def broken(:\n", "", "SyntaxError"),
        (CLASS + "1 / 0\n", "", "ZeroDivisionError"),
        ("import sys\nsys.exit(0)\n", "", "ended the process while it was imported"),
        ("raise KeyboardInterrupt\n", "", "KeyboardInterrupt"),
        (
            CLASS + "    permissions = {'write': ['Daily/**']}\n",
            "",
            "permissions: write is more than manifest.yaml says",
        ),
        (CLASS + "    permissions = {'bash': True}\n", "permissions: {bash: [git]}", "permissions: bash is more"),
        (CLASS + "    permissions = {'sudo': True}\n", "", "there is no permission 'sudo'"),
        (CLASS + "    agents = {'a': {}}\n", "", "manifest.yaml has no agent 'a'"),
        (CLASS + "    agents = {'a': {'capabilities': ['bash']}}\n", "agents: {a: {}}", "a: capabilities is more"),
        (CLASS + "    agents = {'a': {'paths': ['X/']}}\n", "agents: {a: {}}", "a: workspace_access is more"),
        (CLASS + "    agents = {'a': {'network': True}}\n", "agents: {a: {}}", "a: network is more"),
        (CLASS + "    provides = ['BrainInterface']\n", "", "provides names an interface"),
        (CLASS, "provides: [BrainInterface]", "mine provides BrainInterface, and its class has no method search"),
        (CLASS + "    optional_requires = ['BrainInterface']\n", "", "optional_requires names more"),
        (
            CLASS + "    @mcp_tool('a_b')\n    async def a(self): ...\n",
            "",
            "manifest.yaml does not name it under mcp_tools",
        ),
        (CLASS, "mcp_tools: [{name: a_b, description: x}]", "the code has no function for it"),
        (CLASS, "mcp_tools: [{name: a_b, description: x, handler: 'module:nothing'}]", "has no function nothing"),
        (CLASS, "accepts: [create]", "names the change create under accepts"),
        (CLASS, "accepts: [explode]", "One of create, update, delete, link is allowed"),
        (CLASS + "    accepts = {'create': dict}\n", "accepts: [create]", "with a dataclass of its payload"),
        (
            CLASS + "    from dataclasses import make_dataclass\n    accepts = {'create': make_dataclass('New', [])}\n",
            "",
            "manifest.yaml does not name it under accepts",
        ),
        (CLASS + "    @event('a.b')\n    async def a(self): ...\n", "", "manifest.yaml does not name it under hooks"),
        (
            CLASS + "    async def on_start(self):\n        raise ValueError('no')\n",
            "",
            "The module mine failed with ValueError",
        ),
        (CLASS, "permisions: {}", "did you mean permissions?"),
    ],
)
def test_what_cannot_be_loaded_is_explained(module: str, added: str, said: str) -> None:
    with hosted("mine", module, manifest=f"{MANIFEST}{added}\n") as mine:
        assert said in mine.failure()
        assert mine.exits == [3]


def test_a_common_base_in_the_same_file_is_no_second_module() -> None:
    with hosted(
        "mine", HEAD + "class Base(Module):\n    pass\n" + CLASS.replace(HEAD, "").replace("(Module)", "(Base)") + GET
    ) as mine:
        assert mine.get("/").status == 200


def test_the_class_may_say_less_than_the_manifest() -> None:
    module = CLASS + (
        "    permissions = {'read': ['Daily/a.md'], 'write': ['Notes/mine/**'], 'bash': ['git']}\n"
        "    agents = {'a': {'paths': ['X/'], 'capabilities': ['read']}}\n" + GET
    )
    added = (
        "permissions: {read: [Daily/**], write: [Notes/**], bash: true}\n"
        "agents: {a: {paths: [X/, Y/], capabilities: [Read, Write]}}\n"
    )
    with hosted("mine", module, manifest=MANIFEST + added) as mine:
        assert mine.get("/").status == 200
