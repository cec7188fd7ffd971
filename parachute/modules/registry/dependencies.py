"""The packages of a module: fetched as wheels and locked before consent, unpacked after it, rebuilt without a network."""

import contextlib
import os
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.base.files import atomic_write, remove_tree
from parachute.modules.registry.requirements import Lock, check_requirements, interpreter_tag, locked_wheels
from parachute.modules.trees.hashing import read_tree
from parachute.modules.trees.models import Limits, Progress
from parachute.modules.trees.tree import remove_bytecode
from parachute.supervisor.command_runner import children

LOCK, WHEELS, PACKAGES = "lock.txt", "wheels", "packages"

_CHOICES = (
    # Which index the user trusts is the user's choice, from the environment or pip.conf; everything else is ours.
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_TRUSTED_HOST", "PIP_CERT"),
    *("PIP_CLIENT_CERT", "PIP_PROXY", "PIP_CONFIG_FILE", "HOME", "XDG_CONFIG_HOME"),
)
_OURS = frozenset({"parachute", "parachute_runner"})

_UNREACHABLE = re.compile(
    r"NewConnectionError|Max retries exceeded|Name or service not known|Temporary failure in name resolution"
    r"|ConnectionError|ConnectTimeout|Read ?Timeout|ProxyError|Network is unreachable|SSLError"
)


class DependenciesFailed(ParachuteError):
    """pip could not find or unpack the packages of a module; the message quotes pip."""

    key = "dependencies_failed"


def resolve(requires: tuple[str, ...], folder: Path, limits: Limits, progress: Progress) -> Lock:
    """Fetch wheels for `requires` into `folder/wheels`, and write `folder/lock.txt`.

    Nothing of them runs: no package is built, and none is imported. Errors: InvalidInput, Unavailable,
    DependenciesFailed.
    """
    check_requirements(requires)
    wheels = folder / WHEELS
    wheels.mkdir()
    if requires:
        progress.step("Resolving dependencies...")
        command = ["download", "--no-cache-dir", "--retries", "2", "--timeout", "20", "--only-binary", ":all:"]
        finished = _pip(
            [*command, "--progress-bar", "off", "--dest", str(wheels), "--", *requires],
            folder,
            children.environment(*_CHOICES),
            limits,
            lambda line: progress.detail(line[:200]),
        )
        if finished.code:
            raise _failure(finished.output)
    lock = locked_wheels(requires, wheels)
    atomic_write(folder / LOCK, lock.render())
    return lock


def install(folder: Path, limits: Limits) -> str | None:
    """Unpack `folder/wheels` as `folder/lock.txt` says into the new `folder/packages`; returns the hash of it.

    None if there are no packages. Errors: DependenciesFailed, Unavailable, InvalidInput.
    """
    target = folder / PACKAGES
    target.mkdir()
    if not Lock.read(folder / LOCK).packages:
        return None
    command = ["--isolated", "install", "--no-index", "--find-links", str(folder / WHEELS), "--only-binary", ":all:"]
    options = ["--require-hashes", "--no-deps", "--no-compile", "--no-cache-dir", "--no-warn-script-location"]
    finished = _pip(
        [*command, *options, "--target", str(target), "--requirement", str(folder / LOCK)],
        folder,
        children.environment(HOME=str(folder)),
        limits,
    )
    if finished.code:
        raise _failure(finished.output)
    remove_bytecode(target)
    for name in _OURS:
        if (target / name).exists() or (target / f"{name}.py").exists():
            raise InvalidInput(
                f"dependencies: one of the packages brings its own {name!r}, which would replace the computer's.",
                "Remove it from the dependencies.",
                key="package_replaces_ours",
            )
    return read_tree(target, complete=True).hash


def rebuild(folder: Path, work: Path, limits: Limits) -> str | None:
    """Unpack the kept wheels of `folder` anew, for the interpreter that runs now; returns the hash of the packages.

    `work` is a new folder on the same file system. Needs no network. Error: DependenciesFailed if a wheel was compiled
    for another interpreter; the packages stay as they were then. Call `mark_rebuilt` when the hash is stored.
    """
    work.mkdir()
    (work / WHEELS).symlink_to(folder / WHEELS)
    (work / LOCK).write_text(Lock.read(folder / LOCK).render())
    try:
        digest = install(work, limits)
    except DependenciesFailed as error:
        raise DependenciesFailed(
            f"The packages of the module were made for another Python: {error.message}",
            "Install the module again from its source, which fetches the packages for this one.",
            key="other_python",
        ) from error
    remove_tree(folder / PACKAGES)
    (work / PACKAGES).rename(folder / PACKAGES)
    return digest


def fits(folder: Path) -> bool:
    """True if the packages in `folder` were unpacked for the running interpreter; errors: OSError, InvalidInput."""
    return Lock.read(folder / LOCK).interpreter == interpreter_tag()


def mark_rebuilt(folder: Path) -> None:
    """Record that the packages in `folder` fit the running interpreter."""
    lock = Lock.read(folder / LOCK)
    atomic_write(folder / LOCK, Lock(lock.requires, interpreter_tag(), lock.packages).render())


def unpack_again(copies: Path) -> None:
    """See that the packages of all modules are unpacked anew from their kept wheels, as by another interpreter."""
    top = copies.parent.resolve() / copies.name
    for path in top.glob(f"*/*/{LOCK}"):
        if path.resolve() != path:
            continue  # a link that leads out, to the modules of this computer
        with contextlib.suppress(InvalidInput):  # a lock that nobody can read fits no interpreter
            lock = Lock.read(path)
            atomic_write(path, Lock(lock.requires, "none, restored from a backup", lock.packages).render())


def reuse(lock: Lock, old: Path, folder: Path) -> None:
    """Take lock and wheels over from another version of the same module, which asked for the same packages."""
    (folder / WHEELS).mkdir()
    for path in sorted((old / WHEELS).iterdir()):
        os.link(path, folder / WHEELS / path.name)
    atomic_write(folder / LOCK, lock.render())


def can_reuse(requires: tuple[str, ...], old: Path) -> Lock | None:
    """The lock of another version if it answers the same requirements on this interpreter with wheels still there."""
    try:
        lock = Lock.read(old / LOCK)
        if (lock.requires, lock.interpreter) != (requires, interpreter_tag()):
            return None
        there = locked_wheels(requires, old / WHEELS)
    except (OSError, ParachuteError, UnicodeDecodeError):
        return None
    return lock if there.packages == lock.packages else None


def _pip(
    arguments: list[str],
    folder: Path,
    variables: dict[str, str],
    limits: Limits,
    said: Callable[[str], None] = lambda line: None,
) -> children.Finished:
    if find_spec("pip") is None:
        raise Unavailable(
            "pip is not installed with this program.", f"Install it: {sys.executable} -m ensurepip", key="pip_missing"
        )
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    common = ["--disable-pip-version-check", "--no-input", "--no-color"]
    try:
        return children.run(
            [sys.executable, "-I", "-m", "pip", *common, *arguments],
            folder=folder,
            # What it unpacks meanwhile counts too, and goes with the folder if we are killed.
            variables={**variables, "TMPDIR": str(temporary)},
            seconds=limits.packages_seconds,
            largest=limits.packages_bytes,
            watched=folder,
            said=said,
        )
    finally:
        remove_tree(temporary)


def _failure(output: str) -> ParachuteError:
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    said = " ".join(errors)[-600:].strip() or output[-300:].strip()
    if _UNREACHABLE.search(output):
        return Unavailable(
            "The package index cannot be reached, so the dependencies cannot be fetched.",
            "Nothing was changed. Check the network, then try again.",
            key="unreachable",
        )
    if "No matching distribution found" in output or "Could not find a version" in output:
        return DependenciesFailed(
            f"A dependency cannot be found as a wheel for this computer: {said}",
            "Only wheels are installed: building a package from its source would run its code before you approved it.",
        )
    return DependenciesFailed(f"The dependencies cannot be installed: {said}")
