"""The one object that decides what an agent may do: for tools, for mounts and prompts, and for the file routes."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from parachute.errors import InvalidInput, ParachuteError
from parachute.permissions.arguments import files_refusal
from parachute.permissions.command_line import parse
from parachute.permissions.dangerous import danger
from parachute.permissions.grants import (
    covers_line,
    covers_path,
    refused_by_list,
    suggest_for_command,
    suggest_for_path,
)
from parachute.permissions.models import Access, Action, Decision, Effect, Grant
from parachute.permissions.paths import Places, inside, joined
from parachute.permissions.requests import PathRequest, path_request, secret_pattern, text_field
from parachute.permissions.script import CommandLine
from parachute.permissions.tools import ACTION_BY_NAME, MCP_PREFIX, tool_listed

logger = logging.getLogger(__name__)

LEVELS = ("sandboxed", "direct")


def _deny(reason: str, rule: str) -> Decision:
    return Decision(Effect.DENY, reason, rule)


@dataclass(frozen=True, slots=True)
class Policy:
    """What one session may do.

    `home` is Parachute's own folder (`~/.parachute`). In a sandboxed session `working_directory` and all paths of tools are
    paths inside the sandbox, and `mapped_roots` says which folders here they are; `vault` and `home` are always folders here.
    `allowed_commands` and `allowed_tools` are an agent's lists: None allows all, an empty one none. `mcp_tools` are the full
    names (`mcp__server__tool`) of the only tools of servers that there are for it. `trust_mode` and `grants` count for direct
    sessions only.
    """

    level: str
    vault: Path
    home: Path
    working_directory: Path
    trust_mode: bool = False
    grants: tuple[Grant, ...] = ()
    allowed_commands: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    mcp_tools: tuple[str, ...] = ()
    mapped_roots: Mapping[str, Path] = field(default_factory=dict)
    user_home: Path = field(default_factory=Path.home)
    _places: Places = field(init=False, repr=False, compare=False)
    _host_places: Places = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise InvalidInput(f"The trust level {self.level!r} must be 'sandboxed' or 'direct'.")
        for name in ("vault", "home", "working_directory", "user_home"):
            if not getattr(self, name).is_absolute():
                raise InvalidInput(f"The folder '{name}' of the permissions must be an absolute path.")
        host = Places(self.vault, self.home, self.user_home)
        mapped = Places(self.vault, self.home, self.user_home, dict(self.mapped_roots)) if self.sandboxed else host
        object.__setattr__(self, "_host_places", host)
        object.__setattr__(self, "_places", mapped)

    @property
    def sandboxed(self) -> bool:
        """Whether the session runs in a sandbox."""
        return self.level == "sandboxed"

    def decide(self, tool_name: str, tool_input: Mapping[str, object]) -> Decision:
        """Decide on one tool call; never raises, and whatever cannot be judged is denied."""
        try:
            return self._decide(tool_name, tool_input)
        except ParachuteError as error:
            return _deny(str(error), error.key)
        except Exception:
            logger.exception("A tool call could not be judged")
            return _deny("This call could not be judged, so it is refused.", "failure")

    def _decide(self, tool_name: str, tool_input: Mapping[str, object]) -> Decision:
        if not isinstance(tool_name, str) or not isinstance(tool_input, Mapping):
            raise InvalidInput("A tool call needs a name and an object with its input.")
        if tool_name.startswith(MCP_PREFIX):
            if tool_name in self.mcp_tools:
                return Decision(Effect.ALLOW, "The person approved what offers this tool.", "module-tool")
            return _deny(f"This session has no tool {tool_name[:200]!r}.", "unknown-tool")
        action = ACTION_BY_NAME.get(tool_name)
        if action is not None and action.access is not None:
            if action.resource == "path":
                request = path_request(tool_name, tool_input)
                hard = self._path_rules(request)
                return hard or self._listed(tool_name, action) or self._path_grant(action.access, request)
            line = text_field(tool_name, tool_input, "command")
            parsed = self._parse(line)
            hard = self._command_rules(parsed)
            return hard or self._listed(tool_name, action) or self._command_grant(line, parsed)
        if tool_name == "WebFetch" and urlsplit(text_field(tool_name, tool_input, "url")).scheme not in {
            "http",
            "https",
        }:
            raise InvalidInput("The field 'url' of WebFetch must begin with http:// or https://.")
        refused = self._listed(tool_name, action)
        if refused:
            return refused
        if action is not None:
            return Decision(Effect.ALLOW, "This tool is always allowed.", "always-allowed")
        if not self.sandboxed and not self.trust_mode:
            return Decision(Effect.ASK, f"The tool {tool_name!r} is not known.", "unknown-tool")
        return _deny(f"The tool {tool_name!r} is not known, and nobody can be asked.", "unknown-tool")

    def _listed(self, tool_name: str, action: Action | None) -> Decision | None:
        if self.allowed_tools is None:
            return None
        for needed in (tool_name, action.also_requires if action else None):
            if needed and not tool_listed(needed, self.allowed_tools):
                return _deny(f"This agent may not use the tool {needed}.", "agent-tools")
        return None

    def _path_rules(self, request: PathRequest) -> Decision | None:
        texts = [request.path]
        if request.path.startswith("~"):
            texts.append(joined(self.user_home, request.path.partition("/")[2]))
        for text in texts:
            reason = self._places.refusal(text, self.working_directory)
            if reason:
                return _deny(reason, "deny-list")
        secret = secret_pattern(request.patterns)
        if secret:
            return _deny(f"{secret!r} looks for files that may hold secrets.", "deny-list")
        return None

    def _path_grant(self, access: Access, request: PathRequest) -> Decision:
        free = self._free()
        if free:
            return free
        searches = request.searches and not Path(self.working_directory, request.path).is_file()
        if covers_path(self.grants, access, request.path, self.vault, self.working_directory, is_folder=searches):
            return Decision(Effect.ALLOW, "A grant of this session covers it.", "grant")
        return Decision(Effect.ASK, f"May the agent {access.value} {request.path!r}?", "needs-grant")

    def _parse(self, line: str) -> CommandLine:
        if not line.strip():
            raise InvalidInput("The field 'command' must not be empty.")
        return parse(line, self.working_directory, self.user_home)

    def _command_rules(self, parsed: CommandLine) -> Decision | None:
        if parsed.fork_bombs:
            return _deny("The command line defines a function that multiplies itself without end.", "dangerous-command")
        for command in parsed.commands:
            reason = danger(command, self._places)
            if reason:
                return _deny(reason, "dangerous-command")
        for command in parsed.commands:
            reason = files_refusal(command, self._places, parsed.hidden_globs)
            if reason:
                return _deny(reason, "deny-list")
        if self.allowed_commands is not None:
            if not self.allowed_commands:
                return _deny("This agent may not run commands.", "agent-commands")
            refused = refused_by_list(parsed, self.allowed_commands)
            if refused is not None:
                shown = refused.program or "the assignment of " + ", ".join(name for name, _ in refused.assignments)
                return _deny(
                    f"This agent may only run {', '.join(self.allowed_commands)}, not {shown!r}.", "agent-commands"
                )
        return None

    def _command_grant(self, line: str, parsed: CommandLine) -> Decision:
        free = self._free()
        if free:
            return free
        if covers_line(self.grants, line, parsed, self.vault):
            return Decision(Effect.ALLOW, "A grant of this session covers it.", "grant")
        return Decision(Effect.ASK, f"May the agent run {line.strip()[:200]!r}?", "needs-grant")

    def _free(self) -> Decision | None:
        if self.sandboxed:
            return Decision(Effect.ALLOW, "The sandbox holds only what this session may use.", "sandbox")
        if self.trust_mode:
            return Decision(Effect.ALLOW, "The person approved direct work for this session.", "trust-mode")
        return None

    def suggested_grants(self, tool_name: str, tool_input: Mapping[str, object]) -> tuple[Grant, ...]:
        """Return the grants to offer for a call that was answered with `ask`, from narrow to broad."""
        action = ACTION_BY_NAME.get(tool_name)
        if action is None or action.access is None or self.decide(tool_name, tool_input).effect is not Effect.ASK:
            return ()
        if action.resource == "command":
            line = text_field(tool_name, tool_input, "command")
            return suggest_for_command(line, self._parse(line))
        request = path_request(tool_name, tool_input)
        searches = request.searches and not Path(self.working_directory, request.path).is_file()
        return suggest_for_path(request.path, action.access, self.vault, self.working_directory, is_folder=searches)

    def may_read(self, path: str | Path) -> Decision:
        """Decide whether a file route may read the path; a relative one starts at the vault."""
        return self._file_route(path, "read")

    def may_write(self, path: str | Path) -> Decision:
        """Decide whether a file route may write the path; a relative one starts at the vault."""
        return self._file_route(path, "written")

    def _file_route(self, path: str | Path, word: str) -> Decision:
        reason = self._host_places.refusal(os.fspath(path), self.vault)
        if reason:
            return _deny(reason, "deny-list")
        if not inside(path, self.vault):
            return _deny(f"Only files in the vault can be {word} here.", "outside-vault")
        return Decision(Effect.ALLOW, "The file lies in the vault.", "vault")

    def describe(self) -> str:
        """Return what the session may do as one short paragraph for the system prompt."""
        if self.sandboxed:
            facts = ["You work in a sandbox: everything that is mounted in it you may use without asking."]
        elif self.trust_mode:
            facts = ["You work directly on the person's machine, and may read, write and run commands without asking."]
        else:
            facts = ["You work directly on the person's machine; reading, writing and commands may need their consent."]
            if self.grants:
                facts.append(
                    "Allowed already: " + ", ".join(f"{one.access.value} {one.pattern}" for one in self.grants) + "."
                )
        facts.append(f"Your working directory is {self.working_directory}.")
        if self.allowed_commands is not None:
            names = ", ".join(self.allowed_commands)
            facts.append(f"Of all commands you may run only: {names}." if names else "You may not run commands.")
        if self.allowed_tools is not None:
            facts.append(f"Of all tools you have only: {', '.join(self.allowed_tools) or 'none'}.")
        facts.append(
            "Always refused: files with secrets (.env, credentials.json, private keys, .ssh, .parachute), sudo, "
            "removing the home, the vault or system folders, work on disks, and command lines that cannot be read completely."
        )
        return " ".join(facts)
