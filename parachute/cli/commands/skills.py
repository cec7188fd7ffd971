"""`parachute skills`: instructions with their files, which agents read when a task needs them."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from parachute.base.errors import InvalidInput
from parachute.cli.asking import confirm, confirm_approval, print_approved
from parachute.cli.commands import JSON, YES, group
from parachute.cli.editor import written
from parachute.cli.installation import library, project, settings, user_home
from parachute.cli.modules import print_changes
from parachute.cli.output import (
    clean,
    print_answer,
    print_error,
    print_facts,
    print_json,
    print_note,
    print_rows,
    size,
)
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.modules.trees.changes import FileChange, text_change

if TYPE_CHECKING:
    from parachute.capabilities.skills.models import Skill
    from parachute.capabilities.skills.store import FoundSkill, SkillStore

_NAME = typer.Argument(metavar="NAME", help="Name of the skill, as `list` shows it.")
_PROJECT = typer.Option(
    None, "--directory", metavar="FOLDER", help="A project's folder, for the skills in its .claude."
)


def list_(directory: Path = _PROJECT, as_json: bool = JSON) -> None:
    """List the skills of the vault, of plugins and of a project."""
    store = _store()
    found = [_found_json(each, store) for each in store.found(project(directory))]
    # Of plugins no text counts that is not approved.
    found += [_as_json(skill, approved=True) for skill in _brought()]
    print_rows(
        found,
        as_json,
        ["Name", "Source", "Direct conversations", "Description"],
        lambda row: (row["name"], row["source"], _may(row), row["description"]),
        "There are no skills. `parachute skills create NAME` writes one.",
    )
    for row in found if not as_json else ():
        if row["problem"]:
            print_error(f"{row['path']} is not used. {row['problem']}")
        elif row["note"]:
            print_note(f"{row['path']}: {row['note']}")


def show(name: str = _NAME, directory: Path = _PROJECT, as_json: bool = JSON) -> None:
    """Show a skill: its files, and its instructions."""
    store = _store()
    if skill := next((each for each in _brought() if each.name == name), None):
        row = _as_json(skill, approved=True)
    else:
        each = store.get(name, project(directory))
        skill, row = each.skill, _found_json(each, store)
    if as_json:
        print_json({**row, "content": skill.content})
        return
    facts = [("Name", skill.name), ("Source", skill.source), ("Place", skill.path), ("Description", skill.description)]
    facts += [("Version", skill.version)] if skill.version else []
    facts += [("File", f"{file.name}, {size(file.size)}") for file in skill.files]
    # It is what the author wishes for, and gives the agent nothing.
    facts += [("Wishes for", ", ".join(skill.allowed_tools))] if skill.allowed_tools else []
    facts += [("Direct conversations", _may(row))]
    print_facts(facts)
    if skill.problem:
        print_error(f"It is not used. {skill.problem}")
    elif skill.note:
        print_note(skill.note)
    print(clean(f"\n{skill.content}"))


def create(
    name: str = typer.Argument(metavar="NAME", help="What it shall be called: a-z, 0-9 and dashes."),
    content: list[str] = typer.Argument(None, metavar="TEXT", help="The instructions; without them an editor opens."),
    description: str = typer.Option("", "--description", help="What it does, and when to use it."),
    as_json: bool = JSON,
) -> None:
    """Write a skill to the vault; so written it is approved."""
    store = _store()
    made = store.create(name, written(content, ""), description)
    print_answer(_found_json(made, store), as_json, f"The skill {made.skill.name} is in {made.skill.path}.")


def delete(name: str = _NAME, yes: bool = YES, as_json: bool = JSON) -> None:
    """Remove a skill of the vault, with all its files."""
    store = _store()
    each = store.get(name)
    confirm(f"Remove {each.skill.path} with all that is in it?", "Nothing was removed.", yes=yes, as_json=as_json)
    store.delete(name)
    print_answer({"deleted": name}, as_json, f"The skill {name} is removed.")


def approve(
    name: list[str] = typer.Argument(help="Names of skills."),
    directory: Path = _PROJECT,
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Let conversations that run directly use skills, exactly as all their files are now; a change needs a new approval."""
    store = _store()
    found = [store.get(each, project(directory)) for each in name]
    if wrong := next((each.skill for each in found if each.skill.problem), None):
        raise InvalidInput(f"{wrong.path} cannot be used. {wrong.problem}", key="skill_not_usable")
    waiting = [each for each in found if not store.is_approved(each)]
    for each in waiting if not as_json else ():
        print_changes(_changes(each, store))
    names = [each.skill.name for each in waiting]
    question = "Let conversations that have all your rights use these skills, with all their files?"
    confirm_approval(names, question, yes=yes, as_json=as_json)
    for each in waiting:
        store.approve(each)
    print_approved(names, as_json, "It is approved already.")


app = group(list_, show, create, delete, approve)


def _store() -> "SkillStore":
    from parachute.capabilities.skills.store import SkillStore

    home = Home.find()
    return SkillStore(Vault(settings(home).vault), home.root, user_home(home))


def _brought() -> "tuple[Skill, ...]":
    from parachute.capabilities.plugins.brought import brought_skills

    return brought_skills(library(Home.find()))


def _changes(each: "FoundSkill", store: "SkillStore") -> list[FileChange]:
    """The instructions as a difference from those that were approved last, and every other file as it is."""
    skill, found = each.skill, []
    for file in each.hashes:
        is_main = file.name == "SKILL.md" or not skill.is_folder
        before = store.before(each) if is_main else None
        found.append(text_change(f"{skill.path}/{file.name}", before, store.read(each, file), is_whole=is_main))
    return found


def _found_json(each: "FoundSkill", store: "SkillStore") -> dict[str, object]:
    return _as_json(each.skill, approved=store.is_approved(each))


def _as_json(skill: "Skill", *, approved: bool) -> dict[str, object]:
    return {
        "name": skill.name,
        "description": skill.description,
        "source": skill.source,
        "path": skill.path,
        "version": skill.version,
        "files": [{"name": file.name, "size": file.size} for file in skill.files],
        "approved": not skill.problem and approved,
        "problem": skill.problem,
        "note": skill.note,
    }


def _may(row: dict[str, object]) -> str:
    return "not used" if row["problem"] else "yes" if row["approved"] else "not approved"
