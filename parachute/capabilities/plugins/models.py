"""A plugin: what is installed, what is in it, and what of that the owner has approved."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from parachute.base.errors import NotAllowed
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.mcp_servers.models import Server
from parachute.capabilities.skills.models import Skill

Source = Literal["parachute", "user"]
"""Origin of a plugin: the computer, from an address, or Claude Code, into the folder of the user."""

PART_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"


class Command(Struct, frozen=True):
    """A text that `/PLUGIN:NAME` puts into a conversation; `problem` says why it cannot be used."""

    name: str
    description: str
    path: str
    content: str = ""
    problem: str | None = None


class Hook(Struct, frozen=True):
    """A command that the agent's program runs at an event; `fields` are those of its definition, as they are written."""

    event: str
    matcher: str
    fields: Mapping[str, Any]

    @property
    def shown(self) -> str:
        """One line for a person."""
        when = f"{self.event} ({self.matcher})" if self.matcher else self.event
        command = " ".join([str(self.fields["command"]), *map(str, self.fields.get("args", ()))])
        return f"{when}: {command}"


class PluginFile(Struct, frozen=True):
    """A file of a plugin; `path` lies below the plugin's folder."""

    path: str
    size: int
    sha256: str
    is_executable: bool


class Contents(Struct, frozen=True):
    """Everything in a plugin, and the hashes of its two parts.

    The texts are its skills, agents and commands; `texts` are their files. The programs are its hooks, servers and whatever a
    computer could run; `programs` are their files, none of which is there without one of those. `not_run` names what is in
    it, and has no effect here.
    """

    name: str
    version: str
    description: str
    author: str | None
    skills: tuple[Skill, ...] = ()
    agents: tuple[Agent, ...] = ()
    commands: tuple[Command, ...] = ()
    hooks: tuple[Hook, ...] = ()
    servers: tuple[Server, ...] = ()
    texts: tuple[PluginFile, ...] = ()
    programs: tuple[PluginFile, ...] = ()
    not_run: tuple[str, ...] = ()
    texts_hash: str = ""
    programs_hash: str = ""

    @property
    def tokens(self) -> int:
        """About how many tokens the names and descriptions cost in each conversation; four characters are one."""
        kinds: tuple[tuple[Skill | Agent | Command, ...], ...] = (self.skills, self.agents, self.commands)
        named = [each for kind in kinds for each in kind if each.problem is None]
        return sum(len(each.name) + len(each.description) for each in named) // 4


class Copy(Struct, frozen=True, forbid_unknown_fields=True):
    """A copy of a plugin for agents: what it `holds`, in a word of its own, and the hash of it."""

    holds: str
    hash: str


class Installed(Struct, frozen=True, forbid_unknown_fields=True):
    """The entry of a plugin in the list of those that are installed.

    `hash` is that of every file, `name` what the agent's program calls it. `texts` and `programs` are the hashes of the parts that
    the owner has approved, `refused` that of programs that the owner does not want. `copies` are those for agents.
    """

    slug: str
    name: str
    url: str
    commit: str
    hash: str
    installed_at: str
    source: Source = "parachute"
    texts: str = ""
    programs: str = ""
    refused: str = ""
    copies: tuple[Copy, ...] = ()

    @property
    def digest(self) -> str:
        """The hash as the name of a folder."""
        return self.hash.removeprefix("sha256:")


class Plugin(Struct, frozen=True):
    """An installed plugin with its contents, or with the `problem` for which nothing of it is used."""

    installed: Installed
    contents: Contents | None
    problem: str | None = None

    @property
    def slug(self) -> str:
        return self.installed.slug

    def check_ours(self) -> None:
        """Error: NotAllowed for one that is not ours to change."""
        if self.installed.source == "user":
            raise NotAllowed(
                f"The plugin {self.slug} is Claude Code's, in ~/.claude/plugins: what is changed there counts here.",
                key="not_ours",
            )

    @property
    def has_texts(self) -> bool:
        """True if its skills, agents and commands may be used."""
        return self.contents is not None and self.installed.texts == self.contents.texts_hash

    @property
    def has_programs(self) -> bool:
        """True if its hooks and servers may run."""
        found = self.contents
        return found is not None and bool(found.programs_hash) and self.installed.programs == found.programs_hash

    @property
    def waiting(self) -> tuple[Literal["texts", "programs"], ...]:
        """The parts that wait for the owner."""
        found = self.contents
        if found is None:
            return ()
        texts: tuple[Literal["texts", "programs"], ...] = () if self.has_texts else ("texts",)
        if not found.programs_hash or self.has_programs or self.installed.refused == found.programs_hash:
            return texts
        return (*texts, "programs")


class Places(Struct, frozen=True):
    """Folders of plugins, all of them in the state directory."""

    root: Path

    @property
    def registry(self) -> Path:
        return self.root / "plugins.json"

    @property
    def folder(self) -> Path:
        return self.root / "plugins"

    def version(self, installed: Installed) -> Path:
        """The folder of one exact content of a plugin."""
        return self.folder / installed.slug / installed.digest

    def files(self, installed: Installed) -> Path:
        """The files of the plugin, as they came."""
        return self.version(installed) / "files"

    def copy(self, installed: Installed, digest: str) -> Path:
        """A copy for agents, which holds approved parts only."""
        return self.version(installed) / "copies" / digest.removeprefix("sha256:")
