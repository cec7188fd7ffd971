"""The branch that updates come from: what a clone followed when the owner named it, and nothing that somebody has set there since."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.ops.updates.models import UpdateFailed
from parachute.sandbox.image import programs

_SECONDS = 3600.0
_FETCH_SECONDS = 300.0
_LIMIT = 64 * 1024
_BRANCH = "refs/heads/"
OFFLINE_HINT = "Is this computer connected? `parachute update` can be tried again at any time: nothing has changed."


class Followed(Struct, frozen=True):
    """A branch of another repository, or of the clone itself where `remote` is empty."""

    clone: str
    remote: str
    branch: str


class Following:
    """Keeps what is followed in `folder`; in `written`, folders, agents may write."""

    def __init__(self, folder: Path, written: Iterable[Path] = ()) -> None:
        self._path = folder / "followed.json"
        self._written = tuple(written)

    def check(self, source: Path) -> None:
        """Refuse a clone or a wheel to which an agent may have written; error: UpdateFailed."""
        real = source.resolve()
        folder = next((each for each in self._written if real.is_relative_to(each.resolve())), None)
        if folder is not None:
            raise UpdateFailed(
                f"{source} lies in {folder}, in which agents may write, and what is installed from there runs as you.",
                "Clone the repository somewhere else, and name it: `parachute update --from PATH`.",
                key="agents_write_there",
            )

    async def newest(self, clone: Path, *, is_named: bool) -> str:
        """The newest commit of the branch that is followed. Errors: UpdateFailed, Unavailable, InvalidInput, OSError.

        Which one it is, is remembered when the clone is used first, or when the owner names it.
        """
        # A linked work tree has its commits somewhere else.
        self.check(Path(await git(clone, "rev-parse", "--path-format=absolute", "--git-common-dir")))
        followed = self._read()
        if is_named or followed is None or followed.clone != str(clone):
            followed = await _followed(clone)
            private_folder(self._path.parent)
            atomic_write(self._path, msgspec.json.encode(followed))
        if not followed.remote:
            return await git(clone, "rev-parse", "--verify", f"{followed.branch}^{{commit}}")
        if (near := clone / followed.remote.removeprefix("file://")).exists():
            self.check(near)
        await git(
            clone,
            *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--", followed.remote, followed.branch),
            seconds=_FETCH_SECONDS,
            hint=OFFLINE_HINT,
        )
        return await git(clone, "rev-parse", "--verify", "FETCH_HEAD^{commit}")

    def _read(self) -> Followed | None:
        try:
            return msgspec.json.decode(read_regular(self._path, _LIMIT), type=Followed)
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise InvalidInput(
                f"{self._path} cannot be read.",
                "Name the clone: `parachute update --from PATH`.",
                key="followed_unreadable",
            ) from error


async def is_checked_out(clone: Path, commit: str) -> bool:
    """Return whether the files of a clone are those of this commit; errors: Unavailable."""
    if await git(clone, "rev-parse", "--verify", "HEAD^{commit}") != commit:
        return False
    return not await git(clone, "status", "--porcelain", "--untracked-files=no")


async def _followed(clone: Path) -> Followed:
    try:
        branch = await git(clone, "symbolic-ref", "--quiet", "HEAD")
    except Unavailable as error:
        raise UpdateFailed(
            f"{clone} is not on a branch, so there is nothing to follow.",
            f"Check one out: git -C {clone} checkout main",
            key="no_branch",
        ) from error
    try:
        name = branch.removeprefix(_BRANCH)
        remote = await git(clone, "config", "--get", f"branch.{name}.remote")
        merged = await git(clone, "config", "--get", f"branch.{name}.merge")
        address = await git(clone, "remote", "get-url", "--", remote) if remote != "." else ""
    except Unavailable:
        return Followed(str(clone), "", branch)
    return Followed(str(clone), address, merged)


async def git(clone: Path, *arguments: str, seconds: float = _SECONDS, hint: str | None = None) -> str:
    """The output of git in a clone; error: Unavailable."""
    command = ["git", "-C", str(clone), *arguments]
    return (await programs.run(command, os.environ, seconds=seconds, hint=hint)).strip()
