"""The branch that updates come from."""

import os
import subprocess
from pathlib import Path

import pytest

from parachute.ops.updates.following import Following, is_checked_out
from parachute.ops.updates.models import UpdateFailed

pytestmark = pytest.mark.process

WHO = {
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "A"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@example.org"),
}


def git(folder: Path, *arguments: str) -> str:
    """Return git's output."""
    ran = subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True, env={**os.environ, **WHO}
    )
    return ran.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone that follows `main` of another repository."""
    (tmp_path / "origin").mkdir()
    git(tmp_path / "origin", "init", "-q", "-b", "main")
    git(tmp_path / "origin", "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path, "clone", "-q", "origin", "clone")
    return tmp_path / "clone"


@pytest.mark.long
async def test_what_is_checked_out_later_is_not_taken(clone: Path, tmp_path: Path) -> None:
    following = Following(tmp_path / "state")
    first = git(clone, "rev-parse", "HEAD")
    assert await following.newest(clone, is_named=False) == first
    git(clone, "checkout", "-q", "-b", "work")
    git(clone, "commit", "-q", "--allow-empty", "-m", "of an agent")
    git(clone, "branch", "-q", "-f", "main", "work")
    git(clone, "update-ref", "refs/remotes/origin/main", "work")
    assert await following.newest(clone, is_named=False) == first
    git(tmp_path / "origin", "commit", "-q", "--allow-empty", "-m", "second")
    assert await following.newest(clone, is_named=False) == git(tmp_path / "origin", "rev-parse", "main")
    # The owner's word is another matter: this branch follows no other one.
    assert await following.newest(clone, is_named=True) == git(clone, "rev-parse", "work")
    git(clone, "checkout", "-q", "--detach")
    with pytest.raises(UpdateFailed) as refused:
        await following.newest(clone, is_named=True)
    assert refused.value.key == "no_branch"


async def test_a_clone_runs_its_newest_commit_only_with_the_files_of_that(clone: Path, tmp_path: Path) -> None:
    following = Following(tmp_path / "state")
    (tmp_path / "origin" / "program").write_text("1")
    git(tmp_path / "origin", "add", "program")
    git(tmp_path / "origin", "commit", "-q", "-m", "second")
    newest = await following.newest(clone, is_named=False)
    assert not await is_checked_out(clone, newest)
    git(clone, "pull", "-q")
    assert await is_checked_out(clone, newest)
    (clone / "program").write_text("mine")
    assert not await is_checked_out(clone, newest)


def test_a_source_in_which_agents_may_write_is_refused(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(clone)
    following = Following(tmp_path / "state", (tmp_path / "vault", clone.parent / "clone"))
    for source in (clone, tmp_path / "link", clone / "dist/new.whl"):
        with pytest.raises(UpdateFailed) as refused:
            following.check(source)
        assert refused.value.key == "agents_write_there"
    following.check(tmp_path / "origin")


@pytest.mark.parametrize("folder", ["origin", "clone"])
async def test_nor_does_it_come_from_there_by_a_detour(clone: Path, tmp_path: Path, folder: str) -> None:
    git(clone, "worktree", "add", "-q", "-b", "other", "../tree")
    git(tmp_path / "tree", "branch", "-q", "--set-upstream-to=origin/main")
    with pytest.raises(UpdateFailed) as refused:
        await Following(tmp_path / "state", (tmp_path / folder,)).newest(tmp_path / "tree", is_named=False)
    assert refused.value.key == "agents_write_there"
