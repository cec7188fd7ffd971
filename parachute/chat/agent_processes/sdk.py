"""The Claude Agent SDK: imported when it is needed, and without the library of MCP, which costs 25 MB and most of a second."""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any

from parachute.chat.agent_processes.tool_bridge import SdkMcpBridge

_BRIDGE = "claude_agent_sdk._internal.sdk_mcp_bridge"
_PLACES = {
    "ClaudeSDKClient": "claude_agent_sdk.client",
    "Transport": "claude_agent_sdk._internal.transport",
    "CLIJSONDecodeError": "claude_agent_sdk._errors",
    "ClaudeSDKError": "claude_agent_sdk._errors",
    **dict.fromkeys(
        (
            "AgentDefinition",
            "AssistantMessage",
            "ClaudeAgentOptions",
            "HookMatcher",
            "PermissionResultAllow",
            "PermissionResultDeny",
            "ResultMessage",
            "ServerToolResultBlock",
            "ServerToolUseBlock",
            "StreamEvent",
            "SystemMessage",
            "TextBlock",
            "ThinkingBlock",
            "ToolResultBlock",
            "ToolUseBlock",
            "UserMessage",
        ),
        "claude_agent_sdk.types",
    ),
}


def load() -> None:
    """Import what of the SDK is used here; it takes a second of a small processor.

    The package itself also offers to make servers of tools, for which it needs MCP's library, and so does its bridge.
    """
    _late_module("claude_agent_sdk", **_PLACES)
    _late_module(_BRIDGE, SdkMcpBridge=SdkMcpBridge.__module__)
    query = import_module("claude_agent_sdk._internal.query")
    # For a process that has imported all of it before, as tests do.
    query.SdkMcpBridge = SdkMcpBridge  # type: ignore[attr-defined]
    import_module("claude_agent_sdk.client")


def _late_module(name: str, **places: str) -> None:
    """Let a module run only when a name is asked of it; the parts of a package can be imported without.

    `places` are names for which it need not run, with the modules that have them. One that was imported before stays.
    """
    if name in sys.modules:
        return
    spec = find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    loader = spec.loader
    module = module_from_spec(spec)

    def find(attribute: str) -> Any:
        if place := places.get(attribute):
            return getattr(import_module(place), attribute)
        if attribute == "__path__":  # every import asks a module whether it is a package
            raise AttributeError(attribute)
        if module.__dict__.pop("__getattr__", None) is not None:
            loader.exec_module(module)
        return getattr(module, attribute)

    module.__dict__["__getattr__"] = find
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
