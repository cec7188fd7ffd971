"""Answers of an MCP server, read part by part: what is malformed in one costs that part."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from parachute.base.errors import Unavailable

_ABOUT_THE_ANSWER = frozenset({"_meta", "content", "isError", "resultType", "structuredContent"})


def listed_in(page: Mapping[str, Any], server: str) -> list[dict[str, Any]]:
    """The tools of one page: `name`, `description` and `input_schema` of each, as they were said; error: Unavailable."""
    tools = page.get("tools")
    if not isinstance(tools, list):
        raise Unavailable(f"The MCP server {server} answered without a list of its tools.", key="no_list_of_tools")
    fields = [each if isinstance(each, dict) else {} for each in tools]
    return [
        {"name": each.get("name"), "description": each.get("description"), "input_schema": each.get("inputSchema")}
        for each in fields
    ]


def cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    """A value of JSON without secrets: `clean` takes them out of a text. A number that shows one becomes a text."""
    if isinstance(value, dict):
        return {clean(name): cleaned(inside, clean) for name, inside in value.items()}
    if isinstance(value, list):
        return [cleaned(inside, clean) for inside in value]
    text = str(value)
    return value if (without := clean(text)) == text else without


def text_of(result: Mapping[str, Any], linked: Mapping[str, str]) -> str:
    """The text of a result, with what its links lead to; of pictures, sounds and unknown parts only that they are there."""
    parts = [_text_of(block, linked) for block in _blocks(result)]
    if not parts and result.get("structuredContent") is not None:
        parts.append(json.dumps(result["structuredContent"], ensure_ascii=False))
    if not parts:
        # Servers from before the protocol had contents.
        rest = {name: value for name, value in result.items() if name not in _ABOUT_THE_ANSWER}
        parts += [json.dumps(rest, ensure_ascii=False)] if rest else []
    return "\n".join(parts)


def links_of(result: Mapping[str, Any]) -> list[str]:
    """The addresses of the links in a result."""
    blocks = [each for each in _blocks(result) if isinstance(each, dict) and each.get("type") == "resource_link"]
    return [each["uri"] for each in blocks if isinstance(each.get("uri"), str)]


def texts_in(read: Mapping[str, Any]) -> list[str]:
    """The texts of a resource that was read."""
    contents = read.get("contents")
    parts = [each for each in contents if isinstance(each, dict)] if isinstance(contents, list) else []
    return [each["text"] for each in parts if isinstance(each.get("text"), str)]


def _blocks(result: Mapping[str, Any]) -> list[Any]:
    blocks = result.get("content")
    return blocks if isinstance(blocks, list) else []


def _text_of(block: Any, linked: Mapping[str, str]) -> str:
    if isinstance(block, str):
        return block
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind}:
            return f"[{kind}, {block.get('mimeType')}: it cannot be shown here]"
        case {"type": "resource_link", "uri": str(address)}:
            return "\n".join(filter(None, (f"[link to {address}]", linked.get(address))))
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource", "resource": {"uri": address}}:
            return f"[{address}: it cannot be shown here]"
    kind = str(block.get("type"))[:64] if isinstance(block, dict) else type(block).__name__
    return f"[{kind}: a part of an unknown kind, which cannot be shown here]"
