"""Lists of tools, as agents' files and workspaces write them, for the tools of modules and of the user's servers."""

from parachute.security.permissions.actions import ACTION_BY_NAME, MCP_PREFIX, MODULE_SERVER, server_tool_name

_MODULE_PREFIX = server_tool_name(MODULE_SERVER, "")


def server_tool_listed(server: str, name: str, listed: tuple[str, ...]) -> bool:
    """Return whether a list of tools names this tool of one of the user's servers: `mcp__SERVER`, or `mcp__SERVER__NAME`.

    A `*` may stand at the end of the latter. A plain name never means such a tool.
    """
    shown = server_tool_name(server, name)
    whole = f"{MCP_PREFIX}{server}"
    return any(
        entry in (whole, shown)
        or (entry.endswith("*") and entry.startswith(f"{whole}__") and shown.startswith(entry[:-1]))
        for entry in listed
    )


def module_tool_listed(name: str, listed: tuple[str, ...]) -> bool:
    """Return whether a list of tools names this tool of a module: as `brain_search` or as `brain_*`.

    `mcp__parachute__` may stand before either, and `mcp__parachute` alone means all of them. A name of the program's own
    tools, such as `Read`, never means a module's.
    """
    for entry in listed:
        if entry == _MODULE_PREFIX.removesuffix("__"):
            return True
        pattern = entry.removeprefix(_MODULE_PREFIX)
        if pattern == entry and (entry in ACTION_BY_NAME or entry.startswith(MCP_PREFIX)):
            continue
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
            return True
    return False
