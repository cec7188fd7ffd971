"""The tools that an agent may have, as data: the one table behind decisions, screens and documentation."""

from parachute.permissions.models import Access, Action

ACTIONS: tuple[Action, ...] = (
    Action("Read", "Read a file.", "path", access=Access.READ),
    Action("Glob", "Find files by name.", "path", access=Access.READ),
    Action("Grep", "Search the content of files.", "path", access=Access.READ),
    Action("LS", "List a folder.", "path", access=Access.READ),
    Action("NotebookRead", "Read a notebook.", "path", access=Access.READ),
    Action("Write", "Create or replace a file.", "path", access=Access.WRITE),
    Action("Edit", "Change a part of a file.", "path", also_requires="Read", access=Access.WRITE),
    Action("MultiEdit", "Change several parts of a file.", "path", also_requires="Read", access=Access.WRITE),
    Action("NotebookEdit", "Change a cell of a notebook.", "path", also_requires="Read", access=Access.WRITE),
    Action("Bash", "Run a command line.", "command", access=Access.RUN),
    Action("Monitor", "Run a command line and watch its output.", "command", also_requires="Bash", access=Access.RUN),
    Action("BashOutput", "Read the output of a command that still runs.", "none", also_requires="Bash"),
    Action("TaskOutput", "Read the output of a task that still runs.", "none"),
    Action("KillShell", "Stop a command that still runs.", "none", also_requires="Bash"),
    Action("KillBash", "Stop a command that still runs.", "none", also_requires="Bash"),
    Action("TaskStop", "Stop a task that still runs.", "none"),
    Action("WebSearch", "Search the web.", "none"),
    Action("WebFetch", "Fetch a web page.", "none"),
    Action("Task", "Give a part of the work to another agent.", "none"),
    Action("Agent", "Give a part of the work to another agent.", "none"),
    Action("TodoWrite", "Keep a list of what is to do.", "none"),
    Action("TaskCreate", "Add to the list of what is to do.", "none"),
    Action("TaskGet", "Read the list of what is to do.", "none"),
    Action("TaskList", "Read the list of what is to do.", "none"),
    Action("TaskUpdate", "Change the list of what is to do.", "none"),
    Action("AskUserQuestion", "Ask the person a question.", "none"),
    Action("EnterPlanMode", "Plan before doing.", "none"),
    Action("ExitPlanMode", "Show the plan and go on.", "none"),
    Action("Skill", "Use a skill.", "none"),
    Action("SlashCommand", "Use a command that the person typed.", "none"),
    Action("ToolSearch", "Find a tool by its description.", "none"),
    Action("StructuredOutput", "Answer in a given form.", "none"),
    Action("ListMcpResourcesTool", "List what a connected server offers.", "none"),
    Action("ReadMcpResourceTool", "Read what a connected server offers.", "none"),
)

ACTION_BY_NAME: dict[str, Action] = {action.name: action for action in ACTIONS}

# Two names of one tool in different versions of the command line program: allowing one allows the other.
ALIASES: dict[str, str] = {"Task": "Agent", "Agent": "Task", "KillBash": "KillShell", "KillShell": "KillBash"}

MCP_PREFIX = "mcp__"

MODULE_SERVER = "parachute"
MODULE_TOOL_PREFIX = f"{MCP_PREFIX}{MODULE_SERVER}__"


def server_tool_name(server: str, name: str) -> str:
    """The name under which the agent's program and the policy know a tool of a server."""
    return f"{MCP_PREFIX}{server}__{name}"


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


def tool_listed(name: str, listed: tuple[str, ...]) -> bool:
    """Return whether an agent's list of tools names this tool of the program."""
    return name in listed or ALIASES.get(name) in listed


def module_tool_listed(name: str, listed: tuple[str, ...]) -> bool:
    """Return whether a list of tools names this tool of a module: as `brain_search` or as `brain_*`.

    `mcp__parachute__` may stand before either, and `mcp__parachute` alone means all of them. A name of the program's own
    tools, such as `Read`, never means a module's.
    """
    for entry in listed:
        if entry == MODULE_TOOL_PREFIX.removesuffix("__"):
            return True
        pattern = entry.removeprefix(MODULE_TOOL_PREFIX)
        if pattern == entry and (entry in ACTION_BY_NAME or entry.startswith(MCP_PREFIX)):
            continue
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
            return True
    return False
