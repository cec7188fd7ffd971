"""The scripted conversation: a message, a call of Bash in a real sandbox that writes a file, and the answer."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from parachute.ops.rehearsal.messages_api import ScriptedModel
from parachute.ops.rehearsal.models import Check
from parachute.ops.rehearsal.new_version import NewVersion, NotAnswered

_SECONDS = 90.0
_FILE = "rehearsed.txt"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in a folder of its own below the vault."""

    vault: Path
    name: str

    @classmethod
    def new(cls, vault: Path) -> "Conversation":
        """One that no other can be taken for."""
        return cls(vault, f"rehearsal-{secrets.token_hex(8)}")

    def model(self) -> ScriptedModel:
        """Return the model that it is with."""
        return ScriptedModel(self.name, f"echo {self.name} | tee {_FILE}", f"It is written: {self.name}.")

    def hold(self, computer: NewVersion) -> Check:
        """Hold it, and say how that went."""
        folder = self.vault / "Projects" / self.name
        folder.mkdir(parents=True)
        document = {
            "message": f"This is a rehearsal, {self.name}.",
            "sessionId": "new",
            "module": "chat",
            "trustLevel": "sandboxed",
            "workingDirectory": f"Projects/{self.name}",
        }
        try:
            events = list(computer.stream("/api/chat", document, _SECONDS))
        except NotAnswered as error:
            return self._failed(str(error))
        kinds = [event.get("type") for event in events]
        if not kinds or kinds[-1] != "done":
            last = events[-1] if events else {}
            reason = last.get("message") or last.get("error") or f"its last event is {kinds[-1] if kinds else 'none'}"
            return self._failed(str(reason))
        results = [event for event in events if event.get("type") == "tool_result"]
        if not any(self.name in str(result.get("content")) and not result.get("isError") for result in results):
            said = str(results[-1].get("content"))[:300] if results else "no tool was called"
            return self._failed(f"The agent's command failed: {said}")
        level = next((event.get("trustLevel") for event in events if event.get("trustLevel")), None)
        if level != "sandboxed":
            return self._failed(f"It was held at the level {level}, not in a sandbox.")
        if not any(self.name in str(event.get("content")) for event in events if event.get("type") == "text"):
            return self._failed("The model's answer did not arrive.")
        try:
            written = (folder / _FILE).read_text()
        except OSError as error:
            return self._failed(f"What the agent wrote is not in its project: {error.strerror}.")
        if written.strip() != self.name:
            return self._failed("The agent's file is missing from the project or differs.")
        return Check("conversation", True, "A conversation was held in a sandbox: a command, a file and an answer.")

    @staticmethod
    def _failed(reason: str) -> Check:
        return Check("conversation", False, "A conversation cannot be held with the new version.", reason)
