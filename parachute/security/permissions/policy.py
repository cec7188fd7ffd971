"""The one object that decides what an agent may do: for tools, and for mounts and prompts."""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.security.permissions.actions import ACTION_BY_NAME, MCP_PREFIX, Action, tool_listed
from parachute.security.permissions.grants import Grant, Grants, suggest_for_command
from parachute.security.permissions.models import Access, Decision, Effect, Resource, allow, deny
from parachute.security.permissions.paths import Places, below, could_be_secret, is_secret, real_path
from parachute.security.permissions.shell.commands import CommandLine
from parachute.security.permissions.shell.dangerous import Judge
from parachute.security.permissions.shell.listed import uncovered

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Policy:
    """The permissions of one session.

    `home` is Parachute's own folder (`~/.parachute`). In a sandboxed session `working_directory` and all paths of tools are
    paths inside the sandbox, and `mapped_roots` says which folders here they are; `vault` and `home` are always folders here.
    `allowed_commands` and `allowed_tools` are an agent's lists: None allows all, an empty one none. `mcp_tools` are the full
    names (`mcp__server__tool`) of the only tools of servers that there are for it; `reading_tools` says of those that read a file
    which field of their input is its path. `trust_mode` and `grants` count for direct
    sessions only. `given` are folders in `home` that such a session may read: its skills. `folders` are the only ones of this
    machine that are left to a session, None for all: a sandbox has no others, and a direct session opens no others. `narrowing` is
    what the owner took from it, in sentences.
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
    reading_tools: Mapping[str, str] = field(default_factory=dict)
    mapped_roots: Mapping[str, Path] = field(default_factory=dict)
    user_home: Path = field(default_factory=Path.home)
    given: tuple[Path, ...] = ()
    folders: tuple[Path, ...] | None = None
    narrowing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.level not in ("sandboxed", "direct"):
            raise InvalidInput(f"The trust level {self.level!r} must be 'sandboxed' or 'direct'.", key="level_invalid")
        for name in ("vault", "home", "working_directory", "user_home"):
            if not getattr(self, name).is_absolute():
                raise InvalidInput(
                    f"The folder '{name}' of the permissions must be an absolute path.", key="folder_not_absolute"
                )

    @property
    def sandboxed(self) -> bool:
        """Return whether the session runs in a sandbox."""
        return self.level == "sandboxed"

    @property
    def _asks(self) -> bool:
        return not self.sandboxed and not self.trust_mode

    @cached_property
    def _places(self) -> Places:
        return Places(
            self.vault, self.home, self.user_home, dict(self.mapped_roots) if self.sandboxed else None, self.given
        )

    @property
    def _grants(self) -> Grants:
        return Grants(self.grants, self.vault, self.working_directory)

    def decide(self, tool_name: str, tool_input: Mapping[str, object]) -> Decision:
        """Decide on one tool call; never raises, and whatever cannot be judged is denied."""
        try:
            if not isinstance(tool_name, str) or not isinstance(tool_input, Mapping):
                raise InvalidInput("A tool call needs a name and an object with its input.", key="call_invalid")
            return self._decide(tool_name, tool_input)
        except ParachuteError as error:
            return deny(str(error), error.key)
        except Exception:
            logger.exception("A tool call could not be judged")
            return deny("This call could not be judged, so it is refused.", "failure")

    def _decide(self, tool_name: str, tool_input: Mapping[str, object]) -> Decision:
        if tool_name.startswith(MCP_PREFIX):
            if tool_name in self.mcp_tools:
                if (name := self.reading_tools.get(tool_name)) is not None:
                    path = Action(name=tool_name, field=name).text(tool_input, name)
                    if refused := self._path_rules(path, "", Access.READ):
                        return refused
                return allow("The person approved what offers this tool.", "module-tool")
            return deny(f"This session has no tool {tool_name[:200]!r}.", "unknown-tool")
        action = ACTION_BY_NAME.get(tool_name)
        if action is None:
            unknown = Effect.ASK if self._asks else Effect.DENY
            reason = f"The tool {tool_name!r} is unknown."
            return self._listed(tool_name) or Decision(unknown, reason, "unknown-tool")
        listed = self._listed(tool_name, action.also_requires)
        if tool_name == "WebFetch" and urlsplit(action.text(tool_input, "url")).scheme not in ("http", "https"):
            raise InvalidInput("The field 'url' of WebFetch must begin with http:// or https://.", key="url_not_http")
        if action.resource is Resource.NONE:
            return listed or allow("This tool is always allowed.", "always-allowed")
        if action.resource is Resource.COMMAND:
            line = CommandLine(action.text(tool_input, action.field))
            refused, what = self._command_rules(line), f"run {line.source.strip()[:200]!r}"
        else:
            path, names = action.path(tool_input)
            refused, what = self._path_rules(path, names, action.access), f"{action.access.value} {path!r}"
        if refused and (refused.effect is Effect.DENY or listed is None):
            return refused
        if listed:
            return listed
        if self.sandboxed:
            return allow("The sandbox holds only what this session may use.", "sandbox")
        if self.trust_mode:
            return allow("The person approved direct work for this session.", "trust-mode")
        if action.resource is Resource.COMMAND:
            covered = self._grants.cover_line(line)
        else:
            covered = self._grants.cover_path(action.access, path, self._searches(action, path))
        if covered:
            return allow("A grant of this session covers it.", "grant")
        return Decision(Effect.ASK, f"May the agent {what}?", "needs-grant")

    def _listed(self, tool_name: str, needed: str | None = None) -> Decision | None:
        for name in filter(None, (tool_name, needed)):
            if self.allowed_tools is not None and not tool_listed(name, self.allowed_tools):
                return deny(f"This agent may not use the tool {name}.", "agent-tools")
        return None

    def _searches(self, action: Action, path: str) -> bool:
        return action.name in {"Glob", "Grep", "LS"} and not Path(self.working_directory, path).is_file()

    def _path_rules(self, path: str, names: str, access: Access) -> Decision | None:
        whole = self._places.absolute(self.working_directory, path)
        if access is not Access.READ and any(map(self._places.given_folder, self._places.real_paths(whole))):
            return deny(f"{path!r} belongs to a skill, which agents only read.", "deny-list")
        if reason := self._places.refusal(path, self.working_directory):
            return deny(reason, "deny-list")
        if self.folders is not None and not self.sandboxed and not self._is_left(whole):
            return deny(f"{path!r} is in none of the folders that are left to this conversation.", "folders")
        # A leading '!' leaves files out.
        for word in (word for word in names.split() if not word.startswith("!")):
            for part in (*word.split("/"), *re.split("[/,{}]", word)):
                if is_secret(part) or could_be_secret(part):
                    return deny(f"{part!r} looks for files that may hold secrets.", "deny-list")
        return None

    def _is_left(self, path: str) -> bool:
        roots = [*map(real_path, self.folders or ())]
        return all(
            self._places.given_folder(real) or any(below(real, root) for root in roots)
            for real in self._places.real_paths(path)
        )

    def _command_rules(self, line: CommandLine) -> Decision | None:
        """Refuse what nobody may do; what is only known when it runs is asked or refused, but in a sandbox without a list."""
        found = list(Judge(line, str(self.working_directory), self._places).decisions())
        if hard := next((one for one in found if one.effect is Effect.DENY), None):
            return hard
        if self.allowed_commands is None:
            asked = next(iter(found), None)
            return None if self.sandboxed else asked if self._asks or asked is None else deny(asked.reason, asked.rule)
        refused = uncovered(line, self.allowed_commands)
        if not self.allowed_commands or refused:
            shown = next((repr(one.program) for one in refused if one.program), "these variables or redirects")
            only = f"only run {', '.join(self.allowed_commands)}, not {shown}"
            return deny(f"This agent may {only if self.allowed_commands else 'not run commands'}.", "agent-commands")
        return deny(found[0].reason, found[0].rule) if found else None

    def suggested_grants(self, tool_name: str, tool_input: Mapping[str, object]) -> tuple[Grant, ...]:
        """Return the grants to offer for a call that was answered with `ask`, from narrow to broad."""
        action = ACTION_BY_NAME.get(tool_name)
        if action is None or self.decide(tool_name, tool_input).rule != "needs-grant":
            return ()
        if action.resource is Resource.COMMAND:
            return suggest_for_command(CommandLine(action.text(tool_input, action.field)))
        path, _ = action.path(tool_input)
        return self._grants.suggest_for_path(action.access, path, self._searches(action, path))

    def describe(self) -> str:
        """Return what the session may do as one short paragraph for the system prompt."""
        if self.sandboxed:
            facts = ["You work in a sandbox: everything that is mounted in it you may use without asking."]
        elif self.trust_mode:
            facts = ["You work directly on the person's machine, and may read, write and run commands without asking."]
        else:
            facts = ["You work directly on the person's machine; reading, writing and commands may need their consent."]
            facts += [f"Allowed already: {', '.join(map(str, self.grants))}."] if self.grants else []
        facts.append(f"Your working directory is {self.working_directory}.")
        if self.allowed_commands is not None:
            names = ", ".join(self.allowed_commands)
            facts.append(f"Of all commands you may run only: {names}." if names else "You may not run commands.")
        if self.allowed_tools is not None:
            facts.append(f"Of all tools you have only: {', '.join(self.allowed_tools) or 'none'}.")
        facts += self.narrowing
        facts.append(
            "Always refused: files with secrets (.env, credentials.json, private keys, .ssh, .parachute), sudo, "
            "removing the home, the vault or system folders, work on disks, and command lines that cannot be read completely."
        )
        return " ".join(facts)
