"""Settings of the network of conversations: hosts, git and remote MCP servers."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from parachute.config.settings.groups.values import ExpandedPath, Group, Off, host

PRESET = "preset:"
"""In a list of hosts, what stands before the name of a preset."""

_PRESET_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def _with_port(value: str) -> str:
    name, port = re.fullmatch(r"(.*?)(:[1-9][0-9]{0,4})?", value, re.DOTALL).groups("")  # type: ignore[union-attr]
    return host(name) + port


def _reached(value: str) -> str:
    name = value.removeprefix(PRESET)
    if name == value:
        return _with_port(value)
    if not _PRESET_NAME.fullmatch(name):
        raise ValueError(f"expected a preset such as {PRESET}python, not {value[:60]!r}")
    return value


def _preset_names(value: dict[str, list[str]]) -> dict[str, list[str]]:
    for name in value:
        if not _PRESET_NAME.fullmatch(name):
            raise ValueError(f"expected names of a-z, 0-9, - and _, not {name[:60]!r}")
    return value


class NetworkSettings(Group):
    """The network of conversations without a workspace."""

    mode: Annotated[Literal["off", "ask", "list"], Off] = Field(
        title="What conversations reach",
        default="ask",
        description="What sandboxed chats without a workspace reach: nothing, the hosts and what you allow when asked, or the hosts.",
    )
    presets: Annotated[dict[str, list[Annotated[str, AfterValidator(_with_port)]]], AfterValidator(_preset_names)] = (
        Field(
            title="Named lists of hosts",
            default={},
            description="Hosts under a name of your own, such as {python: [index.example.org]}; lists of hosts take preset:python.",
        )
    )
    hosts: list[Annotated[str, AfterValidator(_reached)]] = Field(
        title="Hosts that are always allowed",
        default=[],
        description="Hosts that they reach without asking, such as *.example.org or preset:python.",
    )

    @field_validator("hosts")
    @classmethod
    def _known_presets(cls, value: list[str], info: ValidationInfo) -> list[str]:
        presets = info.data.get("presets", {})
        for entry in value:
            if entry.startswith(PRESET) and entry.removeprefix(PRESET) not in presets:
                raise ValueError(f"`network.presets` defines no {entry!r}, and the hosts are {value!r}")
        return value


class GitSettings(Group):
    """git of sandboxed conversations."""

    ca_file: ExpandedPath | None = Field(
        title="Certificate authorities for git",
        default=None,
        description="A PEM file with certificate authorities that git hosts are trusted by, besides the system's.",
    )


class McpSettings(Group):
    """MCP servers elsewhere, which are called by their address."""

    ca_file: ExpandedPath | None = Field(
        title="Certificate authorities for MCP servers",
        default=None,
        description="A PEM file with certificate authorities that MCP servers elsewhere are trusted by, besides the system's.",
    )
