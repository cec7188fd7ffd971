"""Building the image: a root from Debian's packages or a tarball, imported, tried once, and only then used."""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from parachute.base import clock
from parachute.base.errors import Conflict, InvalidInput, ParachuteError, Unavailable
from parachute.sandbox.image import packages, programs, recipe
from parachute.sandbox.image.models import Image

Say = Callable[[str], None]
Try = Callable[[str], Awaitable[None]]
"""Runs a container from the image of this id; error: ParachuteError if it is not what it has to be."""

_WORK = Path("/var/tmp")  # noqa: S108 - the names in it are made once, and owned by us or refused
_ROOT_SECONDS = 1800.0
_IMPORT_SECONDS = 900.0
_TOOLS_HINT = (
    "`sudo apt-get install mmdebstrap uidmap` brings what builds the image on Debian and Ubuntu. Elsewhere make the root on "
    "such a machine with `parachute sandbox build --to-tar FILE`, and use it here with `--from-tar FILE`."
)


async def build(
    folder: Path, say: Say, attempt: Try, tarball: Path | None = None, *, wanted: Sequence[str] = recipe.PACKAGES
) -> Image:
    """Build the image of an installation, whose state directory is `folder`; the one before is used until this one works.

    `wanted` are its packages. With `tarball` the root comes from that file. Errors: Conflict if a build runs, Unavailable,
    InvalidInput.
    """
    _check_user()
    with _on_the_disk(), _alone(folder):
        before = _image_before(folder)
        async with _workplace(folder) as place:
            if tarball is None:
                tarball = place / "root.tar"
                await _make_root(tarball, place, say, wanted)
            mark, database = await asyncio.to_thread(recipe.read_root, tarball)
            say("Importing the root into Podman.")
            known = await _images()
            identifier = await _import(tarball, mark)
            try:
                replaced = {before.id, *before.earlier} if before else set()
                earlier = sorted(replaced & known - {identifier})
                image = Image(
                    id=identifier,
                    tag=recipe.tag(mark),
                    recipe=mark,
                    built_at=clock.now(),
                    bytes=await _size(identifier),
                    packages=packages.installed(database),
                    shares=packages.shares(database, wanted),
                    earlier=earlier,
                )
                say("Starting a first container, which takes longer than later ones.")
                await attempt(identifier)
                await programs.run(["podman", "tag", identifier, image.tag], _environment(), seconds=60)
                image.save(folder)
            except BaseException:
                if identifier not in known:  # the same tarball gives the same image, which may be the one that is used
                    await _remove(identifier)
                raise
        for each in image.earlier:
            await _remove(each)
        if before is not None and before.id != image.id:
            for line in packages.changes(before.packages, image.packages):
                say(line)
    say(f"The image {image.tag} is ready.")
    return image


async def write_root(tarball: Path, say: Say, *, wanted: Sequence[str] = recipe.PACKAGES) -> None:
    """Write the image's root into a new tarball, for another machine; errors: Conflict if it exists, Unavailable."""
    if tarball.exists():
        raise Conflict(f"{tarball} exists already.", "Name another file, or remove this one.", key="output_exists")
    with _on_the_disk():
        async with _workplace(tarball.absolute()) as place:
            await _make_root(place / "root.tar", place, say, wanted)
            parts = tarball.with_name(f".{tarball.name}.part")
            try:
                await asyncio.to_thread(shutil.copyfile, place / "root.tar", parts)
                parts.replace(tarball)
            finally:
                parts.unlink(missing_ok=True)


async def _make_root(tarball: Path, place: Path, say: Say, wanted: Sequence[str]) -> None:
    say(f"Making a root of Debian {recipe.SUITE} with {len(wanted)} packages; this takes a minute or more.")
    await programs.run(
        recipe.root_command(tarball, wanted),
        recipe.root_environment(place),
        lambda line: say(line.partition(": ")[2]) if line.startswith(("I: ", "W: ")) else None,
        seconds=_ROOT_SECONDS,
        hint=_TOOLS_HINT,
    )


async def _import(tarball: Path, mark: str) -> str:
    output = await programs.run(
        recipe.import_command(tarball.absolute(), mark), _environment(), seconds=_IMPORT_SECONDS
    )
    return output.split()[-1].removeprefix("sha256:")


async def _images() -> set[str]:
    command = ["podman", "image", "list", "--all", "--quiet", "--no-trunc"]
    output = await programs.run(command, _environment(), seconds=60)
    return {line.removeprefix("sha256:") for line in output.split()}


async def _size(identifier: str) -> int:
    command = ["podman", "image", "inspect", "--format", "{{.Size}}", identifier]
    return int((await programs.run(command, _environment(), seconds=60)).split()[-1])


async def _remove(identifier: str) -> None:
    # In use by a container that still runs: it stays until the next build.
    with contextlib.suppress(ParachuteError):
        await programs.run(["podman", "image", "rm", identifier], _environment(), seconds=120)


def _image_before(folder: Path) -> Image | None:
    try:
        return Image.load(folder)
    except InvalidInput:
        return None  # a new one is about to take the place of what cannot be read


def _check_user() -> None:
    if os.geteuid() == 0:
        raise Unavailable(
            "Containers of agents are never started by root.",
            "Run this as the user whose computer it is.",
            key="started_by_root",
        )
    if not shutil.which("podman"):
        raise Unavailable(
            "Podman is not installed.",
            "`sudo apt-get install podman` installs it on Debian and Ubuntu.",
            key="program_missing",
        )


def _environment() -> dict[str, str]:
    names = (
        "HOME",
        "PATH",
        "XDG_RUNTIME_DIR",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "DBUS_SESSION_BUS_ADDRESS",
        "TMPDIR",
    )
    return {"HOME": str(Path.home()), **{name: os.environ[name] for name in names if name in os.environ}}


@contextmanager
def _on_the_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise Unavailable(
            f"The image cannot be kept: {error.strerror or error}{where}.", key="image_not_kept"
        ) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder / ".image.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict("The image is being built already.", "Wait for it, or end it.", key="under_way") from error
        yield
    finally:
        os.close(descriptor)


def workplace_of(owner: Path) -> Path:
    """The folder in which things are made for a state directory, or for a tarball: the next build finds what was cut off."""
    return _WORK / f"parachute-image-{os.getuid()}-{hashlib.sha256(os.fsencode(owner)).hexdigest()[:8]}"


@asynccontextmanager
async def _workplace(owner: Path) -> AsyncIterator[Path]:
    """A folder that is gone afterwards."""
    place = workplace_of(owner)
    await _clear(place)
    # 0711: the root that mmdebstrap makes belongs to other users of this machine, who have to get through.
    place.mkdir(mode=0o711)
    try:
        yield place
    finally:
        await _clear(place)


async def _clear(place: Path) -> None:
    """Remove a folder in which files belong to users that exist in a user namespace only; error: Unavailable."""
    try:
        found = place.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Unavailable(
            f"{place} belongs to another user.", "Remove it, then build again.", key="folder_of_other_user"
        )
    await asyncio.to_thread(shutil.rmtree, place, True)
    if place.exists() and shutil.which("podman"):
        await programs.run(["podman", "unshare", "rm", "-rf", str(place)], _environment(), seconds=120)
