"""The turns of a session: a message of the person, requests to the model and calls of tools until it has answered."""

import contextlib
import json
import os
import sys
import threading
from typing import Any, NoReturn

from .answers import Answer
from .channel import Channel, Interrupted, Message
from .hooks import Hooks
from .model import Model, Refused
from .options import Options
from .results import Usage, interrupted, refusal, success
from .servers import Servers
from .tools import INTERNAL_NAMES, Result, Tools, Unplayed
from .transcript import VERSION, Transcript, now

_INTRODUCTION = "You are a Claude agent, built on Anthropic's Claude Agent SDK."
_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the"
    " new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
_ABILITIES = {"commands": [], "models": [], "hooks_applied": True, "hook_on_failure_supported": True}


class Conversation:
    """One session in one process."""

    def __init__(self, options: Options, channel: Channel) -> None:
        self._options = options
        self._channel = channel
        self._transcript = Transcript(options)
        self._hooks = Hooks(options, channel, str(self._transcript.path))
        self._model = Model()
        self._servers = Servers(channel)
        self._tools = Tools(options.directory)
        self._usage = Usage(options.model)
        self._turn: threading.Thread | None = None
        self._answers = False
        self._stopped = False

    def resume(self) -> bool:
        """Take up the session; False when it is to be continued and there is none."""
        return self._transcript.read() or not self._options.resumes

    def serve(self) -> None:
        """Do what the SDK asks until it closes our input."""
        for message in self._channel.lines():
            if message["type"] == "user":
                self._begin(message)
            elif message["type"] == "control_request":
                self._serve_request(message["request_id"], message["request"])
            else:
                raise Unplayed(f"a message of the type {message['type']}")

    def _begin(self, message: Message) -> None:
        if self._answers:
            raise Unplayed("a message during an answer")
        if self._turn is not None:
            self._turn.join()
        # Here, since an interruption that is read next is for this turn.
        self._answers = True
        self._stopped = False
        self._model.allow()
        self._tools.begin()
        self._channel.resume()
        self._turn = threading.Thread(target=self._guarded, args=(message,), daemon=True)
        self._turn.start()

    def _serve_request(self, identifier: str, request: Message) -> None:
        match request["subtype"]:
            case "initialize":
                self._hooks.take(request.get("hooks") or {})
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
        except Exception as missing:
            end(missing)

    def _run(self, message: Message) -> None:
        self._usage.begin()
        prompt = message["message"]["content"]
        if isinstance(prompt, str) and prompt.startswith("/") and not message.get("client_composed"):
            raise Unplayed(f"the command {prompt.split()[0]}")
        self._channel.send({"type": "system", "subtype": "session_state_changed", "state": "running"})
        try:
            added = self._hooks.submitted(prompt)
            self._transcript.add("user", message["message"], message.get("uuid"), promptSource="sdk")
            if added:
                self._transcript.add_context(added)
            self._servers.connect(self._options.servers)
            self._send_beginning()
            result = self._answer()
        except Interrupted:
            result = self._interrupted("", "aborted_streaming", 0)
        self._answers = False
        self._channel.send({**result, **self._usage.totals()})
        self._channel.send({"type": "system", "subtype": "session_state_changed", "state": "idle"})

    def _answer(self) -> Message:
        """Ask the model until it calls no tool; return the result."""
        turns = 0
        text = ""
        while True:
            turns += 1
            try:
                answer = self._ask_model()
            except Refused as refused:
                return self._refused(refused)
            if self._stopped:
                return self._interrupted("", "aborted_streaming", turns)
            text = answer.text() or text
            if not (calls := answer.calls()):
                return success(text, turns)
            for call in calls:
                self._call(call)
            if self._stopped:
                return self._interrupted(" for tool use", "aborted_tools", turns)

    def _send_beginning(self) -> None:
        servers = [{"name": name, "status": "connected", "source": "sdk"} for name in self._options.servers]
        beginning = {
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
        }
        self._channel.send(beginning | {name: [] for name in ("slash_commands", "agents", "skills", "plugins")})

    def _ask_model(self) -> Answer:
        self._channel.send({"type": "system", "subtype": "status", "status": "requesting"})
        answer = Answer()
        for event in self._model.events(self._request()):
            if event["type"] == "ping":
                continue
            if (block := answer.take(event)) is not None:
                self._send_block(answer.message, block)
            self._usage.add(answer.used(event))
            self._channel.send({"type": "stream_event", "event": event, "parent_tool_use_id": None})
        if not self._stopped and not answer.is_complete:
            raise Unplayed("a connection that ends within an answer")
        if self._stopped and answer.blocks and answer.blocks[-1].get("text"):
            self._send_block(answer.message, answer.blocks[-1])
        for block in answer.blocks:
            if block["type"] != "tool_use" or not self._stopped:
                self._transcript.add("assistant", {**answer.message, "content": [block]})
        return answer

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

    def _call(self, call: Message) -> None:
        result = Result(_REJECTED, failed=True)
        if not self._stopped:
            with contextlib.suppress(Interrupted):
                found = self._result_of(call["name"], call["input"], call["id"])
                result = result if self._stopped else found
        block = {"tool_use_id": call["id"], "type": "tool_result", "content": result.content}
        marked = result.failed or call["name"] == "Bash"  # as the real one does
        content = [{**block, "is_error": result.failed} if marked else block]
        self._say({"role": "user", "content": content}, result.details)

    def _result_of(self, name: str, arguments: Message, call: str) -> Result:
        offered = {_model_name(each) for each in self._options.tools} | {*self._servers.tools}
        if name not in offered:
            return Result(f"<tool_use_error>Error: No such tool available: {name}</tool_use_error>", failed=True)
        name = INTERNAL_NAMES.get(name, name)
        refused, arguments = self._hooks.decided(call, name, arguments)
        if refused is not None:
            return Result(refused, failed=True)
        if name in self._servers.tools:
            return self._servers.call(name, arguments, call)
        return self._tools.run(name, arguments)

    def _say(self, message: Message, details: Any = None) -> None:
        identifier = self._transcript.add("user", message, **({} if details is None else {"toolUseResult": details}))
        said = {"type": "user", "message": message, "uuid": identifier, "parent_tool_use_id": None, "timestamp": now()}
        self._channel.send(said if details is None else {**said, "tool_use_result": details})

    def _interrupted(self, when: str, reason: str, turns: int) -> Message:
        self._say({"role": "user", "content": [{"type": "text", "text": f"[Request interrupted by user{when}]"}]})
        return interrupted(reason, turns)

    def _refused(self, refused: Refused) -> Message:
        message, error = refusal(refused)
        self._transcript.add("assistant", message, isApiErrorMessage=True, error=error)
        self._channel.send({"type": "assistant", "message": message, "parent_tool_use_id": None, "error": error})
        return success(message["content"][0]["text"], 1, is_error=True, api_error_status=refused.status)


def end(missing: Exception) -> NoReturn:
    """End the process with a sentence on what this program has no part for."""
    said = f"The scripted program has no part for {missing!r}: this wants the real one.\n"
    os.write(sys.stderr.fileno(), said.encode())
    os._exit(1)


def _model_name(name: str) -> str:
    return next((given for given, internal in INTERNAL_NAMES.items() if internal == name), name)
