"""Imports and rules that files of a chain bring: whole, bounded, and as the words of whoever wrote them."""

import hashlib
import os
from pathlib import Path

from parachute.chat.contexts.models import LARGEST_FILE

from .conftest import World, text_and_chain


async def test_a_file_brings_what_it_imports_from_its_own_folder(world: World, tmp_path: Path) -> None:
    (tmp_path / "private.md").write_text("ermine")
    world.write("Projects/other.md", "ermine")
    world.write("Projects/x/.env", "ermine")
    world.write("Projects/x/.hidden/a.md", "ermine")
    world.write("Projects/x/keys/id_rsa", "ermine")
    (world.root / "Projects/x/linked.md").symlink_to(tmp_path / "private.md")
    world.write(
        "Projects/x/CLAUDE.md",
        "# Rules\n@docs/rules.md, (@./my__own__rules.md) and `@docs/code.md` of @somebody or me@x.org\n"
        f"@~/private.md @../other.md @{tmp_path}/private.md @.env @.hidden/a.md @keys/id_rsa @linked.md @gone/it.md\n"
        "```\n@docs/code.md\n```\n<!-- @docs/code.md -->\n",
    )
    world.write("Projects/x/docs/rules.md", "Say weasel. @more.md @../CLAUDE.md @../../other.md")
    world.write("Projects/x/docs/more.md", "Say marten.")
    world.write("Projects/x/docs/code.md", "ermine")
    world.write("Projects/x/my__own__rules.md", "Say otter.")
    world.write("Projects/x/.claude/rules/sub/style.md", "---\npaths: ['src/**']\n---\nSay stoat.")
    text, chain = await text_and_chain(world, directory=world.root / "Projects/x")
    assert [each.path.removeprefix("Projects/x/") for each in chain.files] == [
        "CLAUDE.md",
        "docs/rules.md",
        "docs/more.md",
        "my__own__rules.md",
        ".claude/rules/sub/style.md",
    ]
    assert all(word in text for word in ("weasel", "marten", "otter", "(For src/**.)\nSay stoat."))
    assert "ermine" not in text
    assert chain.files[0].not_read == (
        "../../other.md",
        "~/private.md",
        "../other.md",
        f"{tmp_path}/private.md",
        ".env",
        ".hidden/a.md",
        "keys/id_rsa",
    )
    assert len(chain.problems) == 1
    assert chain.working_directory_file == "Projects/x/CLAUDE.md"


async def test_imports_come_to_an_end(world: World) -> None:
    world.write("AGENTS.md", "@a/0.md @b/0.md @AGENTS.md")
    for number in range(9):
        world.write(f"a/{number}.md", f"@{number + 1}.md")
    world.write("b/0.md", " ".join(f"@x{number}.md" for number in range(60)))
    for number in range(60):
        world.write(f"b/x{number}.md", f"x{number}")
    _, chain = await text_and_chain(world)
    assert [each.path for each in chain.files[:6]] == ["AGENTS.md", "a/0.md", "a/1.md", "a/2.md", "a/3.md", "b/0.md"]
    assert (len(chain.files), chain.files[0].not_read[0]) == (51, "4.md")


async def test_a_project_elsewhere_brings_its_imports_and_rules(world: World, tmp_path: Path) -> None:
    project = tmp_path / "elsewhere"
    (project / ".claude/rules").mkdir(parents=True)
    (project / "docs").mkdir()
    (project / "AGENTS.md").write_text("@docs/rules.md")
    (project / "docs/rules.md").write_text("Say weasel.")
    (project / ".claude/rules/style.md").write_text("Say stoat.")
    named = [str(project / path) for path in ("AGENTS.md", "docs/rules.md", ".claude/rules/style.md")]
    _, chain = await text_and_chain(world, directory=project)
    assert [each.path for each in chain.files] == named
    # Each file needs a yes of its own where it steers what runs with the owner's rights.
    chain = await world.contexts.chain((), project, approved_only=True)
    assert (chain.included, chain.left_out) == ([], named)
    world.approved |= {(named[0], "@docs/rules.md"), (named[1], "Say weasel.")}
    chain = await world.contexts.chain((), project, approved_only=True)
    assert ([each.path for each in chain.included], chain.left_out) == (named[:2], named[2:])


async def test_what_an_agent_wrote_into_an_import_is_marked_until_it_was_seen(world: World) -> None:
    async def marked() -> list[str]:
        return [each.path for each in (await world.contexts.chain(("x",))).files if each.is_by_agent]

    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    world.write("x/docs/rules.md", "By an agent, before.")
    await world.run_wrote("x", "docs/rules.md", digest("By an agent, before."))
    world.write("x/AGENTS.md", "@docs/rules.md @docs/more.md")
    world.write("x/docs/more.md", "Mine.")
    assert await marked() == ["x/docs/rules.md"]
    assert await world.contexts.seen("x/docs/rules.md", digest("By an agent, before.")) == "x/docs/rules.md"
    assert await marked() == []
    world.write("x/docs/more.md", "By an agent, later.")
    await world.run_wrote("x", "docs/more.md", digest("By an agent, later."))
    assert await marked() == ["x/docs/more.md"]
    # What an agent imports is the agent's choice.
    world.write("x/docs/more.md", "Mine.")
    world.write("x/AGENTS.md", "@docs/rules.md!")
    await world.run_wrote("x", "AGENTS.md", digest("@docs/rules.md!"))
    assert await marked() == ["x/AGENTS.md", "x/docs/rules.md"]


def _many_links(world: World, folder: str, number: int, size: int) -> None:
    """Many names of one file, which takes its place on the disk once."""
    big = world.write(f"{folder}/big.md", "x" * size)
    for each in range(number):
        os.link(big, world.root / f"{folder}/{each}.md")


async def test_what_a_chain_brings_is_bounded_for_all_of_its_files(world: World) -> None:
    _many_links(world, "links", 300, LARGEST_FILE)
    for number in range(60):
        world.write(f"a/.claude/rules/{number:02}.md", "A rule.")
    world.write("a/AGENTS.md", "Near.")
    world.write("AGENTS.md", " ".join(f"@links/{number}.md" for number in range(300)))
    _, chain = await text_and_chain(world, "a")
    # The nearest first: its rules leave no room for what is farther.
    assert [each.path for each in chain.files if each.brought_by] == [
        f"a/.claude/rules/{number:02}.md" for number in range(50)
    ]
    # Without them the size counts, and what is too much is named and not read.
    (root, *brought) = (await text_and_chain(world))[1].files
    assert [each.path for each in brought] == [f"links/{number}.md" for number in range(4)]
    assert root.not_read[0] == "links/4.md"
    assert len(root.not_read) < 200


async def test_the_files_of_places_are_bounded_together_the_nearest_first(world: World) -> None:
    world.write("AGENTS.md", "All.")
    for name in "abcdef":
        world.write(f"{name}/AGENTS.md", "x" * LARGEST_FILE)
    _, chain = await text_and_chain(world, *"abcdef")
    assert [each.folder for each in chain.files if each.problem == "large"] == ["a", "b"]
    assert [each.folder for each in chain.files if each.words] == ["", "c", "d", "e", "f"]


async def test_names_that_are_no_files_are_looked_for_so_often_and_no_more(world: World) -> None:
    people = " ".join(f"@person{number}" for number in range(300))
    world.write("last.md", "Last.")
    world.write("AGENTS.md", f"{people} @last.md")
    (root,) = (await text_and_chain(world))[1].files
    assert root.not_read == ()
    world.write("AGENTS.md", f"@last.md {people}")
    assert [each.path for each in (await text_and_chain(world))[1].files] == ["AGENTS.md", "last.md"]


async def test_a_file_of_a_place_stays_its_own_whatever_imports_it(world: World) -> None:
    world.write("AGENTS.md", "@Projects/boat/AGENTS.md @shared.md")
    world.write("Projects/boat/AGENTS.md", "Of the boat. @hull/AGENTS.md @sail.md")
    world.write("Projects/boat/sail.md", "Of the sail.")
    world.write("Projects/boat/hull/AGENTS.md", "Of the hull.")
    text, chain = await text_and_chain(world, "Projects/boat/hull", directory=world.root / "Projects/boat")
    assert [(each.path, each.folder, each.level) for each in chain.files if not each.brought_by] == [
        ("AGENTS.md", "", "root"),
        ("Projects/boat/hull/AGENTS.md", "Projects/boat/hull", "direct"),
        ("Projects/boat/AGENTS.md", "Projects/boat", "directory"),
    ]
    (sail,) = (each for each in chain.files if each.brought_by)
    assert (sail.path, sail.folder, sail.level) == ("Projects/boat/sail.md", "Projects/boat", "directory")
    assert chain.working_directory_file == "Projects/boat/AGENTS.md"
    assert text.count("Root Context") == 1
    left = chain.left(lambda file: "hull" not in file.parts)
    assert [each.path for each in left.files if each.problem] == ["Projects/boat/hull/AGENTS.md"]


async def test_an_agent_takes_no_words_from_the_owner_by_importing_them(world: World) -> None:
    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    async def marked() -> list[str]:
        return [each.path for each in (await world.contexts.chain(("a/b",))).files if each.is_by_agent]

    world.write("AGENTS.md", "@a/b/AGENTS.md @a/b/rules.md @a/more.md")
    await world.run_wrote("", "AGENTS.md", digest("@a/b/AGENTS.md @a/b/rules.md @a/more.md"))
    world.write("a/b/AGENTS.md", "@rules.md")
    world.write("a/b/rules.md", "Mine. @rules.md @AGENTS.md")
    # Two that name each other are no owner of each other.
    world.write("a/more.md", "Mine. @other.md")
    world.write("a/other.md", "Mine. @more.md")
    assert await marked() == ["AGENTS.md", "a/more.md", "a/other.md"]


async def test_of_hidden_files_the_rules_alone_are_imported(world: World) -> None:
    world.write(
        "AGENTS.md",
        "@.claude/settings.local.json @.claude/projects/-scratch-a/a.jsonl @.claude/rules/.hidden.md "
        "@.claude/rules/style.md @a/.claude/rules/more.md @a/.claude/b.md",
    )
    for path in (".claude/settings.local.json", ".claude/projects/-scratch-a/a.jsonl", "a/.claude/b.md"):
        world.write(path, "ermine")
    world.write(".claude/rules/.hidden.md", "ermine")
    world.write(".claude/rules/style.md", "Say stoat.")
    world.write("a/.claude/rules/more.md", "Say otter.")
    text, chain = await text_and_chain(world)
    assert "ermine" not in text
    assert ("stoat" in text, "otter" in text) == (True, True)
    assert chain.files[0].not_read == (
        ".claude/settings.local.json",
        ".claude/projects/-scratch-a/a.jsonl",
        ".claude/rules/.hidden.md",
        "a/.claude/b.md",
    )
