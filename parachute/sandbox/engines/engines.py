"""Choosing the engine that shuts agents in: what the settings ask for, as far as it works on this machine."""

import asyncio
import contextlib
import shutil
import sys

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import Unavailable
from parachute.base.files import locked
from parachute.config.settings.groups.sandbox import SandboxSettings
from parachute.config.settings.home import Home
from parachute.sandbox.engines import bubblewrap, containers, views
from parachute.sandbox.engines.models import Specification
from parachute.sandbox.image.models import Image, changed

_BUBBLEWRAP_HINT = (
    "`sudo apt-get install bubblewrap` installs it on Debian and Ubuntu."
    if sys.platform == "linux"
    else "There is no sandbox for this system yet."
)
_PODMAN_HINT = (
    "`sudo apt-get install podman uidmap` installs it on Debian and Ubuntu, `parachute sandbox build` makes its image."
)


class Choice(Struct, frozen=True):
    """The engine, or why there is none; `passed_over` says why `auto` did not take Podman."""

    engine: str | None
    reason: str | None = None
    hint: str = ""
    image: Image | None = None
    passed_over: str | None = None


class Engines:
    """Finds the engine by trying it, once; again when another image was built, or while none works."""

    def __init__(self, home: Home, settings: SandboxSettings) -> None:
        self._home = home
        self._settings = settings
        self._choice = Choice(None)
        self._image: int | None = None
        self._choosing = asyncio.Lock()
        self._swept = False
        self._views: tuple[Choice, str | None] | None = None

    @property
    def choice(self) -> Choice:
        """The last choice."""
        return self._choice

    @property
    def worked_before(self) -> bool:
        """True if an engine has ever worked on this computer: then it is broken, or somebody broke it."""
        return self._home.sandbox_worked.exists()

    @property
    def had_views(self) -> bool:
        """True if agents have ever worked on copy-on-write views on this computer."""
        return self._home.views_worked.exists()

    async def choose(self) -> Choice:
        """The engine for a sandbox that is started now; error: Unavailable when it cannot be found out."""
        image = changed(self._home.root)
        if self._choice.engine and self._image == image:
            return self._choice
        async with self._choosing:
            if not self._choice.engine or self._image != image:
                self._choice = await asyncio.to_thread(self._find)
                self._image = image
                if self._choice.engine:
                    with contextlib.suppress(OSError):  # a disk that takes nothing: the next start does it
                        self._home.sandbox_worked.touch(mode=0o600)
        return self._choice

    async def no_views(self) -> str | None:
        """The reason why agents cannot work on copy-on-write views here, or None; found out once for an engine, and anew while they worked before."""
        choice = await self.choose()
        async with self._choosing:
            if self._views is None or self._views[0] != choice or (self._views[1] and self.had_views):
                found = await asyncio.to_thread(try_views, self._home, self._settings, choice.image)
                self._views = (choice, found)
            return self._views[1]

    def note_views(self) -> None:
        """Remember that an agent works on a view: from now on none goes without."""
        if not self.had_views:
            with contextlib.suppress(OSError):
                self._home.views_worked.touch(mode=0o600)

    def applied(self, specification: Specification) -> Specification:
        """The specification with what the chosen engine needs to know."""
        if self._choice.image is None:
            return specification
        return in_container(specification, self._home, self._settings, self._choice.image.id)

    def _find(self) -> Choice:
        asked = self._settings.engine
        passed_over = None
        if asked == "podman" or (asked == "auto" and shutil.which("podman")):
            image = containers.image_of(self._home)
            try:
                passed_over = containers.unavailable(trial(self._home, self._settings, image.id) if image else None)
            except Unavailable as error:
                if asked == "podman":
                    raise
                passed_over = error.message
            if passed_over is None:
                if not self._swept:  # none of them is ours yet
                    containers.remove_all(self._home.installation)
                    self._swept = True
                return Choice("podman", image=image)
            if asked == "podman":
                return Choice(None, passed_over, _PODMAN_HINT)
        reason = bubblewrap.unavailable()
        if reason:
            return Choice(None, reason, _BUBBLEWRAP_HINT, passed_over=passed_over)
        return Choice("bubblewrap", passed_over=passed_over)


def try_views(home: Home, settings: SandboxSettings, image: Image | None) -> str | None:
    """The reason why agents cannot work on copy-on-write views, in containers of an image or in bubblewrap, or None. Waits."""
    try:
        # Others would try in the same folder, and take this one's failure for that of the machine.
        with locked(home.run / "views"):
            if image is None:
                return views.unavailable(home.views)
            return containers.no_views(trial(home, settings, image.id), home.views)
    except OSError as error:
        return f"{home.views} cannot be used: {error.strerror}."


def in_container(specification: Specification, home: Home, settings: SandboxSettings, image: str) -> Specification:
    """The specification as one for a container of this image, with the settings' limits."""
    return replace(
        specification,
        engine="podman",
        image=image,
        installation=home.installation,
        processes=settings.processes,
        memory_megabytes=settings.memory_megabytes,
        cpus=settings.cpus,
        limits_enforced=settings.limits == "enforced",
    )


def trial(home: Home, settings: SandboxSettings, image: str) -> Specification:
    """A container that serves no session, to try an image."""
    empty = Specification(
        session="",
        directory="/",
        mounts=(),
        sockets="",
        transcripts="",
        transcripts_target="",
        program="",
        scratch_megabytes=settings.scratch_megabytes,
        idle_seconds=1.0,
    )
    return in_container(empty, home, settings, image)
