"""The turns of a session: a message of the person, requests to the model and calls of tools until it has answered."""

import contextlib
import json
import os
import sys
import threading
import time
import uuid
from typing import Any, NoReturn

from .channel import Channel, Interrupted, Message
from .model import Model, Refused
from .options import Options
from .servers import Servers
from .tools import DEFAULTS, INTERNAL_NAMES, Result, Tools, Unplayed
from .transcript import VERSION, Transcript, now

_INTRODUCTION = "You are a Claude agent, built on Anthropic's Claude Agent SDK."
_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the"
    " new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
_DOLLARS = {
    "input_tokens": 4e-6,
    "output_tokens": 20e-6,
    "cache_read_input_tokens": 0.4e-6,
    "cache_creation_input_tokens": 5e-6,
}
"""Prices of the default model for a token."""

_ABILITIES = {"commands": [], "models": [], "hooks_applied": True, "hook_on_failure_supported": True}
_ERRORS = {401: "authentication_failed", 403: "authentication_failed", 429: "rate_limit"}
_SECOND_ERROR = 500


class Conversation:
    """One session in one process."""

    def __init__(self, options: Options, channel: Channel) -> None:
        self._options = options
        self._channel = channel
        self._transcript = Transcript(options)
        self._model = Model()
        self._servers = Servers(channel)
        self._tools = Tools(options.directory)
        self._hooks: dict[str, list[str]] = {}
        self._usage = dict.fromkeys(_DOLLARS, 0)
        self._dollars = 0.0
        self._tokens = dict.fromkeys(_DOLLARS, 0)
        self._turn: threading.Thread | None = None
        self._stopped = False

    def resume(self) -> bool:
        """Take up the session; False when it is to be continued and there is none."""
        return self._transcript.read() or not self._options.resumes

    def serve(self) -> None:
        """Do what the SDK asks until it closes our input."""
        for message in self._channel.lines():
            if message["type"] == "user":
                if self._turn is not None:
                    self._turn.join()
                self._turn = threading.Thread(target=self._guarded, args=(message,), daemon=True)
                self._turn.start()
            elif message["type"] == "control_request":
                self._serve_request(message["request_id"], message["request"])
            else:
                raise Unplayed(f"a message of the type {message['type']}")

    def _serve_request(self, identifier: str, request: Message) -> None:
        match request["subtype"]:
            case "initialize":
                for event, matchers in (request.get("hooks") or {}).items():
                    self._hooks[event] = [each for matcher in matchers for each in matcher["hookCallbackIds"]]
                self._channel.answer(identifier, _ABILITIES)
            case "interrupt":
                self._interrupt()
                self._channel.answer(identifier, {"still_queued": []})
            case other:
                raise Unplayed(f"the request {other}")

    def _interrupt(self) -> None:
        self._stopped = True
        self._model.cut()
        self._tools.end()
        for waiting in self._channel.interrupt():
            if not self._servers.cancel(waiting):
                self._channel.withdraw(waiting)

    def _guarded(self, message: Message) -> None:
        """Run a turn; what this program does not have ends the process, so that a test cannot take it for an answer."""
        try:
            self._run(message)
        except Unplayed as missing:
            end(missing)

    def _run(self, message: Message) -> None:
        self._stopped = False
        self._model.allow()
        self._channel.resume()
        self._usage = dict.fromkeys(_DOLLARS, 0)
        began = time.monotonic()
        prompt = message["message"]["content"]
        if isinstance(prompt, str) and prompt.startswith("/") and not message.get("client_composed"):
            raise Unplayed(f"the command {prompt.split()[0]}")
        self._channel.send({"type": "system", "subtype": "session_state_changed", "state": "running"})
        try:
            added = self._submitted(prompt)
            self._transcript.add("user", message["message"], message.get("uuid"), promptSource="sdk")
            if added:
                self._transcript.add_context(added)
            if self._servers.names is None:
                self._servers.connect(self._options.servers)
            self._send_beginning()
            result = self._answer()
        except Interrupted:
            result = self._interrupted("", "aborted_streaming", 0)
        self._channel.send({**result, **self._totals(began)})
        self._channel.send({"type": "system", "subtype": "session_state_changed", "state": "idle"})

    def _submitted(self, prompt: Any) -> list[str]:
        text = prompt if isinstance(prompt, str) else "\n".join(block.get("text", "") for block in prompt)
        given = {"hook_event_name": "UserPromptSubmit", "prompt": text}
        asked = [self._begin_hook(hook, given, None) for hook in self._hooks.get("UserPromptSubmit", [])]
        answers = [self._channel.answer_to(each) for each in asked]
        texts = [answer.get("hookSpecificOutput", {}).get("additionalContext") for answer in answers]
        return [text for text in texts if text]

    def _begin_hook(self, hook: str, given: Message, call: str | None) -> str:
        common = {
            "session_id": self._options.session,
            "transcript_path": str(self._transcript.path),
            "cwd": self._options.directory,
            "permission_mode": "default",
        }
        request = {"subtype": "hook_callback", "callback_id": hook, "input": {**common, **given}}
        return self._channel.begin({**request, "tool_use_id": call})

    def _answer(self) -> Message:
        """Ask the model until it calls no tool; return the kind of the result."""
        turns = 0
        text = ""
        while True:
            turns += 1
            try:
                blocks = self._ask_model()
            except Refused as refused:
                return self._refused(refused)
            if self._stopped:
                return self._interrupted("", "aborted_streaming", turns)
            texts = [block["text"] for block in blocks if block["type"] == "text"]
            text = texts[-1] if texts else text
            calls = [block for block in blocks if block["type"] == "tool_use"]
            if not calls:
                return self._success(text, turns)
            for call in calls:
                self._call(call)
            if self._stopped:
                return self._interrupted(" for tool use", "aborted_tools", turns)

    def _send_beginning(self) -> None:
        servers = [{"name": name, "status": "connected", "source": "sdk"} for name in self._options.servers]
        self._channel.send(
            {
                "type": "system",
                "subtype": "init",
                "cwd": self._options.directory,
                "tools": [*sorted(self._options.tools, key=_model_name), *self._servers.tools],
                "mcp_servers": servers,
                "model": self._options.model,
                "permissionMode": "default",
                "apiKeySource": "ANTHROPIC_API_KEY",
                "claude_code_version": VERSION,
                "output_style": "default",
                "slash_commands": [],
                "agents": [],
                "skills": [],
                "plugins": [],
            }
        )

    def _ask_model(self) -> list[Message]:
        self._channel.send({"type": "system", "subtype": "status", "status": "requesting"})
        message: Message = {}
        blocks: list[Message] = []
        written = ""
        for event in self._model.events(self._request()):
            kind = event["type"]
            if kind == "ping":
                continue
            if kind == "error":
                raise Unplayed("an error within an answer")
            if kind == "message_start":
                message = event["message"]
                self._count(message["usage"])
            elif kind == "content_block_start":
                blocks.append(dict(event["content_block"]))
                written = ""
            elif kind == "content_block_delta":
                written += _add_delta(blocks[-1], event["delta"])
            elif kind == "content_block_stop":
                if blocks[-1]["type"] == "tool_use":
                    blocks[-1]["input"] = {**DEFAULTS.get(blocks[-1]["name"], {}), **json.loads(written or "{}")}
                self._send_block(message, blocks[-1])
            elif kind == "message_delta":
                message = {**message, "stop_reason": event["delta"]["stop_reason"], "usage": event["usage"]}
                self._count({"output_tokens": event["usage"]["output_tokens"] - 1})
            self._channel.send({"type": "stream_event", "event": event, "parent_tool_use_id": None})
        if not self._stopped and message.get("stop_reason") is None:
            raise Unplayed("a connection that ends within an answer")
        if self._stopped and blocks and blocks[-1].get("text"):
            self._send_block(message, blocks[-1])
        for block in blocks:
            if block["type"] != "tool_use" or not self._stopped:
                self._transcript.add("assistant", {**message, "content": [block]})
        return blocks

    def _send_block(self, message: Message, block: Message) -> None:
        content = {**message, "content": [block], "stop_reason": None}
        self._channel.send({"type": "assistant", "message": content, "parent_tool_use_id": None, "timestamp": now()})

    def _request(self) -> Message:
        messages = [{name: each[name] for name in ("role", "content")} for each in self._transcript.messages]
        names = sorted(_model_name(name) for name in self._options.tools)
        known: list[Message] = [{"name": name, "description": name, "input_schema": {}} for name in names]
        return {
            "model": self._options.model,
            "messages": messages,
            "system": [{"type": "text", "text": text} for text in (_INTRODUCTION, *self._options.system)],
            "tools": [*known, *self._servers.described],
            "metadata": {"user_id": json.dumps({"session_id": self._options.session})},
            "max_tokens": 128_000,
            "thinking": {"type": "adaptive", "display": "updates"},
            "stream": True,
        }

    def _count(self, usage: Message) -> None:
        for name, price in _DOLLARS.items():
            tokens = usage.get(name, 0)
            self._usage[name] += tokens
            self._tokens[name] += tokens
            self._dollars += tokens * price

    def _call(self, call: Message) -> None:
        result = Result(_REJECTED, failed=True)
        if not self._stopped:
            with contextlib.suppress(Interrupted):
                found = self._result_of(call)
                result = result if self._stopped else found
        block = {"tool_use_id": call["id"], "type": "tool_result", "content": result.content}
        marked = result.failed or call["name"] == "Bash"  # as the real one does
        content = [{**block, "is_error": result.failed} if marked else block]
        self._say({"role": "user", "content": content}, result.details)

    def _result_of(self, call: Message) -> Result:
        name: str = call["name"]
        arguments: Message = call["input"]
        offered = {_model_name(each) for each in self._options.tools} | {*self._servers.tools}
        if name not in offered:
            return Result(f"<tool_use_error>Error: No such tool available: {name}</tool_use_error>", failed=True)
        name = INTERNAL_NAMES.get(name, name)
        given = {"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": arguments, "tool_use_id": call["id"]}
        decided = ""
        for hook in self._hooks.get("PreToolUse", []):
            output = self._channel.answer_to(self._begin_hook(hook, given, call["id"])).get("hookSpecificOutput", {})
            decided = output.get("permissionDecision", "")
            if decided == "deny":
                return Result(f"PreToolUse:{name} hook error: {output['permissionDecisionReason']}", failed=True)
            arguments = output.get("updatedInput", arguments)
        if decided != "allow":
            request = {"subtype": "can_use_tool", "tool_name": name, "input": arguments, "tool_use_id": call["id"]}
            answer = self._channel.ask(request)
            if answer["behavior"] == "deny":
                return Result(answer["message"], failed=True)
            arguments = answer.get("updatedInput", arguments)
        if name in self._servers.tools:
            return self._servers.call(name, arguments, call["id"])
        if name == "AskUserQuestion":
            answers = ", ".join(f'"{question}"="{answer}"' for question, answer in arguments["answers"].items())
            said = f"Your questions have been answered: {answers}. You can now continue with these answers in mind."
            return Result(said, details=arguments)
        return self._tools.run(name, arguments)

    def _say(self, message: Message, details: Any = None) -> None:
        identifier = self._transcript.add("user", message, **({} if details is None else {"toolUseResult": details}))
        self._channel.send(
            {
                "type": "user",
                "message": message,
                "uuid": identifier,
                "parent_tool_use_id": None,
                "timestamp": now(),
                **({} if details is None else {"tool_use_result": details}),
            }
        )

    def _success(self, text: str, turns: int) -> Message:
        return {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "num_turns": turns,
            "stop_reason": "end_turn",
            "terminal_reason": "completed",
            "result": text,
        }

    def _interrupted(self, when: str, reason: str, turns: int) -> Message:
        self._say({"role": "user", "content": [{"type": "text", "text": f"[Request interrupted by user{when}]"}]})
        return {
            "type": "result",
            "subtype": "error_during_execution",
            "is_error": True,
            "num_turns": turns + 1,
            "stop_reason": None,
            "terminal_reason": reason,
            "errors": ["[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null"],
        }

    def _refused(self, refused: Refused) -> Message:
        if refused.status >= _SECOND_ERROR:
            raise Unplayed(f"a model that answers {refused.status}")
        text = f"API Error: {refused.status} {refused.message}"
        identifier = str(uuid.uuid4())
        message = {
            "id": identifier,
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "stop_sequence",
            "usage": dict.fromkeys(_DOLLARS, 0),
        }
        error = _ERRORS.get(refused.status, "unknown")
        self._transcript.add("assistant", message, isApiErrorMessage=True, error=error)
        self._channel.send({"type": "assistant", "message": message, "parent_tool_use_id": None, "error": error})
        return {**self._success(text, 1), "is_error": True, "api_error_status": refused.status}

    def _totals(self, began: float) -> Message:
        milliseconds = round((time.monotonic() - began) * 1000)
        return {
            "duration_ms": milliseconds,
            "duration_api_ms": milliseconds,
            "total_cost_usd": self._dollars,
            "usage": self._usage,
            "modelUsage": {
                self._options.model: {"costUSD": self._dollars, "inputTokens": self._tokens["input_tokens"]}
            },
            "permission_denials": [],
        }


def end(missing: Exception) -> NoReturn:
    """End the process with a sentence on what this program has no part for."""
    os.write(
        sys.stderr.fileno(), f"The scripted program has no part for {missing}: this wants the real one.\n".encode()
    )
    os._exit(1)


def _model_name(name: str) -> str:
    return next((given for given, internal in INTERNAL_NAMES.items() if internal == name), name)


def _add_delta(block: Message, delta: Message) -> str:
    """Add a delta to a block; returns the piece of a call's arguments that it holds."""
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] += delta["signature"]
        case "input_json_delta":
            return str(delta["partial_json"])
    return ""
