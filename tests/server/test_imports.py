"""The SDK without the library of MCP: what is used of it is there, and what is not was not imported."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

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


def output(program: str, folder: Path) -> Any:
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, cwd=folder)
    return json.loads(ended.stdout)


@pytest.mark.long
def test_a_conversation_needs_nothing_of_the_library_of_mcp(tmp_path: Path) -> None:
    assert output(AGENTS, tmp_path) == [True, False, False]
