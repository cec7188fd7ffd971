"""The model's answer, put together from the events of its stream."""

import json

from .channel import Message
from .tools import DEFAULTS, Unplayed


class Answer:
    """One message of the model; `blocks` grow with each event."""

    def __init__(self) -> None:
        self.message: Message = {}
        self.blocks: list[Message] = []
        self.is_complete = False
        self._written = ""

    def take(self, event: Message) -> Message | None:
        """Take an event and return the block that it completes; error: Unplayed."""
        match event["type"]:
            case "message_start":
                self.message = event["message"]
            case "content_block_start":
                self.blocks.append(dict(event["content_block"]))
                self._written = ""
            case "content_block_delta":
                self._add(event["delta"])
            case "content_block_stop":
                block = self.blocks[-1]
                if block["type"] == "tool_use":
                    block["input"] = {**DEFAULTS.get(block["name"], {}), **json.loads(self._written or "{}")}
                return block
            case "message_delta":
                self.message = {**self.message, "stop_reason": event["delta"]["stop_reason"], "usage": event["usage"]}
                self.is_complete = True
            case "error":
                raise Unplayed("an error within an answer")
        return None

    def used(self, event: Message) -> Message:
        """Return what an event adds to the tokens that were used."""
        if event["type"] == "message_start":
            used: Message = event["message"]["usage"]
            return used
        if event["type"] == "message_delta":
            return {"output_tokens": event["usage"]["output_tokens"] - 1}
        return {}

    def text(self) -> str | None:
        """The last text."""
        texts = [block["text"] for block in self.blocks if block["type"] == "text"]
        return texts[-1] if texts else None

    def calls(self) -> list[Message]:
        """The calls of tools."""
        return [block for block in self.blocks if block["type"] == "tool_use"]

    def _add(self, delta: Message) -> None:
        block = self.blocks[-1]
        match delta["type"]:
            case "text_delta":
                block["text"] += delta["text"]
            case "thinking_delta":
                block["thinking"] += delta["thinking"]
            case "signature_delta":
                block["signature"] += delta["signature"]
            case "input_json_delta":
                self._written += delta["partial_json"]
