"""`parachute plugins`: skills, agents, commands and programs of other people, from repositories."""

from typing import TYPE_CHECKING

import typer

from parachute.cli.asking import agrees, can_ask, confirm
from parachute.cli.commands import JSON, YES, group
from parachute.cli.installation import library, settings
from parachute.cli.modules import print_changes, shown_steps
from parachute.cli.output import clean, local, print_answer, print_facts, print_json, print_note, print_table
from parachute.config.settings.home import Home

if TYPE_CHECKING:
    from parachute.capabilities.mcp_servers.catalog import Catalog
    from parachute.capabilities.plugins.installation import Staged
    from parachute.capabilities.plugins.library import Library, Part
    from parachute.capabilities.plugins.models import Contents, Plugin
    from parachute.capabilities.plugins.shown import PluginRow

_SLUG = typer.Argument(metavar="SLUG", help="Name of the plugin, as `list` shows it.")
_QUESTIONS = {
    "texts": "Let agents use its skills, agents and commands?",
    "programs": "Let its hooks and MCP servers run in sandboxes?",
}
_HEADS = {"texts": "Texts, which agents read:", "programs": "Programs, which run:"}
_STATES = {(): "yes", ("texts",): "not approved", ("programs",): "its texts", ("texts", "programs"): "not approved"}


def list_(as_json: bool = JSON) -> None:
    """List the plugins, and which parts of them are used."""
    from parachute.capabilities.plugins.shown import row

    plugins = _library()[0]
    found, left_out = plugins.list(), plugins.left_out()
    if as_json:
        print_json({"plugins": [row(plugin) for plugin in found], "left_out": left_out})
        return
    if not found:
        print_note("There are no plugins. `parachute plugins install ADDRESS` installs one.")
    else:
        rows = [(each.slug, _version(each), _used(each), each.installed.url) for each in found]
        print_table(["Plugin", "Version", "Used", "From"], rows)
        for each in found:
            if each.problem:
                print_note(f"{each.slug}: {each.problem}")
    for plugin in left_out:
        print_note(f"Not used: {plugin.name}: {plugin.reason}")


def show(slug: str = _SLUG, as_json: bool = JSON) -> None:
    """Show the contents of a plugin, its rights, and the parts that are not run here."""
    from parachute.capabilities.plugins.shown import detail

    plugin = _library()[0].get(slug)
    if as_json:
        print_json(detail(plugin))
        return
    installed = plugin.installed
    facts = [("Plugin", slug), ("Called", installed.name), ("Version", _version(plugin)), ("Used", _used(plugin))]
    facts += [("From", installed.url), ("Commit", installed.commit), ("Hash", installed.hash)]
    print_facts([*facts, ("Installed", local(installed.installed_at))])
    if plugin.contents is None:
        print_note(plugin.problem or "")
    else:
        print(clean(_contents(plugin.contents)))


def install(
    address: str = typer.Argument(metavar="ADDRESS", help="Address of a git repository; #FOLDER names one in it."),
    slug: str | None = typer.Option(None, "--slug", help="What it shall be called here, instead of its repository."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Install a plugin; you are asked about its texts, and apart from them about its programs."""
    from parachute.capabilities.plugins.installation import staged_install

    library, catalog = _library()
    with (
        shown_steps(as_json) as steps,
        staged_install(library, address, slug, steps, local=True) as staged,
    ):
        steps.close()
        plugin = _put_in_place(staged, catalog, yes, as_json, f"{staged.installed.slug} was not installed.")
    _print_done(plugin, as_json, "is installed")


def approve(slug: str = _SLUG, yes: bool = YES, as_json: bool = JSON) -> None:
    """Approve the parts of a plugin that wait; one that has changed on the disk is mended."""
    library, catalog = _library()
    plugin = library.get(slug)
    if plugin.contents is None:
        confirm(f"{plugin.problem} Mend it?", "Nothing was approved.", yes=yes, as_json=as_json)
        plugin = library.approve(slug, plugin.installed.hash, (), catalog)
    contents = plugin.contents
    if contents is not None:
        waiting: list[Part] = list(plugin.waiting)
        if contents.programs_hash and not plugin.has_programs and "programs" not in waiting:
            waiting.append("programs")  # refused before
        agreed = _agreed(contents, waiting, yes, as_json, "Nothing was approved.")
        plugin = library.approve(slug, plugin.installed.hash, agreed, catalog) if agreed else plugin
    _print_done(plugin, as_json, "is approved")


def update(slug: str = _SLUG, yes: bool = YES, as_json: bool = JSON) -> None:
    """Take the newest commit of a plugin, after a look at what changes."""
    from parachute.capabilities.plugins.installation import staged_update

    library, catalog = _library()
    with shown_steps(as_json) as steps, staged_update(library, slug, steps) as staged:
        steps.close()
        if staged.is_unchanged:
            plugin = library.get(slug)
            print_answer(_row(plugin), as_json, f"{slug} is up to date.")
            return
        if not as_json:
            _print_differences(staged)
        plugin = _put_in_place(staged, catalog, yes, as_json, f"{slug} was not updated.")
    _print_done(plugin, as_json, "is updated")


def check(slug: str = _SLUG, as_json: bool = JSON) -> None:
    """See whether there is a newer commit of a plugin; nothing of it is fetched."""
    from parachute.capabilities.plugins.installation import newest_commit

    installed, newest = newest_commit(_library()[0], slug)
    is_new = newest != installed.commit
    said = {"update_available": is_new, "current": installed.commit, "latest": newest, "url": installed.url}
    text = (
        f"There is another commit: {newest}. `parachute plugins update {slug}` shows it."
        if is_new
        else "It is up to date."
    )
    print_answer(said, as_json, text)


def remove(slug: str = _SLUG, as_json: bool = JSON) -> None:
    """Remove a plugin with everything of it; what its MCP servers have written stays."""
    library, catalog = _library()
    library.remove(slug, catalog)
    print_answer({"removed": slug}, as_json, f"The plugin {slug} is removed.")


app = group(list_, show, install, approve, update, check, remove)


def _library() -> "tuple[Library, Catalog]":
    """The plugins of this installation, whether or not it runs, and its MCP servers."""
    # YAML
    from parachute.capabilities.mcp_servers.catalog import Catalog

    home = Home.find()
    found = library(home)
    return found, Catalog(home, settings(home).vault, settings(home).project_folders, found)


def _put_in_place(staged: "Staged", catalog: "Catalog", yes: bool, as_json: bool, nothing: str) -> "Plugin":
    old, contents = staged.previous, staged.contents
    parts: list[Part] = []
    if old is None or old.installed.texts != contents.texts_hash:
        parts.append("texts")
    if contents.programs_hash and (old is None or old.installed.programs != contents.programs_hash):
        parts.append("programs")
    agreed = _agreed(contents, parts, yes, as_json, nothing)
    return staged.finish(catalog, texts="texts" in agreed, programs="programs" in agreed)


def _agreed(contents: "Contents", parts: "list[Part]", yes: bool, as_json: bool, nothing: str) -> "list[Part]":
    """The parts that the person says yes to, each after it was shown; exits where nobody says yes to any."""
    from parachute.capabilities.plugins.shown import consent

    if as_json and not yes:
        print_json({part: consent(contents, part) for part in parts})
    if yes or as_json or not can_ask():
        if not as_json:
            print(clean(_contents(contents, parts)))
        if parts:
            confirm("Approve them?", nothing, yes=yes, as_json=as_json)
        return parts
    agreed: list[Part] = []
    for part in parts:
        print(clean(_contents(contents, [part])), flush=True)
        if agrees(_QUESTIONS[part]):
            agreed.append(part)
    if parts and not agreed:
        print_note(nothing)
        raise typer.Exit(1)
    return agreed


def _contents(contents: "Contents", parts: "list[Part] | None" = None) -> str:
    from parachute.capabilities.plugins.shown import consent

    lines: list[str] = []
    for part in parts if parts is not None else ["texts", *(["programs"] if contents.programs_hash else [])]:
        lines += [_HEADS[part], *consent(contents, part)]
    problems = [(each.name, each.problem) for each in contents.skills if each.problem]
    problems += [(each.name, each.problem) for each in contents.agents if each.problem]
    problems += [(each.name, each.problem) for each in contents.commands if each.problem]
    if contents.not_run or problems:
        lines += [
            "Not used here:",
            *(f"  {name}: {why}" for name, why in problems),
            *(f"  {each}" for each in contents.not_run),
        ]
    return "\n".join(lines)


def _print_differences(staged: "Staged") -> None:
    print_changes(staged.changes())
    rights = staged.rights()
    if not (rights.added or rights.removed):
        print_note("Its permissions stay the same.")
    for word, lines in (("added", rights.added), ("removed", rights.removed)):
        for line in lines:
            print(clean(f"{word}: {line}"))


def _print_done(plugin: "Plugin", as_json: bool, what: str) -> None:
    print_answer(_row(plugin), as_json, f"{plugin.slug} {what}.")
    if not as_json and plugin.waiting:
        print_note(f"Not used: {_waiting(plugin)}. `parachute plugins approve {plugin.slug}` shows and asks.")
    if not as_json and "programs" not in plugin.waiting:
        _print_servers(_row(plugin).mcps)


def _print_servers(names: tuple[str, ...]) -> None:
    """Say where the servers of a plugin are used: conversations without a workspace have those that the settings name."""
    usual = settings(Home.find()).default_capabilities.mcps
    missing = [] if usual == "all" else [name for name in names if name not in usual]
    if missing:
        print_note(
            f"Workspaces have its MCP servers. For conversations without one: "
            f"`parachute config add default_capabilities.mcps {' '.join(missing)}`, then `parachute restart`"
        )


def _waiting(plugin: "Plugin") -> str:
    return " and ".join(
        {"texts": "its skills, agents and commands", "programs": "its programs"}[each] for each in plugin.waiting
    )


def _row(plugin: "Plugin") -> "PluginRow":
    from parachute.capabilities.plugins.shown import row

    return row(plugin)


def _version(plugin: "Plugin") -> str:
    return plugin.contents.version if plugin.contents else ""


def _used(plugin: "Plugin") -> str:
    if plugin.contents is None:
        return "changed"
    if plugin.contents.programs_hash and not plugin.has_programs and plugin.has_texts:
        return "its texts"
    return _STATES[plugin.waiting]
