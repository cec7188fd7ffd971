"""`parachute brain`: people, projects and topics, from a terminal."""

from typing import Any

import typer

from parachute.base.errors import ParachuteError
from parachute.cli.api import Api, quoted
from parachute.cli.asking import confirm
from parachute.cli.commands import JSON, YES, group
from parachute.cli.editor import written
from parachute.cli.output import by_meaning, print_answer, print_json, print_note, print_rows
from parachute.cli.searched import print_nothing

_NAME = typer.Argument(metavar="NAME", help="A name, an alias, or an id.")
_TYPE = typer.Option("", "--type", "-t", help="Only of this type, such as person.")
_ENTRIES = 3
_SUGGESTIONS = 200
_REASONS = {
    "same_name": "the same name",
    "same_words": "the same words",
    "similar": "nearly the same letters",
    "part": "one name begins the other",
}


def search(
    words: list[str] = typer.Argument(help="What to look for."),
    limit: int = typer.Option(20, "--limit", min=1, max=200, help="How many at the most."),
    as_json: bool = JSON,
) -> None:
    """Find people, projects and topics by words, and by meaning where words find little."""
    text, api = " ".join(words), Api.find()
    found = api.get("/api/brain/search", q=text, limit=limit)
    if as_json:
        print_json(found)
    elif found["results"]:
        _print(found["results"], as_json, "")
    else:
        print_nothing(text, "knowledge", found.get("searched"))
        for line in _elsewhere(api, text):
            print_note(line)


def resolve(name: str = typer.Argument(help="A name or an alias."), as_json: bool = JSON) -> None:
    """Say which entity a name means."""
    found = Api.find().get(f"/api/brain/resolve/{quoted(name)}")
    print_answer(found, as_json, f"{found['para_id']}  {found.get('name') or ''}".rstrip())


def list_(
    kind: str = _TYPE,
    limit: int = typer.Option(100, "--limit", "-n", min=1, max=1000, help="How many at the most."),
    as_json: bool = JSON,
) -> None:
    """List what is known, by name."""
    api = Api.find()
    found = api.get("/api/brain/entities", limit=limit, type=kind)["results"]
    _print(found, as_json, "Brain is empty. `parachute brain create NAME --type person` adds a person.")
    unread = [] if as_json else api.get("/api/brain/problems")["problems"]
    for each in unread[:_ENTRIES]:
        print_note(f"{each['path']} cannot be read whole: {each['problem'].rstrip('.')}.")
    if len(unread) > _ENTRIES:
        print_note(f"{len(unread) - _ENTRIES} more files cannot: `parachute doctor notes` names them.")


def show(name: str = _NAME, as_json: bool = JSON) -> None:
    """Show what is known of a person, a project or a topic."""
    found = _entity(Api.find(), name)
    lines = [f"{found['name']} ({found['type']})", f"{found['para_id']}  {found['path']}"]
    lines += [f"{field.capitalize()}: {', '.join(found[field])}" for field in ("aliases", "tags") if found.get(field)]
    if found.get("problem"):
        lines.append(f"It cannot be read whole: {found['problem'].rstrip('.')}.")
    text = str(found.get("content") or "").strip()
    print_answer(found, as_json, "\n".join([*lines, "", text] if text else lines))


def create(
    words: list[str] = typer.Argument(metavar="NAME", help="The name."),
    kind: str = typer.Option("topic", "--type", "-t", help="The type, such as person, project or topic."),
    content: str = typer.Option("", "--content", "-c", help="What is known."),
    as_json: bool = JSON,
) -> None:
    """Write down somebody or something new."""
    body = {"entity_type": kind, "name": " ".join(words), "content": content}
    made = Api.find().post("/api/brain/entities", body)
    print_answer(made, as_json, f"{made['para_id']}  {made['path']}")


def edit(
    name: str = _NAME,
    words: list[str] = typer.Argument(None, metavar="[TEXT]", help="The whole text; without one, $EDITOR opens."),
    rename: str = typer.Option("", "--rename", help="Another name; links to it follow."),
    append: str = typer.Option("", "--append", help="A line to add, instead of another text."),
    as_json: bool = JSON,
) -> None:
    """Change what is known of a person, a project or a topic."""
    api = Api.find()
    found = _entity(api, name)
    body: dict[str, Any] = {field: text for field, text in (("name", rename), ("append", append)) if text}
    if words or not body:
        body["content"] = written(words, found["content"])
    # What somebody else writes while the editor is open is not lost.
    changed = api.put(_path(found["para_id"]), {**body, "expected_version": found["version"]})
    print_answer(changed, as_json, f"{changed['para_id']}  {changed['path']}")


def links(name: str = _NAME, as_json: bool = JSON) -> None:
    """Show what leads to a person, a project or a topic, and from there."""
    api = Api.find()
    found = api.get("/api/brain/links", id=_id(api, name))
    ways = {"out": "to", "in": "from"}
    rows = [(ways[each["direction"]], str(each["target"]), each["note"] or each["kind"]) for each in found["links"]]
    rows += [("in", each["source_id"], str(each["at"])[:10]) for each in found["mentions"]]
    none = f"Nothing is linked with {found['name']}."
    print_answer(found, as_json, lambda _: print_rows(rows, False, ["Link", "With", "Kind"], tuple, none))


def duplicates(
    kind: str = typer.Option("person", "--type", "-t", help="Of which type, such as person."), as_json: bool = JSON
) -> None:
    """List people, or others of one type, that may be the same, and those that were merged already."""
    found = Api.find().get("/api/brain/duplicates", type=kind)
    print_rows(
        found,
        as_json,
        ["Name", "Id", "Perhaps the same as", "Id", "Since"],
        lambda each: (*_named(each["one"]), *_named(each["other"]), _REASONS.get(each["reason"], each["reason"])),
        f"Nothing of the type {kind} seems to be known twice.",
        of="duplicates",
    )
    if found["duplicates"] and not as_json:
        print_note("`parachute brain merge ID OTHER` merges two of them.")
    for each in found["merged"] if not as_json else ():
        undo = f"`parachute brain unmerge {each['para_id']}` takes it out again"
        print_note(f"{each['name']} is a part of {each['into_name']}: {undo}.")


def merge(
    name: str = _NAME,
    other: str = typer.Argument(metavar="OTHER", help="The one whose file goes: a name, an alias, or an id."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Make two entities one: the first gets the text, the names and the links of the other."""
    api = Api.find()
    kept, gone = _entity(api, name), _entity(api, other)
    if not yes and not as_json:
        print_note(f"{gone['name']} ({gone['path']}) becomes a part of {kept['name']} ({kept['path']}).")
    confirm("Merge them?", "Nothing was merged.", yes=yes, as_json=as_json)
    body = {"keep": kept["para_id"], "other": gone["para_id"], "expected_version": kept["version"]}
    made = api.post("/api/brain/merge", body)
    undo = f"`parachute brain unmerge {made['merged']}` takes it back."
    print_answer(made, as_json, f"{made['para_id']}  {made['path']}\n{undo}")


def unmerge(
    identifier: str = typer.Argument(metavar="ID", help="The id of what was merged, as `duplicates` shows it."),
    as_json: bool = JSON,
) -> None:
    """Take a merge back: both files are as they were, and so are the links."""
    made = Api.find().post("/api/brain/unmerge", {"para_id": identifier})
    kept = "" if made["exact"] else f"\n{made['path']} has changed since; its text stays, without the other's names."
    print_answer(made, as_json, f"{made['restored']} stands for itself again.{kept}")


app = group(search, resolve, list_, show, create, edit, links, duplicates, merge, unmerge)


def _named(entity: dict[str, Any]) -> tuple[str, str]:
    return str(entity["name"]), str(entity["para_id"])


def _path(identifier: str) -> str:
    return f"/api/brain/entities/{quoted(identifier)}"


def _id(api: Api, name: str) -> str:
    return name if name.startswith("para:") else str(api.get(f"/api/brain/resolve/{quoted(name)}")["para_id"])


def _entity(api: Api, name: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(_path(_id(api, name)))
    return found


def _print(found: list[dict[str, Any]], as_json: bool, none: str) -> None:
    print_rows(
        found,
        as_json,
        ["Name", "Type", "Id", "File"],
        lambda each: (
            f"{each['name']}{by_meaning(each)}",
            str(each.get("type") or ""),
            each["para_id"],
            each.get("path") or "",
        ),
        none,
    )


def _elsewhere(api: Api, text: str) -> list[str]:
    """Pending suggestions and entries of the journal that fit; a module that does not answer is left out."""
    lines: list[str] = []
    words = text.casefold().split()
    try:
        for each in api.get("/api/suggestions", status="pending", limit=_SUGGESTIONS)["suggestions"]:
            if any(word in each["title"].casefold() for word in words):
                lines.append(f"{each['title']} waits for your decision: `parachute suggestions approve {each['id']}`")
    except ParachuteError:
        pass
    try:
        for each in api.get("/api/daily/search", q=text, limit=_ENTRIES)["entries"]:
            if each["id"]:
                lines.append(f"The journal of {each['date']} has it: `parachute daily show {each['id']}`")
    except ParachuteError:
        pass
    return lines
