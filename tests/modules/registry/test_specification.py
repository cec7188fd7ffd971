"""Modules as the specification writes them: what the first request would refuse is said by the check (U7)."""

from pathlib import Path

from parachute.modules.registry.check import check_folder

from .building import write_module

TELEGRAM = """
from parachute.core import Module

class TelegramBotModule(Module):
    agents = {
        "responder": {
            "paths": ["Brain/projects/client-x.md", "~/Work/client-x/"],
            "capabilities": ["read"],
            "bash": False,
            "network": False,
        },
        "admin": {
            "paths": ["Brain/**", "Daily/**"],
            "capabilities": ["read", "write"],
            "bash": ["git", "npm"],
            "network": ["api.telegram.org"],
        },
    }

    async def handle_message(self, text: str):
        return await self.run_agent("responder", text)
"""
AGENTS = """
agents:
  responder: {paths: [Brain/projects/client-x.md, ~/Work/client-x/], capabilities: [read]}
  admin: {paths: ["Brain/**", "Daily/**"], capabilities: [read, write], bash: [git, npm], network: [api.telegram.org]}
"""
CHAT = """
from parachute.core import AgentConfig, Module, SandboxConfig

class ChatModule(Module):
    name = "hello"
    provides = ["ConversationInterface"]
    optional_requires = ["BrainInterface", "JournalInterface"]

    agents = {
        "default": AgentConfig(
            sandbox=SandboxConfig(workspace_access="none", network="bridge"),
            allowed_interfaces=["BrainInterface", "JournalInterface"],
            capabilities=["Read"],
        ),
        "trusted": AgentConfig(sandbox=None, requires_explicit_approval=True, capabilities=["Read", "Computer"]),
    }
"""
BRAIN = """
from parachute.core import Module

class BrainModule(Module):
    async def search(self, query: str): ...
    async def resolve(self, text: str): ...
    async def link(self, source_id: str, para_id: str): ...
    async def suggest(self, text: str): ...
"""


def problems(folder: Path, code: str, more: str = "") -> list[str]:
    return check_folder(write_module(folder, more=more, files={"module.py": code})).problems


def test_agents_that_the_manifest_lacks_are_named(tmp_path: Path) -> None:
    (said,) = problems(tmp_path, TELEGRAM)
    assert "has no agent 'responder'" in said
    assert "has no agent 'admin'" in said
    assert problems(tmp_path, TELEGRAM, AGENTS) == []
    (said,) = problems(tmp_path, TELEGRAM, AGENTS.replace("bash: [git, npm], ", ""))
    assert "admin: bash is more" in said


def test_interfaces_and_agents_that_are_made_by_calls_are_compared(tmp_path: Path) -> None:
    (said,) = problems(tmp_path, CHAT)
    for expected in ("no agent 'default'", "no agent 'trusted'", "provides names", "optional_requires names more"):
        assert expected in said


def test_methods_of_an_interface_are_compared_with_its_signatures(tmp_path: Path) -> None:
    (said,) = problems(tmp_path, BRAIN, "provides: [BrainInterface]\n")
    assert "hello.search must take (query, type, limit); it differs in type, limit" in said
    assert "hello.link must take (source_id, para_id, confidence); it differs in confidence" in said
    for method in ("get", "types", "context"):
        assert f"no method {method}." in said


def test_what_only_running_it_would_tell_is_left_to_the_host(tmp_path: Path) -> None:
    code = BRAIN.replace("(Module)", "(Made, Module)").replace(
        "import Module", "import Module\nfrom elsewhere import Made"
    )
    (said,) = problems(tmp_path, code, "provides: [BrainInterface]\n")
    assert "no method" not in said
    code = TELEGRAM.replace("    agents = {", "    agents = {**OTHERS,").replace('"responder"', "RESPONDER")
    (said,) = problems(tmp_path, code)
    assert "'admin'" in said
    assert "responder" not in said


def test_a_handler_without_a_function_is_named(tmp_path: Path) -> None:
    more = "mcp_tools:\n  - name: hello_search\n    description: Find\n    handler: tools:search\n"
    files = {"tools.py": "async def find(query: str): ...\n"}
    (said,) = check_folder(write_module(tmp_path, more=more, files=files)).problems
    assert "tools:search, and tools.py has no function search" in said
