"""Copy-on-write views: an agent works on its own copy of a folder, and the folder itself is never mounted for writing.

A view is an overlay: reads come from the folder, writes go to `upper`. The kernel allows it to everybody within a user namespace
of their own (Linux 5.11, `userxattr`). Applying what was written is the server's.
"""

import ctypes
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import private_folder
from parachute.base.folders import Folder

_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000  # linux/sched.h
_TRIED = ".tried"
_SECONDS = 20
_PROBE = "from parachute.sandbox.engines.views import attempt; import sys; attempt(sys.argv[1])"


class View(Struct, frozen=True):
    """The folder of a view; `upper` holds what was written, `work` is the kernel's, and `mounted` is where the launcher mounts it.

    With a `part` it is that of a folder further down: several parts are mounted apart, and what was written is together.
    """

    folder: Path
    part: str = ""

    @classmethod
    def of(cls, views: Path, session: str, directory: Path) -> "View":
        """The view of a session on a directory, below the folder of all views."""
        import hashlib  # it loads a large library, and the launcher needs no such name

        return cls(views / session / hashlib.sha256(os.fsencode(directory)).hexdigest()[:12])

    @property
    def upper(self) -> Path:
        """Layer of differences from the folder below."""
        return self.folder / "upper" / self.part

    @property
    def work(self) -> Path:
        """The kernel's own folder, on the same file system."""
        return self.folder / self._named("work")

    @property
    def mounted(self) -> Path:
        """The mount point, in the launcher's namespace only."""
        return self.folder / self._named("mounted")

    def make(self, project: Path | None = None) -> "View":
        """Make the folders that are missing; a part needs the folder that the view is of. Error: OSError."""
        for folder in (self.folder.parent, self.folder, self.folder / "upper", self.work, self.mounted):
            private_folder(folder)
        upper, below, made = self.folder / "upper", project or Path(), []
        for name in Path(self.part).parts:
            upper, below = upper / name, below / name
            if not upper.is_dir():
                upper.mkdir(mode=0o700)
                made.append((upper, below))
        for upper, below in reversed(made):
            # Another mode would be a change of the agent's.
            upper.chmod(stat.S_IMODE(below.stat().st_mode))
        return self

    def _named(self, name: str) -> str:
        import hashlib  # as above

        return f"{name}.{hashlib.sha256(self.part.encode()).hexdigest()[:12]}" if self.part else name

    def remove(self) -> None:
        """Remove the view with all that is in it; nothing may have it mounted. Error: OSError."""
        with suppress(FileNotFoundError), Folder.open(self.folder.parent) as views:
            with suppress(FileNotFoundError), views.folder(self.folder.name) as own:
                names = [entry.name for entry in own.entries()]
                for work in filter(lambda name: name.partition(".")[0] == "work", names):
                    _empty(own, work)
            views.remove_tree(self.folder.name)


def _empty(folder: Folder, work: str) -> None:
    # The kernel leaves a folder there that nobody may read. One that Podman's root owns can go where it is empty.
    with folder.folder(work) as opened:
        for name in [entry.name for entry in opened.entries()]:
            try:
                opened.remove_folder(name)
            except OSError:
                opened.remove_tree(name)


def remove_views(views: Path, session: str) -> None:
    """Remove all views of a session, none of which is mounted; error: OSError."""
    with suppress(FileNotFoundError):
        for folder in list((views / session).iterdir()):
            View(folder).remove()
        (views / session).rmdir()


def enter_namespace() -> None:
    """Give this process, which has one thread, a user and a mount namespace in which it may mount; error: OSError."""
    user, group = os.getuid(), os.getgid()
    _check(ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER | _CLONE_NEWNS))
    # The same numbers inside: what an agent writes belongs to the owner, and programs started later have no rights here.
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path(f"/proc/self/{name}").write_text(text, encoding="ascii")


def is_foreign(status: os.stat_result) -> bool:
    """Return whether a folder has another group or owner than those that a view knows: the kernel refuses all writing in it there."""
    return status.st_gid != os.getgid() or status.st_uid != os.getuid()


def mount(source: Path, view: View) -> int:
    """Mount the view of a folder, after `enter_namespace`, and open it (O_PATH); error: OSError."""
    with Folder.open(Path("/")) as root:
        opened = [
            root.descriptor(str(path).strip("/"), os.O_PATH | os.O_DIRECTORY)
            for path in (source, view.upper, view.work, view.mounted)
        ]
    try:
        # Descriptors, since a path may hold a comma or a colon, and may lead elsewhere by now.
        lower, upper, work, mounted = (f"/proc/self/fd/{descriptor}" for descriptor in opened)
        options = f"lowerdir={lower},upperdir={upper},workdir={work},userxattr"
        library = ctypes.CDLL(None, use_errno=True)
        _check(library.mount(b"overlay", mounted.encode(), b"overlay", 0, options.encode()))
    finally:
        for descriptor in opened:
            os.close(descriptor)
    with Folder.open(Path("/")) as root:
        return root.descriptor(str(view.mounted).strip("/"), os.O_PATH | os.O_DIRECTORY)


def unavailable(folder: Path) -> str | None:
    """The reason why no views can be mounted with their files in this folder, as a sentence, or None; found out by mounting one.

    Error: Unavailable when it could not be found out. Waits.
    """
    import subprocess  # not for the launcher, which somebody waits for

    from parachute.supervisor.command_runner.starting import outside

    if sys.platform != "linux":
        return "Copy-on-write views need Linux."
    try:
        probe = subprocess.run(
            outside((sys.executable, "-c", _PROBE, str(folder))),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(
            f"A copy-on-write view could not be tested: {error}.", "Try again.", key="views_not_tried"
        ) from error
    finally:
        with suppress(OSError):
            View(folder / _TRIED).remove()
    if probe.returncode != 0:
        said = (probe.stderr.strip().splitlines() or ["no reason was given"])[-1]
        return f"Copy-on-write views cannot be mounted here: {said[:200]}."
    return None


def attempt(folder: str) -> None:
    """Mount a view and change in it what there is; ends this process with a sentence where that does not work."""
    tried = View(private_folder(Path(folder)) / _TRIED)
    tried.remove()
    lower = private_folder(tried.make().folder / "lower")
    for name in ("changed", "removed"):
        (lower / name).write_text("before")
    try:
        enter_namespace()
        view = f"/proc/self/fd/{mount(lower, tried)}"
        Path(view, "changed").write_text("after")
        Path(view, "removed").unlink()
    except OSError as error:
        sys.exit(error.strerror or str(error))
    kept = [path.read_text() for path in sorted(lower.iterdir())]
    if kept != ["before", "before"] or {path.name for path in tried.upper.iterdir()} != {"changed", "removed"}:
        sys.exit("the kernel did not keep the folder as it was")


def _check(outcome: int) -> None:
    if outcome != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def opened(source: str, view: str, part: str = "") -> int:
    """The descriptor of a mounted view, which a child may inherit; error: InvalidInput."""
    try:
        descriptor = mount(Path(source), View(Path(view), part))
    except OSError as error:
        raise InvalidInput(f"The view of {source} cannot be mounted: {error.strerror}.", key="no_view") from error
    os.set_inheritable(descriptor, True)
    return descriptor
