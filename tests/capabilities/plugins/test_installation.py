"""Installing, updating and removing plugins: what is approved, what waits, and what agents are given."""

import json
import os
import threading
from pathlib import Path

import pytest

from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError
from parachute.capabilities.plugins.installation import newest_commit, staged_update
from parachute.capabilities.plugins.library import Library
from parachute.capabilities.plugins.shown import RightsChange, row
from tests.capabilities.plugins.building import Installation, repository, write_files, write_plugin
from tests.modules.registry.building import Repository
from tests.support.auditing import audited
from tests.support.errors import raises
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

TEXTS = {
    ".claude-plugin/plugin.json",
    "commands/deploy.md",
    "skills/greet/SKILL.md",
    "skills/greet/words.md",
}
PROGRAMS = {"hooks/hooks.json", "lib/word.txt", "scripts/hook.sh", "server.py", "skills/greet/scripts/say.sh"}


def test_a_plugin_has_a_row_for_the_app_and_is_private(installation: Installation, demo: Repository) -> None:
    plugin = installation.install(demo.url)
    found = row(plugin)
    assert (found.slug, found.name, found.version, found.author) == ("demo-plugin", "demo", "1.0.0", "Ada")
    assert (found.skills, found.agents, found.mcps) == (("greet",), ("reviewer",), ("demo-plugin/words",))
    assert (found.commands, found.source_url, found.source) == (("/demo:deploy",), demo.url, "parachute")
    assert found.not_run == ("output-styles: styles of output",)
    assert found.commit == demo.git("rev-parse", "HEAD").strip()
    assert found.tokens > 0
    for path in (installation.library.places.registry, installation.library.places.folder):
        assert path.stat().st_mode & 0o077 == 0
    assert all(
        os.lstat(path).st_mode & 0o022 == 0 for path in installation.library.places.version(plugin.installed).rglob("*")
    )


def test_programs_wait_and_are_not_there_until_they_are_approved(with_demo: Installation) -> None:
    plugin = with_demo.library.get("demo-plugin")
    assert (plugin.has_texts, plugin.has_programs, plugin.waiting) == (True, False, ("programs",))
    assert with_demo.names(plugin) == TEXTS
    assert with_demo.catalog.listed() == ()
    with pytest.raises(InvalidInput) as caught:
        with_demo.names(plugin, programs=True)
    assert caught.value.key == "not_approved"
    plugin = with_demo.library.approve("demo-plugin", plugin.installed.hash, ["programs"], with_demo.catalog)
    assert plugin.waiting == ()
    assert with_demo.names(plugin, programs=True) == TEXTS | PROGRAMS
    (listed,) = with_demo.catalog.listed()
    assert (listed.server.name, listed.server.label, listed.state) == (
        "demo-plugin-words",
        "demo-plugin/words",
        "approved",
    )
    assert with_demo.catalog.get("demo-plugin/words") == listed


def test_texts_wait_where_nobody_has_approved_them(installation: Installation, demo: Repository) -> None:
    plugin = installation.install(demo.url, texts=False)
    assert plugin.waiting == ("texts", "programs")
    with pytest.raises(InvalidInput):
        installation.names(plugin)


def test_refused_programs_do_not_wait_any_more(with_demo: Installation) -> None:
    plugin = with_demo.library.get("demo-plugin")
    plugin = with_demo.library.refuse("demo-plugin", plugin.installed.hash)
    assert (plugin.waiting, plugin.has_programs) == ((), False)
    approved = with_demo.library.approve("demo-plugin", plugin.installed.hash, ["programs"], with_demo.catalog)
    assert approved.has_programs


def test_an_approval_is_for_what_was_seen(with_demo: Installation) -> None:
    for call in (
        with_demo.library.refuse,
        lambda slug, seen: with_demo.library.approve(slug, seen, [], with_demo.catalog),
    ):
        with pytest.raises(Conflict) as caught:
            call("demo-plugin", f"sha256:{'0' * 64}")
        assert caught.value.key == "plugin_changed"


@pytest.mark.long
def test_an_update_of_any_file_has_the_programs_wait(installation: Installation, demo: Repository) -> None:
    installation.install(demo.url, programs=True)
    # A hook may run it, whatever its name says.
    write_files(demo.folder, {"skills/greet/words.md": "Good evening.\n"})
    demo.commit()
    installed, newest = newest_commit(installation.library, "demo-plugin")
    assert newest != installed.commit
    with staged_update(installation.library, "demo-plugin") as staged:
        assert {change.path for change in staged.changes()} == {"skills/greet/words.md"}
        assert staged.rights() == RightsChange((), ())
        plugin = staged.finish(installation.catalog, texts=True)
    assert (plugin.has_texts, plugin.has_programs, plugin.waiting) == (True, False, ("programs",))
    assert installation.catalog.listed() == ()


def test_texts_without_programs_are_updated_with_one_word(installation: Installation, tmp_path: Path) -> None:
    quiet = repository(tmp_path / "quiet", programs=False)
    installation.install(quiet.url)
    write_plugin(quiet.folder, programs=False, version="1.1.0")
    quiet.commit()
    with staged_update(installation.library, "quiet") as staged:
        plugin = staged.finish(installation.catalog, texts=True)
    assert (plugin.has_texts, plugin.waiting) == (True, ())
    assert plugin.contents is not None
    assert plugin.contents.version == "1.1.0"


@pytest.mark.long
def test_what_a_server_was_allowed_is_not_inherited(installation: Installation, demo: Repository) -> None:
    plugin = installation.install(demo.url, programs=True)
    catalog = installation.catalog
    catalog.approve(catalog.review("demo-plugin-words", ["example.org"]))
    plugin = installation.library.approve("demo-plugin", plugin.installed.hash, ["programs"], catalog)
    (listed,) = catalog.listed()
    assert listed.approval is not None
    assert listed.approval.hosts == ()
    catalog.approve(catalog.review("demo-plugin-words", ["example.org"]))
    installation.library.remove("demo-plugin", catalog)
    installation.install(demo.url, programs=True)
    (listed,) = catalog.listed()
    assert listed.approval is not None
    assert listed.approval.hosts == ()


@pytest.mark.long
def test_an_update_of_programs_shows_the_rights_and_waits(installation: Installation, demo: Repository) -> None:
    installation.install(demo.url, programs=True)
    write_files(demo.folder, {".mcp.json": json.dumps({"words": {"command": "sh", "env": {"A": "${TOKEN}"}}})})
    demo.commit()
    with staged_update(installation.library, "demo-plugin") as staged:
        assert staged.rights() == RightsChange(
            ("MCP server demo-plugin/words gets the secret TOKEN", "MCP server demo-plugin/words: sh"),
            ("MCP server demo-plugin/words: python3 /opt/parachute/plugin/server.py",),
        )
        plugin = staged.finish(installation.catalog, texts=True)
    assert plugin.waiting == ("programs",)
    assert installation.catalog.listed() == ()


def test_an_unchanged_update_changes_nothing(with_demo: Installation) -> None:
    with staged_update(with_demo.library, "demo-plugin") as staged:
        assert staged.is_unchanged
        assert staged.changes() == []


@pytest.mark.long
def test_removing_leaves_nothing(installation: Installation, demo: Repository) -> None:
    installation.install(demo.url, programs=True)
    installation.library.remove("demo-plugin", installation.catalog)
    assert list(installation.library.places.folder.iterdir()) == []
    assert installation.catalog.listed() == ()
    with pytest.raises(NotFound):
        installation.library.get("demo-plugin")
    # The same again waits again.
    assert installation.install(demo.url).waiting == ("programs",)


def test_a_plugin_that_changed_on_the_disk_waits(with_demo: Installation) -> None:
    plugin = with_demo.library.get("demo-plugin")
    plugin = with_demo.library.approve("demo-plugin", plugin.installed.hash, ["programs"], with_demo.catalog)
    assert plugin.contents is not None
    folder, _ = with_demo.library.copy(plugin, plugin.contents.skills, programs=True)
    for changed in (folder / "server.py", with_demo.library.places.files(plugin.installed) / "server.py"):
        before, mode = changed.read_bytes(), changed.stat().st_mode
        changed.chmod(0o644)
        changed.write_bytes(before.replace(b"word", b"wurd"))
        found = with_demo.library.get("demo-plugin")
        assert found.contents is None
        assert found.problem is not None
        assert with_demo.catalog.listed() == ()
        assert Library(with_demo.home).get("demo-plugin").contents is None
        changed.write_bytes(before)
        changed.chmod(mode)
        assert with_demo.library.get("demo-plugin").has_programs
    (folder / "added.sh").write_text("echo")
    assert with_demo.library.get("demo-plugin").contents is None
    mended = with_demo.library.approve("demo-plugin", plugin.installed.hash, (), with_demo.catalog)
    assert mended.has_programs
    assert with_demo.names(mended, programs=True) == TEXTS | PROGRAMS


def test_damaged_files_are_not_approved(with_demo: Installation) -> None:
    plugin = with_demo.library.get("demo-plugin")
    (with_demo.library.places.files(plugin.installed) / "new.md").write_text("")
    with pytest.raises(InvalidInput) as caught:
        with_demo.library.approve("demo-plugin", plugin.installed.hash, ["programs"], with_demo.catalog)
    assert caught.value.key == "plugin_damaged"
    with staged_update(with_demo.library, "demo-plugin") as staged:
        assert not staged.is_unchanged
        assert staged.finish(with_demo.catalog, texts=True).has_texts


def test_names_are_taken_once(installation: Installation, demo: Repository, tmp_path: Path) -> None:
    installation.install(demo.url)
    with pytest.raises(Conflict) as caught:
        installation.install(demo.url)
    assert caught.value.key == "slug_taken"
    with pytest.raises(Conflict) as caught:
        installation.install(demo.url, "another")
    assert caught.value.key == "name_taken"
    other = repository(tmp_path / "other", name="other")
    installation.install(f"{other.url}", "other-one")
    assert [plugin.slug for plugin in installation.library.list()] == ["demo-plugin", "other-one"]


def test_two_servers_never_share_a_name(installation: Installation, tmp_path: Path) -> None:
    installation.vault_server("one-two-words")
    plugin = installation.install(repository(tmp_path / "p", name="one").url, "one-two")
    with pytest.raises(Conflict) as caught:
        installation.library.approve("one-two", plugin.installed.hash, ["programs"], installation.catalog)
    assert caught.value.key == "name_taken"
    assert not installation.library.get("one-two").has_programs


def test_a_slug_is_a_plain_name(installation: Installation, demo: Repository) -> None:
    for slug in ("../x", "", "A", "a/b", "a--b", "-a", "parachute", "x" * 41, "a\0", ".", "a b"):
        with pytest.raises(InvalidInput) as caught:
            installation.install(demo.url, slug)
        assert caught.value.key == "invalid_slug"
        assert installation.library.list() == []


def test_an_address_is_one_of_git(installation: Installation) -> None:
    for url in (
        "",
        "-u",
        "ext::sh -c touch% x",
        "parachute://daily",
        "http://example.com/a",
        "https://u:p@example.com/a",
        "https://token@example.com/a",
        "https:///a",
        "ftp://example.com/a",
        "https://example.com/a#../b",
        "https://example.com/a#/etc",
        "/etc",
        "~",
        "x\ny",
    ):
        with pytest.raises(InvalidInput) as caught:
            installation.install(url)
        assert caught.value.key == "invalid_url"


def test_a_folder_of_a_repository_is_a_plugin(installation: Installation, tmp_path: Path) -> None:
    many = Repository(tmp_path / "many")
    write_plugin(many.folder / "plugins/boat", name="boat")
    listed = {"name": "many", "plugins": [{"name": "boat", "source": "./plugins/boat"}]}
    write_files(many.folder, {".claude-plugin/marketplace.json": json.dumps(listed)})
    many.commit()
    with raises("no_plugin", names="plugins/boat") as caught:
        installation.install(many.url)
    assert caught.value.key == "no_plugin"
    plugin = installation.install(f"{many.url}#plugins/boat")
    assert (plugin.slug, plugin.installed.url) == ("boat", f"{many.url}#plugins/boat")
    with staged_update(installation.library, "boat") as staged:
        assert staged.is_unchanged


def test_an_unreadable_list_stops_all_and_is_kept(with_demo: Installation, original: Repository) -> None:
    path = with_demo.library.places.registry
    for text in ("{", "[]", '{"plugins": [{"slug": "../x"}]}', "[" * 100_000):
        path.write_text(text)
        for call in (with_demo.library.list, lambda: with_demo.install(original.url, "another")):
            with pytest.raises(ParachuteError) as caught:
                call()
            assert caught.value.key == "plugins_unreadable"
        assert path.read_text() == text


def test_plugins_of_the_users_own_folder_wait_and_wait_again(installation: Installation, tmp_path: Path) -> None:
    own = write_plugin(tmp_path / ".claude/plugins/mine", name="mine")
    write_files(tmp_path / ".claude/plugins", {"cache/x": "", "Odd Name/.claude-plugin/plugin.json": "{}"})
    (tmp_path / ".claude/plugins/linked").symlink_to(own)
    library = Library(installation.home, tmp_path)
    (plugin,) = library.list()
    assert (row(plugin).source, plugin.slug, plugin.waiting) == ("user", "mine", ("texts", "programs"))
    library.approve("mine", plugin.installed.hash, ["texts", "programs"], installation.catalog)
    assert library.get("mine").waiting == ()
    write_files(own, {"commands/deploy.md": "Something else.\n"})
    assert library.get("mine").waiting == ("texts", "programs")
    for change in (
        lambda: library.remove("mine", installation.catalog),
        lambda: newest_commit(library, "mine"),
        lambda: staged_update(library, "mine").__enter__(),
    ):
        with pytest.raises(NotAllowed) as caught:
            change()
        assert (caught.value.status, caught.value.key) == (403, "not_ours")
    # Without the setting they do not count, and nothing of them is used.
    assert Library(installation.home).list() == []
    assert installation.catalog.listed() == ()


def test_plugins_lie_where_claude_code_keeps_them(installation: Installation, tmp_path: Path) -> None:
    folder = tmp_path / ".claude/plugins"
    listed: dict[str, object] = {}
    for number, (full, version, path) in enumerate(
        [
            ("tides@harbour", "1.0.0", "~/.claude/plugins/cache/harbour/tides/1.0.0"),
            ("tides@pier", "2", "/home/of/somebody/.claude/plugins/cache/pier/tides/2"),
            ("claude_notes@pier", "abc", str(folder / "cache/pier/claude_notes/abc")),
        ]
    ):
        name, _, market = full.partition("@")
        write_plugin(folder / "cache" / market / name / version, name=f"{name}-{number}", version=version)
        listed[full] = [{"scope": "project", "installPath": "/elsewhere"}, {"scope": "user", "installPath": path}]
    listed |= {"gone@pier": [{"installPath": "~/.claude/plugins/cache/pier/gone/1"}], "bad@pier": 7}
    listed |= {"out@pier": [{"installPath": "~/.claude/plugins/../../secrets"}], "far@pier": {"installPath": "/srv/x"}}
    write_plugin(folder / "cache/harbour/tides/0.9.0", name="older")
    write_plugin(folder / "marketplaces/harbour/plugins/other", name="other")
    write_files(folder, {"installed_plugins.json": json.dumps({"version": 2, "plugins": listed})})
    library = Library(installation.home, tmp_path)
    assert {each.slug: row(each).version for each in library.list()} == {
        "tides": "1.0.0",
        "tides-pier": "2",
        "claude-notes": "abc",
    }
    assert {row(each).source for each in library.list()} == {"user"}
    assert [each.name for each in library.left_out()] == ["bad@pier", "far@pier", "gone@pier", "out@pier"]
    with pytest.raises(NotFound) as caught:
        library.get("gone")
    assert caught.value.key == "plugin_left_out"
    write_files(folder, {"installed_plugins.json": "{"})
    assert (library.list(), [each.name for each in library.left_out()]) == ([], ["installed_plugins.json"])


def test_more_plugins_than_fit_on_a_page(installation: Installation, tmp_path: Path) -> None:
    for number in range(60):
        manifest = json.dumps({"name": f"p{number}"})
        write_files(tmp_path / f".claude/plugins/p{number}", {".claude-plugin/plugin.json": manifest})
    write_files(tmp_path / ".claude/plugins/twin", {".claude-plugin/plugin.json": json.dumps({"name": "p3"})})
    library = Library(installation.home, tmp_path)
    assert len(library.list()) == 60
    assert [each.name for each in library.left_out()] == ["twin"]


@pytest.mark.parametrize("moment", range(5, 12))
def test_two_that_look_at_once_see_the_same(installation: Installation, tmp_path: Path, moment: int) -> None:
    for name in ("boat", "tides", "winch"):
        write_plugin(tmp_path / ".claude/plugins" / name, name=name)
    write_files(tmp_path / ".claude/plugins", {"installed_plugins.json": json.dumps({"plugins": {"gone@pier": 7}})})
    library = Library(installation.home, tmp_path)
    opened, seen = 0, []

    def look() -> None:
        slugs = [each.slug for each in library.list()]
        seen.append((slugs, [each.name for each in library.left_out()]))

    def hear(event: str, details: tuple[object, ...]) -> None:
        nonlocal opened
        if event in ("open", "os.scandir"):
            opened += 1
            if opened == moment:
                other = threading.Thread(target=look)
                other.start()
                other.join()
                assert [each.name for each in library.left_out()] == ["gone@pier"]

    look()
    with audited(hear):
        look()
    assert seen == [(["boat", "tides", "winch"], ["gone@pier"])] * 3


def test_between_turns_nothing_is_read_again(with_demo: Installation) -> None:
    plugin = with_demo.library.get("demo-plugin")
    with_demo.library.approve("demo-plugin", plugin.installed.hash, ["programs"], with_demo.catalog)
    opened: list[object] = []

    def hear(event: str, details: tuple[object, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir"):
            opened.append(details)

    library = Library(with_demo.home)

    def is_quiet() -> bool:
        opened.clear()
        with audited(hear):
            found = library.servers()
        return len(found) == 1 and not opened

    # What was written within the last step of the clock is looked at again.
    wait_until(is_quiet, "nothing is read any more")
