"""The permissions of one conversation, as they are stored and as they narrow what it has."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import field

from parachute.base.answers import Answer
from parachute.base.errors import NotAllowed
from parachute.chat.agent_processes.models import OwnTool, ServerTool, shown_name
from parachute.config.vault.service import Vault
from parachute.core.agents import WORKING_DIRECTORY
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.engines.limits import Limits
from parachute.security.permissions.actions import MCP_PREFIX, MODULE_SERVER, server_tool_name

WRITING = frozenset({"Write", "Edit", "NotebookEdit", "Bash"})
"""Tools that change files; without any of them a project is mounted for reading."""

_WITH = {"Read": ("Glob", "Grep"), "Edit": ("NotebookEdit",), "Bash": ("TaskStop",)}
"""Tools that belong to another: who may read may look for what to read."""

_BASH = "Its commands reach everything that yours do"


class SessionPermissions(Answer, frozen=True, forbid_unknown_fields=True):
    """Restricted permissions of a conversation; None narrows nothing, and an empty list leaves nothing.

    `folders` are of the vault, below which `${CWD}` stands for the folder of the conversation; one elsewhere is named by its whole
    path. `mcps` names tools, modules, `mcp__SERVER`, or `parachute` for the tools of all modules. `capabilities` are tools of the
    agent's program, `network` is off or a list of hosts, `sandbox` has limits that are lower than those of others.
    """

    # Without defaults, so that what is stored without one of them leaves nothing.
    folders: tuple[str, ...] | None = field(name="allowed_folders")
    mcps: tuple[str, ...] | None = field(name="allowed_mcps")
    capabilities: tuple[str, ...] | None
    network: Network | None
    sandbox: Limits | None = field(name="sandbox_override")

    @property
    def narrows(self) -> bool:
        """True if anything is taken from the conversation."""
        return self != EVERYTHING

    @classmethod
    def read(cls, text: str) -> "SessionPermissions":
        """Read what was stored; other text leaves no permissions."""
        try:
            found = msgspec.json.decode(text, type=SessionPermissions)
        except (ValueError, RecursionError):
            return NOTHING
        return NOTHING if found.network is not None and found.network.mode == "ask" else found

    @property
    def tools(self) -> frozenset[str] | None:
        """The tools of the agent's program that are left, with those that belong to them; None for all."""
        if self.capabilities is None:
            return None
        return frozenset(tool for name in self.capabilities for tool in (name, *_WITH.get(name, ())))

    def has_tool(self, name: str) -> bool:
        """Return True if a tool of the agent's program is left."""
        return self.tools is None or name in self.tools

    @property
    def is_read_only(self) -> bool:
        """True if no tool is left that changes files."""
        return self.tools is not None and not WRITING & self.tools

    def program_tools(self, names: Sequence[str], *, is_direct: bool) -> tuple[str, ...]:
        """Choose the program's tools that are left; only a sandbox keeps one from hosts."""
        withheld = ("WebFetch",) if is_direct and self.network is not None else ()
        return tuple(name for name in names if self.has_tool(name) and name not in withheld)

    def offers(self, tool: OfferedTool) -> bool:
        """Return True if a tool of a module, of a server or of the computer itself is left."""
        return self.mcps is None or bool(_names(tool) & set(self.mcps))

    def offered(self, tools: Sequence[OfferedTool]) -> tuple[OfferedTool, ...]:
        """Choose the tools of modules that are left."""
        return tuple(filter(self.offers, tools))

    def vault_folders(self, vault: Vault, directory: Path | None) -> tuple[str, ...] | None:
        """The folders of the vault that are left, by their paths in it, without those below others; None for all."""
        if self.folders is None:
            return None
        root = vault.root.resolve()
        found = {folder for folder in self._roots(vault, directory) if folder.is_relative_to(root) and folder != root}
        return tuple(sorted(str(each.relative_to(root)) for each in found if not found & set(each.parents)))

    def may_open(self, path: Path, vault: Vault, directory: Path | None) -> bool:
        """Return True if a file or folder of this machine lies in a folder that is left; `directory` is the conversation's."""
        return self.folders is None or any(path.is_relative_to(root) for root in self._roots(vault, directory))

    def directory(self, directory: Path | None, vault: Vault) -> Path | None:
        """The folder of the conversation, if it is left."""
        if directory is None or self.folders is None or directory == vault.root:
            return directory
        return directory if self.may_open(directory.resolve(), vault, directory) else None

    def roots(self, vault: Vault, directory: Path | None) -> tuple[Path, ...] | None:
        """The folders of this machine that are left, None for all."""
        return None if self.folders is None else tuple(self._roots(vault, directory))

    def limits(self, before: Limits, usual: Limits) -> Limits:
        """Limits of a sandbox, the lower of two; `usual` are those where nobody chose any."""

        def lower(name: str) -> Any:
            own, base = getattr(self.sandbox, name, None), getattr(before, name)
            bound = base or getattr(usual, name)
            return base if own is None else own if bound is None else min(own, bound)

        return Limits(*map(lower, Limits.__struct_fields__))

    def check_direct(self) -> None:
        """Error: NotAllowed for what nothing would hold in a conversation that runs directly."""
        has_commands = self.has_tool("Bash")
        wrong = ""
        if self.sandbox is not None:
            wrong = "sandbox_override: it limits a sandbox, and there would be none"
        elif self.folders is not None and has_commands:
            wrong = f"allowed_folders: {_BASH}"
        elif self.network is not None and has_commands:
            wrong = f"network: {_BASH}"
        elif self.network is not None and self.network.mode != "off":
            wrong = "network: without a sandbox its hosts cannot be told apart"
        if wrong:
            raise NotAllowed(
                f"{wrong}, so that this conversation cannot run directly on this computer.",
                "Leave it in its sandbox, or change its permissions: `parachute sessions permit ID`.",
                key="not_enforceable",
            )

    def sentences(self, shown: Sequence[str], mcp_tools: Sequence[str]) -> tuple[str, ...]:
        """Return the sentences of the prompt about them, beside its list of tools; `shown` are the folders that are left, as the agent sees them."""
        found = []
        if self.folders is not None:
            some = f"Of the owner's folders you can open only: {', '.join(shown)}. There are no others for you."
            found.append(some if shown else "You can open none of the owner's folders: use the tools that you have.")
        if self.mcps is not None and self.capabilities is None:
            found.append(f"Of the tools of modules and servers you have only: {', '.join(mcp_tools) or 'none'}.")
        return tuple(found)

    def _roots(self, vault: Vault, directory: Path | None) -> list[Path]:
        root, found = vault.root.resolve(), list[Path]()
        for text in self.folders or ():
            if text == WORKING_DIRECTORY:
                found += [directory.resolve()] if directory is not None and directory != vault.root else []
            elif Path(text).is_absolute():
                # Only where the conversation works: nothing else outside of the vault is anybody's.
                found += [Path(text)] if directory is not None and Path(text) == directory.resolve() else []
            else:
                found.append(root / text)
        return found


EVERYTHING = SessionPermissions(None, None, None, None, None)
NOTHING = SessionPermissions((), (), (), NO_NETWORK, None)
"""Permissions of a conversation whose own are not known any more."""


def names_of(name: str, tools: Sequence[OfferedTool]) -> Collection[str]:
    """Return the entries of a list that cover a name of `mcps`: the name, its module, or all modules."""
    known = {name}
    for tool in tools:
        if name in (tool.name, server_tool_name(MODULE_SERVER, tool.name)):
            known |= _names(tool)
        elif name == tool.module:
            known.add(MODULE_SERVER)
    if name.startswith(MCP_PREFIX):
        known.add(name.removeprefix(MCP_PREFIX).partition("__")[0])
    return known


def _names(tool: OfferedTool) -> set[str]:
    if isinstance(tool, ServerTool):
        # Never by a plain name: a file of the vault names servers, perhaps as a tool of a module is called.
        return {shown_name(tool), f"{MCP_PREFIX}{tool.server}"}
    own = {tool.name, shown_name(tool), MODULE_SERVER}
    return own if isinstance(tool, OwnTool) else own | {tool.module}
