"""The project's own repository: commits are applied, and nothing that git obeys."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.changes.git_files import entries_digest, is_valid, part_of
from parachute.security.origin import Origin
from tests.changes.views import World

pytestmark = pytest.mark.process


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        made.git("init", "-q", "-b", "main")
        made.write("a")
        made.git("add", "a")
        made.git("commit", "-qm", "first")
        yield made


COMMIT = "echo more >> a; git commit -qam second"


async def test_a_commit_is_applied(world: World) -> None:
    await world.turn(f"{COMMIT}; git checkout -qb side; echo b > b; git add b; git commit -qm third; git tag v1")
    assert world.git("status", "--porcelain") == ""
    assert world.git("log", "--format=%s") == "third\nsecond\nfirst\n"
    assert world.git("branch", "--show-current") == "side\n"
    assert world.git("fsck", "--strict") == ""
    assert await world.reasons() == {}
    assert not list((world.project / ".git").rglob("*.lock"))


async def test_collected_garbage_loses_no_object_of_the_owner(world: World) -> None:
    await world.turn(f"{COMMIT}; git branch old; git gc -q; git pack-refs --all; git branch -qD old")
    assert await world.reasons() == {}
    assert world.git("fsck") == ""
    assert world.git("branch", "--format=%(refname)") == "refs/heads/main\n"
    assert world.git("status", "--porcelain") == ""


async def test_settings_hooks_and_other_repositories_wait(world: World) -> None:
    await world.turn(
        "git config core.fsmonitor ./evil; echo x > .git/hooks/post-commit; mkdir -p .git/modules/x .git/objects/info; "
        "echo /x > .git/objects/info/alternates; echo . > .git/commondir; mkdir -p .git/worktrees/w; "
        "echo x > .git/worktrees/w/gitdir; echo 'exec evil' > .git/rebase-merge; echo x > .git/info/attributes; "
        "echo x > .git/refs/heads/..x; ln -sf /etc/passwd .git/ORIG_HEAD; echo 'ref: ../../x' > .git/MERGE_HEAD; "
        "mkdir -p .git/objects/aa; echo x > .git/objects/aa/" + "b" * 38
    )
    reasons = await world.reasons()
    names = (
        *("config", "hooks/post-commit", "modules", "modules/x", "objects/info/alternates", "commondir", "worktrees"),
        *("worktrees/w", "worktrees/w/gitdir", "rebase-merge", "info/attributes", "refs/heads/..x", "ORIG_HEAD"),
        *("MERGE_HEAD", "objects/aa/" + "b" * 38),
    )
    assert sorted(reasons) == sorted(f".git/{name}" for name in names)
    assert set(reasons.values()) <= {"git", "link", "commit"}
    assert "evil" not in world.git("config", "--list")


async def test_a_commit_of_the_owner_meanwhile_keeps_both(world: World) -> None:
    def meanwhile() -> None:
        world.write("mine")
        world.git("add", "mine")
        world.git("commit", "-qm", "owner")

    await world.turn(COMMIT, meanwhile)
    assert world.git("log", "--format=%s") == "owner\nfirst\n"
    assert world.git("fsck", "--connectivity-only", "--no-dangling") == ""
    reasons = await world.reasons()
    assert reasons[".git/refs/heads/main"] == "conflict"
    assert reasons[".git/index"] in ("conflict", "commit")


async def test_a_commit_of_what_waits_waits_with_it(world: World) -> None:
    number = (await world.turn(f"{COMMIT}; echo evil > .envrc; git add .envrc; git commit -qm third")).number
    reasons = await world.reasons()
    assert reasons[".envrc"] == "obeyed"
    assert reasons[".git/refs/heads/main"] == reasons[".git/index"] == "commit"
    assert world.git("log", "--format=%s") == "first\n"
    assert world.git("fsck", "--no-dangling") == ""
    await world.changes.answer("s", number, "apply")
    assert world.git("log", "--format=%s") == "third\nsecond\nfirst\n"
    assert world.git("status", "--porcelain") == ""


async def test_a_status_of_the_owner_is_no_conflict(world: World) -> None:
    def meanwhile() -> None:
        before = (world.project / ".git/index").read_bytes()
        os.utime(world.project / "a", (1, 1))
        world.git("status")
        assert (world.project / ".git/index").read_bytes() != before

    with await asyncio.to_thread(world.mounted) as view:
        await world.begin()
        view.run("echo x > new; git add new; git commit -qm second")
        meanwhile()
        await world.apply()
    assert await world.reasons() == {}
    assert world.git("status", "--porcelain") == ""
    assert world.git("log", "--format=%s") == "second\nfirst\n"


async def test_a_new_repository_waits(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        await world.turn("git init -q; echo 1 > a; git add a; git commit -qm first")
        assert not (world.project / ".git").exists()
        assert set((await world.reasons()).values()) == {"repository"}
        assert world.read("a") == "1\n"


async def test_removing_the_repository_waits(world: World) -> None:
    await world.turn("rm -rf .git a")
    assert await world.reasons() == {".git": "repository"}
    assert world.git("log", "--format=%s") == "first\n"


@pytest.mark.parametrize("version", [2, 3, 4])
async def test_an_index_says_the_same_whatever_times_it_holds(world: World, version: int) -> None:
    for name in ("b", "sub/deep/file", "sub/deep/other"):
        world.write(name)
    world.git("add", ".")
    world.git("update-index", "--index-version", str(version), "--force-write-index")
    index = world.project / ".git/index"
    first = entries_digest(index.read_bytes())
    assert first is not None
    assert is_valid("index", iter([index.read_bytes()]))
    (world.project / "b").touch()
    world.git("status")
    assert entries_digest(index.read_bytes()) == first
    world.write("b", "other\n")
    world.git("add", "b")
    assert entries_digest(index.read_bytes()) not in (first, None)
    assert entries_digest(index.read_bytes()[:-1]) is None


def test_names_of_a_repository() -> None:
    for path, part in (
        ("objects/ab/" + "c" * 38, "object"),
        (f"objects/pack/pack-{'a' * 40}.idx", "object"),
        ("refs/heads/feature/x", "ref"),
        ("refs/stash", "derived"),
        ("refs/remotes/origin/main", "derived"),
        ("logs/refs/remotes/origin/HEAD", "derived"),
        ("logs/refs/heads/main", "head"),
        ("refs/heads/a.lock", "derived"),
        ("refs/heads/.hidden", None),
        ("refs/heads/a..b", None),
        ("refs/heads/a@{b", None),
        ("refs/bisect/bad", None),
        ("config.worktree", None),
        ("objects/info/alternates", None),
        ("sharedindex.abc", None),
    ):
        assert part_of(path) == part


PLUMBING = """
commit() {
  tree=$(printf '100644 blob %s\\t%s\\n' "$(echo evil | git hash-object -w --stdin)" "$1" | git mktree)
  for above in $2; do tree=$(printf '040000 tree %s\\t%s\\n' "$tree" "$above" | git mktree); done
  git commit-tree -p HEAD -m evil "$tree"
}
"""


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("commit .envrc", "refs/heads/feature"),
        ("commit .envrc 'deep sub'", "refs/tags/v1"),
        ("commit tasks.json .vscode", "refs/heads/feature"),
        ("commit x.json 'hooks .github'", "refs/heads/feature"),
        ("commit .gitmodules", "refs/heads/feature"),
        ("commit AGENTS.md", "refs/heads/feature"),
        (
            "git commit-tree -m evil -p HEAD -p $(commit b) $(git rev-parse $(commit .envrc)^{tree})",
            "refs/heads/feature",
        ),
    ],
)
async def test_a_commit_that_no_index_has_waits_for_what_is_in_its_tree(
    world: World, name: str, reference: str
) -> None:
    web = {"origin": lambda: Origin.WEB}
    await world.turn(f"{PLUMBING}\ngit update-ref {reference} $({name})", **web)
    assert (await world.reasons())[f".git/{reference}"] == "commit"
    assert not (world.project / ".git" / reference).exists()


async def test_the_same_commit_without_it_is_applied(world: World) -> None:
    await world.turn(f"{PLUMBING}\ngit update-ref refs/heads/feature $(commit b 'deep sub')")
    assert await world.reasons() == {}
    assert world.git("ls-tree", "-r", "--name-only", "feature") == "sub/deep/b\n"


@pytest.mark.parametrize(("target", "waits"), [("/etc/hosts", True), ("../../outside", True), ("../b", False)])
async def test_a_commit_with_a_link_that_leads_out_waits(world: World, target: str, waits: bool) -> None:
    link = f"120000 blob $(printf %s {target} | git hash-object -w --stdin)\tlink"
    sub = f"040000 tree $(printf '%b\n' \"{link}\" | git mktree)\tsub"
    await world.turn(
        f"git update-ref refs/heads/feature $(git commit-tree -p HEAD -m new $(printf '%b\n' \"{sub}\" | git mktree))"
    )
    assert ((await world.reasons()).get(".git/refs/heads/feature") == "commit") is waits
    assert (world.project / ".git/refs/heads/feature").exists() is not waits


async def test_what_was_committed_and_taken_out_again_waits_and_what_the_owner_has_does_not(world: World) -> None:
    world.write(".envrc", "mine\n")
    world.git("checkout", "-qb", "side")
    world.git("add", ".envrc")
    world.git("commit", "-qm", "mine")
    world.git("checkout", "-q", "main")
    await world.turn(
        f"{PLUMBING}\ngit update-ref refs/heads/b $(git commit-tree -m later -p $(commit .envrc) HEAD^{{tree}}); "
        "git branch a side; git checkout -q a; echo x > x; git add x; git commit -qm 'after mine'; git checkout -q main"
    )
    reasons = await world.reasons()
    assert (reasons[".git/refs/heads/b"], ".git/refs/heads/a" in reasons) == ("commit", False)
    assert world.git("log", "--format=%s", "refs/heads/a") == "after mine\nmine\nfirst\n"


async def test_branches_elsewhere_and_the_stash_stay_in_the_view(world: World) -> None:
    world.git("update-ref", "refs/remotes/origin/main", "HEAD")
    before = world.git("for-each-ref")
    await world.turn(
        f"{PLUMBING}\ngit update-ref refs/remotes/origin/main $(commit b); git update-ref refs/remotes/origin/new HEAD; "
        "echo x >> a; git stash -q"
    )
    assert (world.git("for-each-ref"), await world.reasons()) == (before, {})
    # Nor do they come packed, and what was packed with them is not lost.
    await world.turn("git pack-refs --all")
    assert (world.git("for-each-ref"), (await world.reasons())[".git/packed-refs"]) == (before, "commit")


async def test_an_index_of_a_pack_that_says_something_else_than_the_pack_waits(world: World) -> None:
    await world.turn(
        f"{PLUMBING}\ngit update-ref refs/heads/b $(commit b); git repack -qad; chmod +w .git/objects/pack/*; "
        "python3 - <<'END'\nimport glob, hashlib\n"
        "path = glob.glob('.git/objects/pack/*.idx')[0]\ndata = bytearray(open(path, 'rb').read())\n"
        "data[1032] ^= 1\nopen(path, 'wb').write(data[:-20] + hashlib.sha1(data[:-20]).digest())\nEND\n"
    )
    assert "git" in (await world.reasons()).values()
    assert not list((world.project / ".git/objects/pack").glob("*.idx"))
