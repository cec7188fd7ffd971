"""Tools and results of an MCP server, cut down for the model."""

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from parachute.chat.agent_processes.tools import permitted
from parachute.modules.runtime.models import OfferedTool

if TYPE_CHECKING:
    from mcp.types import CallToolResult

log = logging.getLogger(__name__)

DESCRIPTION_LIMIT = 2_000
"""Characters."""

_MOST = 64
_SCHEMAS = 256 * 1024
"""Characters of all schemas and descriptions of a server together: each turn of a chat pays for them."""


def offered_of(server: str, tools: list[dict[str, Any]]) -> tuple[OfferedTool, ...]:
    """The tools of a server that agents may be offered, by name; what is too much or cannot be is left out and logged."""
    usable = permitted(
        (
            OfferedTool(
                server, str(tool["name"]), str(tool["description"])[:DESCRIPTION_LIMIT], dict(tool["input_schema"])
            )
            for tool in tools
        ),
        None,
    )
    found: list[OfferedTool] = []
    left = _SCHEMAS
    for tool in usable:
        left -= len(tool.description) + len(json.dumps(tool.input_schema))
        if left < 0 or len(found) == _MOST:
            log.warning(
                "The MCP server %s offers too much; %d of its tools are left out.", server, len(usable) - len(found)
            )
            break
        found.append(tool)
    return tuple(found)


def text_of(result: "CallToolResult", linked: Mapping[str, str]) -> str:
    """The text of a result, with what its links lead to; of pictures and sounds only that they are there."""
    parts: list[str] = []
    for block in result.content:
        if block.type == "text":
            parts.append(block.text)
        elif block.type == "image" or block.type == "audio":
            parts.append(f"[{block.type}, {block.mime_type}: it cannot be shown here]")
        elif block.type == "resource_link":
            parts.append("\n".join(filter(None, (f"[link to {block.uri}]", linked.get(str(block.uri))))))
        else:
            parts.append(str(getattr(block.resource, "text", f"[{block.resource.uri}: it cannot be shown here]")))
    if not parts and result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return "\n".join(parts)
