"""The resources of a server: two tools of ours with which agents list and read them, under the approval of that server."""

from collections.abc import Sequence
from typing import Any

LIST, READ = "list_resources", "read_resource"
"""A server's own tools that are called so go before."""

MOST_LISTED = 200
LONGEST_ADDRESS = 2_000
_LONGEST = 300

OWN_TOOLS: tuple[dict[str, Any], ...] = (
    {
        "name": LIST,
        "description": "List the resources of this server by their addresses, and the patterns of further ones.",
        "input_schema": {"type": "object", "properties": {}},
        "is_ours": True,
    },
    {
        "name": READ,
        "description": "Read the text of a resource of this server.",
        "input_schema": {
            "type": "object",
            "properties": {"uri": {"type": "string", "description": f"Its address, as {LIST} says it."}},
            "required": ["uri"],
        },
        "is_ours": True,
    },
)


def text_of_list(resources: Sequence[Any], patterns: Sequence[Any]) -> str:
    """Resources and patterns of them in words, a line each; what has no address is left out."""
    found = [line for each in resources[:MOST_LISTED] if (line := _line(each, "uri"))]
    found += [f"Pattern: {line}" for each in patterns[:MOST_LISTED] if (line := _line(each, "uriTemplate"))]
    if len(resources) > MOST_LISTED or len(patterns) > MOST_LISTED:
        found.append(f"[There are more: no more than {MOST_LISTED} are listed.]")
    return "\n".join(found) or "This server has no resources now."


def _line(said: Any, field: str) -> str:
    address = said.get(field) if isinstance(said, dict) else None
    if not isinstance(address, str) or not 0 < len(address) <= LONGEST_ADDRESS:
        return ""
    about = [said.get(name) for name in ("title", "name", "description", "mimeType")]
    words = ", ".join(
        dict.fromkeys(" ".join(each.split())[:_LONGEST] for each in about if isinstance(each, str) and each)
    )
    return f"{address}  {words}".rstrip()
