"""The Claude Agent SDK: imported when it is needed, and without the library of MCP."""

from importlib import import_module

from parachute.base.late_modules import late_module
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
    late_module("claude_agent_sdk", **_PLACES)
    late_module(_BRIDGE, SdkMcpBridge=SdkMcpBridge.__module__)
    query = import_module("claude_agent_sdk._internal.query")
    # For a process that has imported all of it before, as tests do.
    query.SdkMcpBridge = SdkMcpBridge  # type: ignore[attr-defined]
    import_module("claude_agent_sdk.client")
