"""Lines of a transcript as those say them who said them: the agent's program writes some in the person's name, and some nowhere else."""

import re
from typing import Any

COMMAND = "local_command"
"""The `subtype` of a command that the agent's program answers itself, and of its answer."""

_COMMAND = re.compile(r"<command-name>(.*?)</command-name>.*?(?:<command-args>(.*?)</command-args>|\Z)", re.DOTALL)
_SHELL = re.compile(r"<bash-input>(.*)</bash-input>", re.DOTALL)
_OUTPUT = re.compile(r"<(local-command-std(?:out|err)|bash-(?:std(?:out|err)|exit-code))>(.*?)</\1>\s*", re.DOTALL)
_NOTICE = re.compile(
    r"<(system-reminder|task-notification|teammate-message|cross-session-message|ide_[a-z_]+|local-command-caveat|tick"
    r"|new-diagnostics|mcp-server-note|remote-review|forked-skill-launch|message-files-missing|message-files-moved)"
    r"(?: [^<>]*)?>.*?</\1>\s*",
    re.DOTALL,
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_INTERRUPTED = re.compile(r"\[Request interrupted[^\[\]]*\]")


def attribute(event: dict[str, Any]) -> tuple[bool, bool]:
    """Give a line to who said it; returns if anything is left of it, and if it was changed."""
    if event["type"] == "attachment":
        return _take_queued(event), True
    if event["type"] == "system" and event.get("subtype") == COMMAND and isinstance(event.get("content"), str):
        content = event.pop("content")
        event["type"], event["message"] = "user", {"role": "user", "content": content}
        return _attribute_text(event, content), True
    if event["type"] != "user" or not isinstance(message := event.get("message"), dict) or event.get("isMeta") is True:
        return True, False
    content = message.get("content")
    if isinstance(content, str):
        before = dict(message)
        return _attribute_text(event, content), event["message"] != before
    if not isinstance(content, list):
        return True, False
    kept = [block for block in content if not _is_notice(block)]
    is_changed = len(kept) != len(content)
    for block in kept:
        if isinstance(block, dict) and isinstance(text := block.get("text"), str) and (said := _said(text)) != text:
            block["text"], is_changed = said, True
    if is_changed:
        message["content"] = kept
    return bool(kept) or not content, is_changed


def _take_queued(event: dict[str, Any]) -> bool:
    """Make a message of what a person put into a running turn; False for all else that is attached."""
    queued = event.pop("attachment", None)
    if not isinstance(queued, dict) or (queued.get("type"), queued.get("commandMode")) != ("queued_command", "prompt"):
        return False
    origin = queued.get("origin")
    if queued.get("isMeta") is True or (isinstance(origin, dict) and origin.get("kind") != "human"):
        return False
    event["type"], event["message"] = "user", {"role": "user", "content": queued.get("prompt")}
    if isinstance(source := queued.get("source_uuid"), str):
        event["uuid"] = source  # the id that the message was sent with
    return attribute(event)[0]


def _attribute_text(event: dict[str, Any], content: str) -> bool:
    if found := _COMMAND.match(content):
        said = " ".join(filter(None, (found[1].strip(), (found[2] or "").strip())))
    elif found := _SHELL.fullmatch(content.strip()):
        said = f"!{found[1].strip()}"
    elif output := _all(_OUTPUT, content):
        parts = (words.strip() for kind, words in output if kind != "bash-exit-code")
        text = _COLOURS.sub("", "\n".join(filter(None, parts)))
        event["type"], event["subtype"] = "assistant", COMMAND
        event["message"] = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        return bool(text)
    else:
        event["message"]["content"] = _said(content)
        return not _is_notice({"type": "text", "text": content})
    event["subtype"], event["message"]["content"] = COMMAND, said
    return True


def _is_notice(block: Any) -> bool:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    if not isinstance(text, str) or text.lstrip()[:1] not in ("<", "["):
        return False
    return bool(_INTERRUPTED.fullmatch(text.strip()) or _all(_NOTICE, text))


def _said(text: str) -> str:
    """The part below the notices that a text begins with."""
    place = 0
    while (match := _NOTICE.match(text, place)) and match[0].endswith("\n") and match.end() < len(text):
        place = match.end()
    return text[place:]


def _all(pattern: re.Pattern[str], text: str) -> list[tuple[str, str]]:
    """The groups of all matches if the text has nothing else, or none."""
    place, found, text = 0, [], text.strip()
    while place < len(text) and (match := pattern.match(text, place)):
        found.append((match[1], match[2] if pattern.groups > 1 else ""))
        place = match.end()
    return found if place == len(text) else []
