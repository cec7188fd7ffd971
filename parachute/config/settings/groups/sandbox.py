"""The sandboxes of agents: their engine, image and limits."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from parachute.config.settings.groups.values import LARGEST_MEGABYTES, LONGEST_MINUTES, Group, Host


def _debian_package(value: str) -> str:
    # apt reads more than names: `name-` takes a package away, `name=1` and `name/suite` choose a version.
    if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]{0,98}[a-z0-9+]", value):
        raise ValueError(f"expected the name of a package of Debian, such as ffmpeg or libpq-dev, not {value[:80]!r}")
    return value


class SandboxSettings(Group):
    """The sandboxes of agents."""

    required: bool = Field(
        title="Only with a sandbox",
        default=True,
        description="Refuse to run a sandboxed session without a sandbox; false lets your own ones run directly, with a warning, "
        "on a computer where none ever worked.",
    )
    idle_minutes: float = Field(
        title="A sandbox ends after",
        default=30,
        gt=0,
        le=LONGEST_MINUTES,
        allow_inf_nan=False,
        description="Time without a message after which a sandbox ends.",
    )
    scratch_megabytes: int = Field(
        title="Scratch folder of a conversation",
        default=512,
        ge=16,
        le=LARGEST_MEGABYTES,
        description="Size of a session's own scratch folder.",
    )
    transcript_megabytes: int = Field(
        title="Largest transcript",
        default=512,
        ge=16,
        le=LARGEST_MEGABYTES,
        description="Size of the folder with a session's transcript, over which its sandbox ends.",
    )
    cache_megabytes: int = Field(
        title="Package caches of a project",
        default=2048,
        ge=16,
        le=LARGEST_MEGABYTES,
        description="Size of the caches of pip, npm and others for one project, over which they are emptied when its sandbox ends.",
    )
    engine: Literal["auto", "podman", "bubblewrap"] = Field(
        title="Kind of sandbox",
        default="auto",
        description="Sandbox of agents; auto uses Podman if its image is built and works.",
    )
    hosts: list[Host] = Field(
        title="Hosts for agents of modules",
        default=[],
        description="Hosts that agents of modules reach whose manifest says network: bridge, such as *.example.org.",
    )
    packages: list[Annotated[str, AfterValidator(_debian_package)]] = Field(
        title="More Debian packages",
        default=[],
        description="Packages of Debian in the image of containers beside its own, such as ffmpeg; `parachute sandbox build` takes them.",
    )
    without: list[Literal["gcc", "libc-dev", "make", "node", "npm", "pip", "rg", "sqlite3", "venv"]] = Field(
        title="Programs to leave out",
        default=[],
        description="Programs that the image does without, such as npm and gcc, where the disk is small.",
    )
    memory_megabytes: int = Field(
        title="Memory of a sandbox",
        default=1536,
        ge=256,
        le=LARGEST_MEGABYTES,
        description="Memory of one sandbox (Podman).",
    )
    total_memory_megabytes: int | None = Field(
        title="Memory of all sandboxes",
        default=None,
        ge=64,
        le=LARGEST_MEGABYTES,
        description="Memory of all sandboxes together, over which the one that is idle for longest ends; "
        "empty for half of this machine's.",
    )
    cpus: float = Field(
        title="Processors of a sandbox",
        default=2.0,
        ge=0.1,
        le=1024,
        allow_inf_nan=False,
        description="Processors that one sandbox may use (Podman).",
    )
    processes: int = Field(
        title="Processes of a sandbox",
        default=200,
        ge=64,
        le=32768,
        description="Processes and threads of one sandbox at a time (Podman).",
    )
    limits: Literal["enforced", "unavailable"] = Field(
        title="Limits of containers",
        default="enforced",
        description="Start no container whose limits cannot be enforced; unavailable starts it without them.",
    )
