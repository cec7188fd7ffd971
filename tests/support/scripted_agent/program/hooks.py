"""Questions to the SDK before a message and before a call of a tool."""

from typing import Any

from .channel import Channel, Message
from .options import Options


class Hooks:
    """The callbacks of the SDK, by their event."""

    def __init__(self, options: Options, channel: Channel, transcript: str) -> None:
        self._channel = channel
        self._callbacks: dict[str, list[str]] = {}
        self._common = {
            "session_id": options.session,
            "transcript_path": transcript,
            "cwd": options.directory,
            "permission_mode": "default",
        }

    def take(self, described: dict[str, list[Message]]) -> None:
        """Take up the callbacks that the SDK names."""
        for event, matchers in described.items():
            self._callbacks[event] = [each for matcher in matchers for each in matcher["hookCallbackIds"]]

    def submitted(self, prompt: Any) -> list[str]:
        """Return what is added to a message; error: Interrupted."""
        text = prompt if isinstance(prompt, str) else "\n".join(block.get("text", "") for block in prompt)
        given = {"hook_event_name": "UserPromptSubmit", "prompt": text}
        asked = [self._begin(callback, given, None) for callback in self._callbacks.get("UserPromptSubmit", [])]
        texts = [self._output(each).get("additionalContext") for each in asked]
        return [text for text in texts if text]

    def decided(self, call: str, tool: str, arguments: Message) -> tuple[str | None, Message]:
        """The reason why a call is refused, and the arguments with which it is made otherwise; error: Interrupted."""
        given = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": arguments, "tool_use_id": call}
        decided = ""
        for callback in self._callbacks.get("PreToolUse", []):
            output = self._output(self._begin(callback, given, call))
            decided = output.get("permissionDecision", "")
            if decided == "deny":
                return f"PreToolUse:{tool} hook error: {output['permissionDecisionReason']}", arguments
            arguments = output.get("updatedInput", arguments)
        if decided == "allow":
            return None, arguments
        request = {"subtype": "can_use_tool", "tool_name": tool, "input": arguments, "tool_use_id": call}
        answer = self._channel.ask(request)
        if answer["behavior"] == "deny":
            return answer["message"], arguments
        return None, answer.get("updatedInput", arguments)

    def _begin(self, callback: str, given: Message, call: str | None) -> str:
        request = {"subtype": "hook_callback", "callback_id": callback, "input": {**self._common, **given}}
        return self._channel.begin({**request, "tool_use_id": call})

    def _output(self, request: str) -> Message:
        output: Message = self._channel.answer_to(request).get("hookSpecificOutput", {})
        return output
