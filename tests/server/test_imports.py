"""Parts of large packages that core leaves out are not there, and are there when asked for."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

HEAVY = (
    "attr",
    "click",
    "cryptography",
    "difflib",
    "html.entities",
    "httpx2",
    "mcp.client",
    "mcp.server.mcpserver",
    "multiprocessing",
    "pydantic.v1",
    "rich",
    "rpds",
    "socketserver",
    "tarfile",
    "uvicorn.supervisors",
)

IMPORTING = f"""
import json, sys
import parachute.server.__main__
before = "claude_agent_sdk" in sys.modules
import claude_agent_sdk
heavy = [name for name in {HEAVY} if sys.modules.get(name)]
"""

ASKING = """
import jsonschema, mcp, mcp.server, uvicorn, uvicorn.server
from uvicorn.main import Server as OfTheCommand
from mcp.server import MCPServer, Server
from mcp.server.lowlevel.server import Server as Plain
jsonschema.validate([1], {"type": "array"})
print(json.dumps([before, heavy, [
    uvicorn.Server is uvicorn.server.Server is OfTheCommand,
    Server is Plain is mcp.server.Server,
    callable(uvicorn.run),
    issubclass(mcp.ClientSession, object),
    hasattr(mcp, "no_such_name"),
]]))
"""

AGENTS = """
import ast, json, sys
from pathlib import Path
import parachute.server.__main__
from parachute.chat.agent_processes import sdk
sdk.load()
import claude_agent_sdk
asked = set()
for file in Path(parachute.server.__main__.__file__).parents[1].rglob("*.py"):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "claude_agent_sdk":
            asked |= {each.name for each in node.names} - {"McpSdkServerConfig", "Message"}
kinds = [isinstance(getattr(claude_agent_sdk, name), type) for name in sorted(asked)]
print(json.dumps([len(asked) > 10 and all(kinds), "mcp_types" in sys.modules, "mcp.shared" in sys.modules]))
"""

LATE = """
import json, sys
from parachute.base.late_modules import late_module
late_module("big", Part="big.part")
late_module("big")
from big import Part
import big.part
early = [hasattr(sys, "big_has_run"), Part is big.part.Part]
from big import Whole
print(json.dumps([*early, sys.big_has_run, Whole, big.Whole, "big.part" in sys.modules]))
"""


def output(program: str, folder: Path) -> Any:
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, cwd=folder)
    return json.loads(ended.stdout)


@pytest.mark.long
def test_core_with_the_sdk_has_nothing_that_it_does_not_use_and_whoever_asks_for_it_gets_it(tmp_path: Path) -> None:
    sdk_was_imported, heavy, found = output(IMPORTING + ASKING, tmp_path)
    assert (sdk_was_imported, heavy) == (False, [])
    assert found == [True, True, True, True, False]


@pytest.mark.long
def test_a_conversation_needs_nothing_of_the_library_of_mcp(tmp_path: Path) -> None:
    assert output(AGENTS, tmp_path) == [True, False, False]


def test_a_late_module_runs_once_and_only_when_it_is_asked(tmp_path: Path) -> None:
    package = tmp_path / "big"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import sys\nsys.big_has_run = getattr(sys, 'big_has_run', 0) + 1\nWhole = 'whole'\n"
    )
    (package / "part.py").write_text("class Part: pass\n")
    assert output(LATE, tmp_path) == [False, True, 1, "whole", "whole", True]
