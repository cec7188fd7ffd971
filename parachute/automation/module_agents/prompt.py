"""The system prompt of a module's agent: its own file, and a description of its sandbox."""

from msgspec.structs import replace

from parachute.base.errors import InvalidInput, NotFound
from parachute.base.folders import Folder
from parachute.chat.prompts.service import Prompt
from parachute.modules.runtime.models import ApprovedModule
from parachute.sandbox.engines.models import Mount

_LIMIT = 64 * 1024
"""Bytes of a prompt file; the same as for an agent in the vault."""


_VIEW = (
    " What you write there is brought to the owner's files after each step. Configuration of git, editors, shells and agents, hooks "
    "and repositories wait for the owner, as does what somebody else changed meanwhile."
)


def prompt_file(module: ApprovedModule, name: str) -> str:
    """The text of a file of the module's verified copy, reached without following a link; waits for the disk.

    Errors: NotFound, InvalidInput for what is no file, too long or not UTF-8.
    """
    try:
        with Folder.open(module.code) as code:
            data = code.read(name, _LIMIT)
    except OSError as error:
        raise NotFound(f"The module {module.name} has no file {name}: {error.strerror}.", key="no_file") from error
    except InvalidInput as error:
        raise InvalidInput(
            f"system_prompt: {name} of the module {module.name} must be a file of up to {_LIMIT:,} bytes.",
            key=error.key,
        ) from error
    try:
        return data.decode().strip()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"system_prompt: {name} of the module {module.name} is not UTF-8.", key="prompt_not_text"
        ) from error


def in_sandbox(
    prompt: Prompt,
    mounts: tuple[Mount, ...],
    hosts: tuple[str, ...],
    permissions: str,
    *,
    has_view: bool = False,
    end: str = "",
) -> Prompt:
    """Complete a prompt with a description of the agent's sandbox, its permissions and an end."""
    sandbox = _describe_sandbox(mounts, hosts) + (_VIEW if has_view else "")
    text = f"{prompt.text}\n\n# Where you are\n{sandbox} {permissions}{end}"
    return replace(prompt, text=text, base_characters=len(prompt.text))


def directly(prompt: Prompt, directory: str, permissions: str, end: str = "") -> Prompt:
    """Complete the prompt of an agent that runs with the owner's own rights."""
    text = f"{prompt.text}\n\n# Where you are\nYou work directly on the owner's computer, in {directory}. {permissions}{end}"
    return replace(prompt, text=text, base_characters=len(prompt.text))


def _describe_sandbox(mounts: tuple[Mount, ...], hosts: tuple[str, ...]) -> str:
    parts = [
        "You work in a sandbox without network."
        if not hosts
        else f"You work in a sandbox that reaches only these hosts, through the proxy in HTTPS_PROXY: {', '.join(hosts)}."
    ]
    parts.append("Your working directory is your private scratch space. Files here are temporary.")
    if mounts:
        shown = (f"{mount.target} ({'read and write' if mount.writable else 'read only'})" for mount in mounts)
        parts.append(f"Of the owner's files you were given: {', '.join(shown)}.")
    else:
        parts.append("You were given none of the owner's files.")
    return " ".join(parts)
