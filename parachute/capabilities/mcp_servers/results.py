"""Answers of an MCP server, read part by part: what is malformed in one costs that part."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from parachute.capabilities.mcp_servers.structured import problem_of_structured

_LONGEST_ADDRESS, _LONGEST_KIND = 2_000, 100
_ABOUT_THE_ANSWER = frozenset({"_meta", "content", "isError", "resultType", "structuredContent"})


def described(said: Any) -> dict[str, Any]:
    """A tool as a server lists it: name, description and schemas as they were said, None for what is missing."""
    fields = said if isinstance(said, dict) else {}
    named = ("name", "name"), ("description", "description"), ("input_schema", "inputSchema")
    return {name: fields.get(field) for name, field in (*named, ("output_schema", "outputSchema"))}


def cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    """A value of JSON without secrets: `clean` takes them out of a text. A number that shows one becomes a text."""
    if isinstance(value, dict):
        return {clean(name): cleaned(inside, clean) for name, inside in value.items()}
    if isinstance(value, list):
        return [cleaned(inside, clean) for inside in value]
    text = str(value)
    return value if (without := clean(text)) == text else without


def text_of(result: Mapping[str, Any], linked: Mapping[str, str], output: Mapping[str, Any] | None = None) -> str:
    """The text of a result, with what its links lead to; of pictures, sounds and unknown parts only that they are there.

    Structured content that the tool's `output` schema refuses is left out, and the rest stays. Takes time.
    """
    parts = [_text_of(block, linked) for block in _blocks(result)]
    if (structured := result.get("structuredContent")) is not None:
        if output and (problem := problem_of_structured(structured, output)) is not None:
            parts.append(f"[The structured content was left out: {problem}.]")
        elif not _is_said(structured, parts):
            parts.append(json.dumps(structured, ensure_ascii=False))
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
    """The texts of a resource that was read; of bytes only that they are there."""
    contents = read.get("contents")
    return [text_of_resource(each) for each in contents if isinstance(each, dict)] if isinstance(contents, list) else []


def text_of_resource(contents: Mapping[str, Any]) -> str:
    """The text of one part of a resource; of bytes only that they are there."""
    if isinstance(text := contents.get("text"), str):
        return text
    return f"[{str(contents.get('uri'))[:_LONGEST_ADDRESS]}, {_about(contents)}: it cannot be shown here]"


def _about(part: Mapping[str, Any]) -> str:
    """The kind of bytes that a part holds, and how many these are."""
    data = part.get("data", part.get("blob"))
    kind = str(part.get("mimeType") or "unknown kind")[:_LONGEST_KIND]
    return f"{kind}, {len(data) * 3 // 4:,} bytes" if isinstance(data, str) else kind


def _is_said(structured: Any, parts: list[str]) -> bool:
    """Return whether texts say it already: most servers answer both ways, and put what is no object into one as `result`."""
    inner = structured["result"] if isinstance(structured, dict) and structured.keys() == {"result"} else structured
    values = [_value(part) for part in parts]
    return any(each in (inner, structured) for each in (*parts, parts, *values, values))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


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
            return f"[{kind}, {_about(block)}: it cannot be shown here]"
        case {"type": "resource_link", "uri": str(address)}:
            return "\n".join(filter(None, (f"[link to {address}]", linked.get(address))))
        case {"type": "resource", "resource": dict(resource)}:
            return text_of_resource(resource)
    kind = str(block.get("type"))[:64] if isinstance(block, dict) else type(block).__name__
    return f"[{kind}: a part of an unknown kind, which cannot be shown here]"
