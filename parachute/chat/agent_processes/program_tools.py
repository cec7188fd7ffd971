"""The tools of the agent's program that agents here may have: the one table, with the condition and the reason of each."""

from enum import StrEnum

from msgspec import Struct

from parachute.llm.gateway.models import Provider
from parachute.sandbox.engines.execution import Execution


class Needs(StrEnum):
    """Requirement for a tool to be offered, in words for the documentation."""

    NOTHING = ""
    NETWORK = "a network: its mode is not `off`"
    SEARCH = "Claude as the provider, whose service does the work, and a network: its mode is not `off`"
    PERSON = "somebody who can answer: a conversation of a person"
    SKILLS = "a skill that the conversation may use"


class ProgramTool(Struct, frozen=True):
    """One tool of the program; `does` and `why` are for the documentation."""

    name: str
    does: str
    why: str
    needs: Needs = Needs.NOTHING


PROGRAM_TOOLS = (
    ProgramTool("Read", "reads files, pictures, notebooks", "the agent sees what it works on"),
    ProgramTool("Write", "writes a file", "only where its sandbox is writable"),
    ProgramTool("Edit", "replaces a text in a file", "smaller and safer than writing the file anew"),
    ProgramTool("Glob", "finds files by name", "without a command line that has to be judged"),
    ProgramTool("Grep", "finds texts in files", "as Glob; it brings its own ripgrep"),
    ProgramTool("Bash", "runs commands, also in the background", "whatever programs the sandbox has"),
    ProgramTool("TaskStop", "ends a command that runs in the background", "belongs to Bash"),
    ProgramTool(
        "Task",
        "gives a part of the work to a helper, an agent in the same sandbox",
        "what it reads stays out of the conversation; in requests to the model its name is `Agent`",
    ),
    ProgramTool(
        "TodoWrite",
        "keeps the list of steps that the app shows",
        "the app has a card for it and none for the program's newer `TaskCreate`, `TaskUpdate`, `TaskList`, `TaskGet`",
    ),
    ProgramTool("NotebookEdit", "changes a cell of a notebook", "a notebook is no text that Edit could change safely"),
    ProgramTool(
        "WebFetch",
        "reads a page",
        "through the proxy, so that each host is allowed or asked about; the program asks nobody else first",
        Needs.NETWORK,
    ),
    ProgramTool("WebSearch", "searches the web", "at Anthropic, not from this machine", Needs.SEARCH),
    ProgramTool(
        "Skill",
        "reads the instructions of a skill",
        "they are loaded when a task needs them; what they ask for is done with the other tools, by their rules",
        Needs.SKILLS,
    ),
    ProgramTool(
        "AskUserQuestion",
        "asks you to choose",
        "shown in the app, in the terminal and in the inbox",
        Needs.PERSON,
    ),
)
PERSONS_TOOLS = tuple(tool.name for tool in PROGRAM_TOOLS)
_NEEDS = {tool.name: tool.needs for tool in PROGRAM_TOOLS}


def offered(
    names: tuple[str, ...], execution: Execution, provider: Provider, *, has_skills: bool = False
) -> tuple[str, ...]:
    """Return those of the tools that work where a session runs; with the offline model there are none."""
    if provider.is_offline:
        return ()
    missing = set() if provider.name == "anthropic" else {Needs.SEARCH}
    if not execution.is_online:
        missing |= {Needs.NETWORK, Needs.SEARCH}
    if not has_skills:
        missing.add(Needs.SKILLS)
    return tuple(name for name in names if _NEEDS.get(name) not in missing)
