"""Fetching a repository so that nothing in it, and nothing configured around it, can run."""

import re
from collections.abc import Callable
from pathlib import Path

from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.base.files import read_regular
from parachute.modules.trees.models import Limits, Progress
from parachute.modules.trees.tree import SourceCheck
from parachute.supervisor.command_runner import children

_SAFE = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=true",
    "core.autocrlf=false",
    # A new repository would otherwise clean itself up in the background, when we have already gone.
    "gc.auto=0",
    "maintenance.auto=false",
    "credential.helper=",
    "submodule.recurse=false",
    "fetch.fsckObjects=true",
    "transfer.fsckObjects=true",
    "init.templateDir=",
)

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SUBMODULE = b"160000"
_LISTING = 16 * 1024 * 1024

_UNREACHABLE = re.compile(
    r"could not resolve host|failed to connect|couldn't connect|connection (timed out|refused|reset)"
    r"|network is unreachable|no route to host|operation timed out",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    r"repository .*not found|does not appear to be a git repository|does not exist|terminal prompts disabled"
    r"|could not read (username|password)|authentication failed|permission denied|host key verification failed",
    re.IGNORECASE,
)


class CloneFailed(ParachuteError):
    """git could not fetch the repository; the message quotes git."""

    key = "clone_failed"


class Repository:
    """One repository, fetched into `folder` by one protocol (`https`); `work` is a new folder for what git needs."""

    def __init__(self, folder: Path, work: Path, limits: Limits, progress: Progress, protocol: str) -> None:
        self.folder = folder
        self._limits = limits
        self._progress = progress
        # Over http anything may answer on the way, and could send us to an address that only this computer reaches.
        self._redirects = "initial" if protocol == "https" else "false"
        work.mkdir()
        self._work = work
        self._variables = children.environment(
            "SSH_AUTH_SOCK",
            HOME=str(work),
            XDG_CONFIG_HOME=str(work),
            GIT_CONFIG_NOSYSTEM="1",
            GIT_CONFIG_GLOBAL="/dev/null",
            GIT_ATTR_NOSYSTEM="1",
            GIT_ALLOW_PROTOCOL=protocol,
            GIT_TERMINAL_PROMPT="0",
            GIT_ASKPASS="/bin/false",
            SSH_ASKPASS="/bin/false",
            GIT_SSH_COMMAND="ssh -oBatchMode=yes -oStrictHostKeyChecking=yes",
            GIT_LFS_SKIP_SMUDGE="1",
            GIT_LITERAL_PATHSPECS="1",
            GIT_OPTIONAL_LOCKS="0",
            GIT_NO_LAZY_FETCH="1",
        )

    def fetch(self, url: str) -> None:
        """Fetch the newest commit, without any file of it; errors: CloneFailed, Unavailable, InvalidInput."""
        options = ["--depth=1", "--no-tags", "--single-branch", "--no-recurse-submodules", "--template=", "--no-local"]
        self._git(
            ["clone", "--no-checkout", "--progress", *options, "--", url, str(self.folder)],
            self._progress.detail,
            self.folder.parent,
        )

    def newest(self, url: str) -> str:
        """The newest commit at an address, of which nothing is fetched; errors as for `fetch`."""
        return self._said(["ls-remote", "--exit-code", "--", url, "HEAD"])

    def commit(self) -> str:
        """The commit that was fetched."""
        return self._said(["rev-parse", "--verify", "HEAD"], self.folder)

    def take(self, subfolder: str | None) -> None:
        """Write the files, or those of one folder, after a check of their kinds and sizes; error: TreeNotAllowed."""
        wanted = ["--", subfolder] if subfolder else []
        listing = self.folder.parent / "listing"
        self._git(["ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD", *wanted], output=listing)
        self._check(read_regular(listing, _LISTING), subfolder)
        self._git(["checkout", "--quiet", "HEAD", "--", subfolder or "."])

    def _check(self, listing: bytes, subfolder: str | None) -> None:
        check, is_empty = SourceCheck(self._limits), True
        for line in listing.split(b"\0")[:-1]:
            about, _, name = line.partition(b"\t")
            mode, _, _, size = about.split()
            path = name.decode(errors="replace")
            if mode == _SUBMODULE:
                self._progress.step(f"Leaving out the submodule {path}: a source brings its files itself.")
                continue
            is_empty = False
            check.size(path, int(size))
        if is_empty:
            where = f"a folder {subfolder!r}" if subfolder else "any file"
            raise InvalidInput(
                f"The repository does not have {where}.", "`--path` names the folder.", key="no_such_folder"
            )

    def _said(self, arguments: list[str], folder: Path | None = None) -> str:
        """The commit that git names first; error: CloneFailed where it names none."""
        output = self._work / "said"
        self._git(arguments, folder=folder or self._work, output=output)
        found = _COMMIT.match(read_regular(output, _LISTING).decode(errors="replace"))
        if found is None:
            raise CloneFailed("The repository has no commit.", "Check the address.")
        return found[0]

    def _git(
        self,
        arguments: list[str],
        said: Callable[[str], None] = lambda line: None,
        folder: Path | None = None,
        output: Path | None = None,
    ) -> None:
        safe = (*_SAFE, f"http.followRedirects={self._redirects}")
        settings = [part for setting in safe for part in ("-c", setting)]
        finished = children.run(
            ["git", *settings, *arguments],
            folder=folder or self.folder,
            variables=self._variables,
            seconds=self._limits.clone_seconds,
            largest=self._limits.clone_bytes,
            watched=self.folder,
            said=said,
            output=output,
        )
        if finished.code:
            raise _failure(finished.output)


def _failure(output: str) -> ParachuteError:
    lines = [line for line in output.replace("\r", "\n").splitlines() if line.startswith(("fatal:", "error:", "ssh:"))]
    said = " ".join(lines)[-600:] or output[-300:].strip() or "git said nothing"
    if _UNREACHABLE.search(output):
        return Unavailable(
            f"The repository cannot be reached: {said}", "Check the network, then try again.", key="unreachable"
        )
    if _ABSENT.search(output):
        return CloneFailed(
            f"The repository cannot be read: {said}",
            "Check the address. A private one needs ssh with a key in your agent: git@host:owner/name",
        )
    return CloneFailed(f"git could not fetch the repository: {said}")
