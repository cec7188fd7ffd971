"""The allowed content of a request to the model: nothing by which the provider would reach out on the agent's behalf.

A sandbox has no network; a picture by address, a connector or a fetching tool would have the provider carry data out for it.
"""

from typing import Any

_FIELDS = frozenset(
    [
        "cache_control",
        "context_management",
        "diagnostics",
        "max_tokens",
        "messages",
        "metadata",
        "model",
        "output_config",
        "output_format",
        "stop_sequences",
        "stream",
        "system",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
        "top_k",
        "top_p",
    ]
)
"""Fields that the agent's program sends and other clients of the Messages API need. Left out are those that reach out (`mcp_servers`,
`container`), what is kept at the provider (`thread`), and what costs more than is counted (`speed`, `service_tier`,
`inference_geo`)."""

_INLINE = frozenset({"base64", "text", "content"})
_OWN_TOOLS = "custom"
_SEARCH = "web_search_"
_DEEPEST = 8


def refusal(body: dict[str, Any], *, searches: bool = True) -> str | None:
    """The reason why a request is refused, as a sentence, or None; `searches`: the provider may search the web for it."""
    open_tools = (_OWN_TOOLS, _SEARCH) if searches else (_OWN_TOOLS,)
    for name, value in body.items():
        if value and name not in _FIELDS:
            return f"`{name[:60]}` is not open to agents."
    for tool in _list(body.get("tools")):
        kind = tool.get("type")
        if kind is not None and not (isinstance(kind, str) and kind.startswith(open_tools)):
            return f"Tools of the type {str(kind)[:60]!r} run at the provider and are not open to agents."
    for message in (*_list(body.get("messages")), {"content": body.get("system")}):
        if kind := _reaching(message.get("content")):
            return f"Content by {kind} could make the provider fetch something, and is not open to agents."
    return None


def may_search(body: dict[str, Any]) -> bool:
    """Return whether a request lets the provider search the web."""
    return any(str(tool.get("type")).startswith(_SEARCH) for tool in _list(body.get("tools")))


def _reaching(content: Any, depth: int = 0) -> str | None:
    for block in _list(content):
        if depth > _DEEPEST:
            return "nesting"  # no answer of a tool is so deep, and what is in it was not looked at
        source = block.get("source")
        if isinstance(source, dict) and source.get("type") not in _INLINE:
            return str(source.get("type"))[:60]
        if found := _reaching(block.get("content"), depth + 1) or _reaching([source], depth + 1):
            return found
    return None


def _list(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
