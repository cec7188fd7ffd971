"""`parachute agents`: agents that answer in conversations, and to which other agents give work."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from parachute.base.errors import InvalidInput
from parachute.cli.asking import confirm, confirm_approval, print_approved
from parachute.cli.commands import JSON, YES, group
from parachute.cli.editor import written
from parachute.cli.installation import library, project, settings, user_home
from parachute.cli.modules import print_changes
from parachute.cli.output import clean, print_answer, print_error, print_facts, print_json, print_note, print_rows
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.modules.trees.changes import text_change
from parachute.security.approved_prompts import ApprovedPrompts

if TYPE_CHECKING:
    from parachute.capabilities.agents.models import Agent
    from parachute.capabilities.agents.store import AgentStore

_NAME = typer.Argument(metavar="NAME", help="Name of the agent, as `list` shows it.")
_PROJECT = typer.Option(
    None, "--directory", metavar="FOLDER", help="A project's folder, for the agents in its .claude."
)


def list_(directory: Path = _PROJECT, as_json: bool = JSON) -> None:
    """List the agents of the vault, of plugins, of a project, and the computer's own."""
    store = _store()
    found = [*store.found(project(directory)), *_brought()]
    print_rows(
        [*(_as_json(agent, store) for agent in found), *_own()],
        as_json,
        ["Name", "Source", "Direct conversations", "Description"],
        lambda row: (row["name"], row["source"], _may(row), row["description"] or ""),
        "There are no agents. `parachute agents create NAME` writes one.",
    )
    for agent in found if not as_json else ():
        if agent.problem:
            print_error(f"{agent.path} is not used. {agent.problem}")
        elif agent.note:
            print_note(f"{agent.path}: {agent.note}")


def show(name: str = _NAME, directory: Path = _PROJECT, as_json: bool = JSON) -> None:
    """Show an agent: what it may use, and its prompt."""
    store = _store()
    agent = next((each for each in _brought() if each.name == name), None) or store.get(name, project(directory))
    if as_json:
        print_json({**_as_json(agent, store), "prompt": agent.prompt})
        return
    lists = {"Tools": agent.tools, "Commands": agent.commands, "Skills": agent.skills, "Servers": agent.mcp_servers}
    facts = [("Name", agent.name), ("Source", agent.source), ("File", agent.path)]
    facts += [("Description", agent.description)] if agent.description else []
    facts += [("Model", agent.model)] if agent.model else []
    facts += [(title, ", ".join(names) or "none") for title, names in lists.items() if names is not None]
    facts += [("Direct conversations", _may(_as_json(agent, store)))]
    print_facts(facts)
    if agent.problem:
        print_error(f"It is not used. {agent.problem}")
    elif agent.note:
        print_note(agent.note)
    print(clean(f"\n{agent.prompt}"))


def create(
    name: str = typer.Argument(metavar="NAME", help="What it shall be called: a-z, 0-9 and dashes."),
    prompt: list[str] = typer.Argument(None, metavar="PROMPT", help="What it is and does; without it an editor opens."),
    description: str = typer.Option("", "--description", help="Tasks that it is good for."),
    tool: list[str] = typer.Option(None, "--tool", help="A tool that it may use; again for more, all without any."),
    model: str = typer.Option(None, "--model", help="The model that it asks."),
    as_json: bool = JSON,
) -> None:
    """Write an agent to the vault; so written it is approved."""
    store = _store()
    text = written(prompt, "")
    made = store.create(name, text, description, tuple(tool) if tool else None, model)
    print_answer(_as_json(made, store), as_json, f"The agent {made.name} is in {made.path}.")


def delete(name: str = _NAME, yes: bool = YES, as_json: bool = JSON) -> None:
    """Remove an agent of the vault."""
    store = _store()
    agent = store.get(name)
    confirm(f"Remove {agent.path}?", "Nothing was removed.", yes=yes, as_json=as_json)
    store.delete(name)
    print_answer({"deleted": name}, as_json, f"The agent {name} is removed.")


def approve(
    name: list[str] = typer.Argument(help="Names of agents."),
    directory: Path = _PROJECT,
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Let agents work in conversations that run directly, exactly as they are now; a change needs a new approval."""
    store = _store()
    found = [store.get(each, project(directory)) for each in name]
    if wrong := next((agent for agent in found if agent.problem), None):
        raise InvalidInput(f"{wrong.path} cannot be used. {wrong.problem}", key="agent_not_usable")
    waiting = [agent for agent in found if not store.is_approved(agent)]
    for agent in waiting if not as_json else ():
        print_changes([text_change(agent.path, store.before(agent), agent.content.encode(), is_whole=True)])
    names = [agent.name for agent in waiting]
    question = "Let these agents work in conversations that have all your rights?"
    confirm_approval(names, question, yes=yes, as_json=as_json)
    for agent in waiting:
        store.approve(agent)
    print_approved(names, as_json, "It is approved already.")


app = group(list_, show, create, delete, approve)


def _store() -> "AgentStore":
    from parachute.capabilities.agents.store import AgentStore

    home = Home.find()
    return AgentStore(Vault(settings(home).vault), ApprovedPrompts(home.root), user_home(home))


def _brought() -> "tuple[Agent, ...]":
    from parachute.capabilities.plugins.brought import brought_agents

    return brought_agents(library(Home.find()))


def _own() -> list[dict[str, object]]:
    from parachute.chat.agent_processes.helpers import BUILT_IN

    common = {
        "source": "builtin",
        "path": None,
        "tools": None,
        "model": None,
        "approved": True,
        "problem": None,
        "note": None,
    }
    return [{"name": name, "description": text, **common} for name, text in BUILT_IN.items()]


def _as_json(agent: "Agent", store: "AgentStore") -> dict[str, object]:
    return {
        "name": agent.name,
        "description": agent.description or None,
        "source": agent.source,
        "path": agent.path,
        "tools": None if agent.tools is None else list(agent.tools),
        "model": agent.model,
        "approved": not agent.problem if agent.source == "plugin" else store.is_approved(agent),
        "problem": agent.problem,
        "note": agent.note,
    }


def _may(row: dict[str, object]) -> str:
    return "not used" if row["problem"] else "yes" if row["approved"] else "not approved"
