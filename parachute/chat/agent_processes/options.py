"""The SDK's options, constructed explicitly: nothing is read from settings, folders or the environment."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import parachute_runner

from parachute.base.files import atomic_write, private_folder
from parachute.chat.agent_processes.helpers import definitions
from parachute.chat.agent_processes.models import AgentFiles, AgentSpecification
from parachute.chat.agent_processes.program_settings import program_settings
from parachute.config.settings.home import Home

# The SDK is imported in functions: it takes a second of a small processor, which the start of the server has not.
if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, McpSdkServerConfig
    from claude_agent_sdk.types import SystemPromptFile, SystemPromptPreset

MAXIMUM_LINE = 12 * 1024 * 1024
"""Bytes of one message of the agent's program, which anything in its sandbox can write: an answer of 8 MiB fits, and a picture of
5 MB, the most that the model takes, which has 7 MB as text. The SDK's default of 1 MiB ends the stream at a larger tool result."""

PERMISSION_SECONDS = 120
"""Longest wait for the answer to a permission request (spec 001)."""

PROMPT_SECONDS = 10

COMPACTION_SECONDS = 5.0
"""Longest wait of a turn for what is done before most of its conversation is cut."""

_PIECE = 9_500
"""UTF-16 units that one hook adds to a message: of more than 10,000 the agent's program shows the model a preview only."""

_PIECES = 3
"""Pieces that the program asks for; together they hold whatever modules and hooks may add."""

_FIXED_ENVIRONMENT = {
    # The helpers of an agent are those that we define, and they start none themselves.
    "CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS": "1",
    "CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH": "1",
    # With them the program has TaskCreate and others in place of TodoWrite, which the app shows.
    "CLAUDE_CODE_ENABLE_TASKS": "0",
    # It would come out of the vault, where the transcripts are, and go into prompts of direct sessions.
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    # `@path` in the text of a skill, or in what the model gives to one, would read that file and ask no rule before.
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "ENABLE_TOOL_SEARCH": "false",
    "LANG": "C.UTF-8",
}


def prepare_files(home: Home) -> AgentFiles:
    """Write the script that stands in for the agent's program, and make the folders that options refer to."""
    folder = private_folder(home.run / "agents")
    wrapper = folder / "agent"
    script = Path(parachute_runner.__path__[0]) / "wrapper.py"
    command = shlex.join([sys.executable, "-IS", str(script)])
    # A shell script: the path of an interpreter in a #! line may have 127 characters at the most.
    atomic_write(wrapper, f'#!/bin/sh\nexec {command} "$@"\n', mode=0o700)
    prompts = private_folder(folder / "prompts")
    for left in prompts.iterdir():  # a server that was killed could not remove them
        left.unlink()
    return AgentFiles(wrapper, prompts, private_folder(folder / "empty"))


def prompt_pieces(text: str) -> list[str]:
    """Cut what goes with a message into pieces that the agent's program hands to the model whole."""
    units = text.encode("utf-16-le", errors="replace")
    pieces: list[str] = []
    while units and len(pieces) < _PIECES:
        end = 2 * _PIECE
        if len(units) > end and 0xD8 <= units[end - 1] <= 0xDB:  # half of a character that has two
            end -= 2
        pieces.append(units[:end].decode("utf-16-le"))
        units = units[end:]
    return pieces


def _environment(specification: AgentSpecification) -> dict[str, str]:
    """The variables of the wrapper, of which it passes on those that are for the agent's program."""
    execution = specification.execution
    environment = {
        **_FIXED_ENVIRONMENT,
        **specification.endpoint.environment(),
        "ANTHROPIC_UNIX_SOCKET": execution.model_socket,
        "CLAUDE_CONFIG_DIR": execution.configuration,
        "PARACHUTE_AGENT_DIRECTORY": execution.directory,
        "PARACHUTE_AGENT_SOCKET": str(execution.agent_socket),
    }
    if zone := os.environ.get("TZ"):
        environment["TZ"] = zone
    return environment


def build(
    specification: AgentSpecification,
    files: AgentFiles,
    prompt: Path,
    servers: "dict[str, McpSdkServerConfig]",
    *,
    pre_tool_use: Callable[..., Any],
    prompt_submit: Callable[..., Any],
    pre_compact: Callable[..., Any],
    can_use_tool: Callable[..., Any],
    stderr: Callable[[str], None],
) -> "ClaudeAgentOptions":
    """The options for one agent process; `prompt` is the file that holds its system prompt, `servers` its MCP servers."""
    from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

    execution = specification.execution
    # Otherwise a resumed session keeps the prompt of its first turn: a changed level, folder or instruction would never reach the
    # model. The SDK has no option for it where the prompt is a file, nor for a file behind the preset.
    arguments: dict[str, str | None] = {"system-prompt-snapshot": "off"}
    system_prompt: SystemPromptFile | SystemPromptPreset = {"type": "file", "path": str(prompt)}
    if specification.preset:
        arguments["append-system-prompt-file"] = str(prompt)
        system_prompt = {"type": "preset", "preset": "claude_code"}
    return ClaudeAgentOptions(
        tools=list(specification.tools),
        agents=definitions(specification),
        system_prompt=system_prompt,
        extra_args=arguments,
        settings=program_settings(),
        setting_sources=[],
        plugins=[{"type": "local", "path": execution.plugins[plugin.name]} for plugin in specification.plugins],
        skills=list(specification.skills),
        mcp_servers=dict(servers),
        strict_mcp_config=True,
        # With this mode a call that no hook allowed is asked about, and `can_use_tool` refuses all but questions.
        permission_mode="default",
        can_use_tool=can_use_tool,
        hooks={
            "PreToolUse": [
                HookMatcher(hooks=[pre_tool_use], timeout=PERMISSION_SECONDS + 30, on_failure="block"),
            ],
            # What is known of the message itself: in the system prompt it would spoil the provider's cache at every turn.
            "UserPromptSubmit": [HookMatcher(hooks=[prompt_submit] * _PIECES, timeout=PROMPT_SECONDS)],
            "PreCompact": [HookMatcher(hooks=[pre_compact], timeout=2 * COMPACTION_SECONDS)],
        },
        cwd=files.working_directory,
        cli_path=files.wrapper,
        env=_environment(specification),
        include_partial_messages=True,
        max_buffer_size=MAXIMUM_LINE,
        model=specification.model,
        thinking={"type": "disabled"} if specification.answers_once else None,
        session_id=None if specification.resume else specification.session,
        resume=specification.session if specification.resume else None,
        stderr=stderr,
    )
