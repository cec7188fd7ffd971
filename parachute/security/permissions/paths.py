"""Paths as the kernel resolves them, and the deny list that nothing lifts: places and names that no agent reads or writes."""

import errno
import fnmatch
import glob
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path

from parachute.base.errors import NotAllowed

# Linux' PATH_MAX.
PATH_LIMIT = 4096
# What one shell pattern may stand for; what stands for more is refused rather than half judged.
MATCH_LIMIT = 20_000
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_MACHINE = re.compile(
    r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|loop|dm-|md|mapper|disk|r?disk\d|sr\d|nbd|zram|ram|mtd|block|mem$|kmem$|port$)"
    r"|/proc/sysrq-trigger$|/sys/power/(state|disk)$",
    re.IGNORECASE,
)
_PROCESS = re.compile(r"/proc/.*/(environ|mem)$")


_SECRET = re.compile(
    r"\.env(~|\.(?!(example|sample|template)$).*)?|\.?credentials\.json(\..*)?|id_(rsa|dsa|(ecdsa|ed25519)(_sk)?)"
    r"|\.(netrc|npmrc|pypirc|pgpass|git-credentials|ssh|gnupg|aws|parachute)|.*\.(pem|key|p12|pfx)"
)
_SECRETS = (
    *(
        ".env",
        ".env~",
        ".env.local",
        ".env.production",
        "credentials.json",
        ".credentials.json",
        ".credentials.json.before",
        "id_rsa",
        "id_dsa",
    ),
    *("id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".ssh"),
    *(".git-credentials", ".gnupg", ".aws", ".parachute", "server.pem", "server.key", "server.p12", "server.pfx"),
)
_CLASS = re.compile(r"\[[!^]?\]?[^\]]*\[:[^\]]*:\][^\]]*\]")
_WILD = re.compile(r"\[([*?\[])\]|\[[!^]?\]?[^\]]*\]|[*?]")


class UnsafePath(NotAllowed):
    """The path cannot be judged, so it is not used."""

    key = "unsafe_path"


def joined(folder: str | Path, path: str | Path) -> str:
    """Return the path below the folder, or the path itself when it is absolute, with every letter kept as it was."""
    text = os.fspath(path)
    return "/" + text.lstrip("/") if text.startswith("/") else f"{os.fspath(folder).rstrip('/')}/{text}"


def real_path(path: str | Path) -> str:
    """Return the absolute real path, also of one that does not exist yet; `UnsafePath` for what is no path, or a loop."""
    text = os.fspath(path)
    if not text or len(text) > PATH_LIMIT or CONTROL.search(text):
        raise UnsafePath(f"A path must have 1 to {PATH_LIMIT} characters and no control characters.")
    real = os.path.realpath(text)
    # realpath() answers a loop with the path up to the loop, unresolved; only a look-up tells.
    for candidate in (text, real):
        try:
            os.stat(candidate)  # noqa: PTH116
            break
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise UnsafePath(f"The path {text!r} cannot be resolved.", "Its links form a loop.") from None
    return "/" + real.lstrip("/")


def below(path: str, root: str) -> bool:
    """Return whether a real path is the root or below it, by whole parts."""
    return path == root or path.startswith(root.rstrip("/") + "/")


@lru_cache(maxsize=4096)
def is_secret(part: str) -> bool:
    """Return whether one part of a path is on the deny list, in any case and with look-alike or invisible letters."""
    if not part.isascii():
        shown = unicodedata.normalize("NFKC", part)
        part = "".join(letter for letter in shown if unicodedata.category(letter) != "Cf").casefold()
    return _SECRET.fullmatch(part.lower()) is not None


def is_wild(part: str) -> bool:
    """Return whether a part of a pattern (literals escaped as `[*]`) contains a wildcard."""
    return any(found[1] is None for found in _WILD.finditer(part))


def literal_letters(part: str) -> str:
    """Return what stays of a part of a pattern without its wildcards and dots; empty means it matches everything."""
    return _WILD.sub(lambda found: found[1] or "", part).replace(".", "")


@lru_cache(maxsize=1024)
def could_be_secret(part: str, least: int = 3) -> bool:
    """Return whether a pattern clearly aims at a name of the deny list; `c*` or `.*` aims at nothing in particular."""
    letters = literal_letters(part)
    if not letters or (len(letters) < least and not part.startswith(".")):
        return False
    # fnmatch knows neither [^a] nor [[:alpha:]] nor {a,b}; any one letter is the wider reading of the second.
    pattern = fnmatch.translate(_CLASS.sub("?", part).replace("[^", "[!"))
    if "," in part:
        pattern = pattern.replace(r"\{", "(").replace(r"\}", ")").replace(",", "|")
    try:
        return any(re.fullmatch(pattern, secret, re.IGNORECASE) for secret in _SECRETS)
    except re.error:
        return True


@dataclass(frozen=True)
class Places:
    """The vault, the state directory, the person's home, and the mounts of a sandbox.

    `mapped_roots` is None for a session on this machine itself. In a sandbox it maps folders inside to folders here;
    a path outside of them exists only in the sandbox and is judged by its letters alone. `given` are folders in the state
    directory that a session on this machine itself has been given.
    """

    vault: Path
    home: Path
    user_home: Path
    mapped_roots: Mapping[str, Path] | None = None
    given: tuple[Path, ...] = ()

    @cached_property
    def _given(self) -> tuple[str, ...]:
        folders = () if self.mapped_roots is not None else self.given
        return (*map(str, folders), *map(real_path, folders))

    @cached_property
    def _protected(self) -> tuple[str, ...]:
        own = (self.vault, self.home, self.user_home)
        return (*map(str, own), *map(real_path, own))

    @cached_property
    def _trusted(self) -> tuple[str, str]:
        return real_path(self.home), real_path(self.vault / ".parachute")

    @cached_property
    def _mounts(self) -> list[tuple[str, str]]:
        mounts = [(os.path.normpath(inside), real_path(host)) for inside, host in (self.mapped_roots or {}).items()]
        return sorted(mounts, key=lambda mount: -len(mount[0]))

    def host(self, path: str) -> tuple[str, str] | None:
        """Return the path on this machine and the mounted folder it lies in; None when it exists only in the sandbox."""
        if self.mapped_roots is None:
            return path, ""
        found = next(((inside, host) for inside, host in self._mounts if below(path, inside)), None)
        return found and (f"{found[1]}/{path[len(found[0]) :].lstrip('/')}", found[1])

    def is_link(self, path: str) -> bool:
        """Return whether the path is a link, or Parachute's own folder."""
        host = (self.host(path) or (path, ""))[0]
        return os.path.islink(host) or host in self._trusted  # noqa: PTH114

    def given_folder(self, path: str) -> str:
        """Return the folder that was given in which a path without `..` lies, empty for none."""
        return next((folder for folder in self._given if below(path, folder)), "")

    def letters(self, text: str) -> str:
        """Return a word of a command line without the folder that was given in which it names a file."""
        given = self.given_folder(os.path.normpath(text)) if self._given and text.startswith("/") else ""
        return text[len(given) :] if given and below(text, given) else text

    def absolute(self, folder: str | Path, path: str) -> str:
        """Return the path below the folder, with a `~` as the person's home: some programs read one the shell left."""
        return f"{self.user_home}{path[1:]}" if path == "~" or path.startswith("~/") else joined(folder, path)

    def real_paths(self, path: str) -> Iterator[str]:
        """Yield the absolute path without `..`, and as it really is on this machine where it exists there."""
        plain = "/" + os.path.normpath(path).lstrip("/")
        yield plain
        # The kernel follows links before it goes up, other programs do not.
        yield from (real_path(place[0]) for reading in {path, plain} if (place := self.host(reading)))

    def is_protected(self, path: str) -> bool:
        """Return whether the path is the vault, the home, the state directory, or a folder that contains one of them."""
        return any(below(own, real) for own in self._protected for real in self.real_paths(path))

    def refusal(self, path: str, folder: str | Path) -> str | None:
        """Return why no one may use this path, or None; a relative path starts at the folder."""
        try:
            whole = self.absolute(folder, path)
            mount = (self.host(whole) or ("", ""))[1]
            shown = "" if self._given else whole
            for real in self.real_paths(whole):
                if given := self.given_folder(real):
                    shown += real[len(given) :]
                    continue
                # What a mount's own folder is called here says nothing about the files in it.
                shown += "/" + (real[len(mount) :] if mount and below(real, mount) else real)
                if any(below(real, own) and not (mount and below(mount, own)) for own in self._trusted):
                    return f"{path!r} leads into Parachute's own folder, which is never opened for an agent."
                # A sandbox has processes of its own only.
                if _MACHINE.match(real) or (self.mapped_roots is None and _PROCESS.match(real)):
                    return f"{path!r} gives direct access to the machine or another program, which no agent may have."
        except UnsafePath as error:
            return str(error)
        secret = next((part for part in shown.split("/") if is_secret(part)), None)
        return secret and f"{path!r} leads to {secret!r}, which may hold secrets and is never opened for an agent."

    def matching(self, pattern: str, folder: str, hidden: bool) -> list[str] | None:
        """Return the paths that a shell pattern stands for; None where they are not known."""
        whole = self.absolute(glob.escape(folder), pattern)
        path, mount = self.host(whole) or ("", "")
        if not path or sum(map(is_wild, pattern.split("/"))) > 2:
            return None
        listed = glob.iglob(glob.escape(mount) + path[len(mount) :], include_hidden=hidden)  # noqa: PTH207
        found = list(islice(listed, MATCH_LIMIT + 1))
        if len(found) > MATCH_LIMIT:
            raise UnsafePath("A wildcard stands for too many files.", "Name a smaller folder.")
        inside = whole[: len(whole) - len(path) + len(mount)]
        return [inside + one[len(mount) :] for one in found]
