"""A reader at a terminal: an empty home with a computer, who types a page's lines and answers what is asked."""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI
from tests.support.terminal import screen

from .form import identifiers, plain
from .pages import Block, Line

SECONDS = 90.0
SECRETS = {"API key, or token": "sk-ant-api03-typed", "API key of": "", "password": "a secret of mine"}
"""Answers typed where nothing is shown, by a part of the question."""

_ASKED = re.compile(r"\[[^\[\]]*[yY][^\[\]]*\]:? $")
_COLUMNS = "200"


class Reader:
    """Types lines in the home of a computer; the scripted model answers, and needs no credential."""

    def __init__(self, computer: Computer, api: MessagesAPI) -> None:
        self.home = computer.folder
        self.environment = {
            "PATH": f"{self.home}/.local/bin:{os.environ['PATH']}",
            "HOME": str(self.home),
            "PARACHUTE_PORT": str(computer.port),
            "ANTHROPIC_BASE_URL": api.url,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "xterm",
            "NO_COLOR": "1",
            "COLUMNS": _COLUMNS,
            "SHELL": "/bin/bash",
        }
        self.program = Path(sys.executable).parent / "parachute"
        (self.home / ".local/bin").mkdir(parents=True)
        (self.home / ".local/bin/parachute").symlink_to(self.program)
        # What a page names and a test cannot have at that place.
        self.stands_for = {
            "/home/you": str(self.home),
            "/home/ada": str(self.home),
            "/media/usb": f"{self.home}/usb",
            "127.0.0.1:11434": api.url.removeprefix("http://"),
            "127.0.0.1:3333": f"127.0.0.1:{computer.port}",
            # The same without systemd.
            "parachute service install": "parachute start",
        }
        self.ids: dict[str, str] = {}
        """Real id for each one that a page shows."""

    def save(self, block: Block) -> None:
        """Save a file under the path that the page says."""
        path = self.home / str(block.path).removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def type(self, line: Line, code: int = 0) -> list[str]:
        """Type a line, which ends with this code, see that what comes has the form that the page shows, and return that."""
        command, shown = self._put(line.command, self.ids), [self._put(text) for text in line.shown]
        answers = [self._put(text, self.ids) for text in shown]
        with screen([str(shutil.which("bash")), "-c", command], self.environment) as terminal:
            ended = terminal.answer(lambda said: self._answer(said, answers), SECONDS)
            came = plain(terminal.seen)
        report = "\n".join([f"{line.place}: $ {command}", *came, f"[{ended}]"])
        assert ended == code, report
        if any(text.strip() for text in shown):
            found = identifiers(shown, came)
            assert found is not None, "\n".join([report, "The page shows:", *shown])
            self.ids |= found
        return came

    def run(self, command: str) -> str:
        """Type a line that no page shows, and return what comes."""
        return "\n".join(self.type(Line("between pages", command)))

    def _put(self, text: str, ids: Mapping[str, str] = MappingProxyType({})) -> str:
        for named, real in (self.stands_for | dict(ids)).items():
            text = text.replace(named, real)
        return text

    def _answer(self, said: str, shown: list[str]) -> str | None:
        """The answer that the page shows, or yes: who types a line wants what it does."""
        question = plain(said)[-1:] or [""]
        for contained, secret in SECRETS.items():
            if contained in question[0] and said.endswith(": "):
                return secret
        if not _ASKED.search(said):
            return None
        for text in shown:
            begin, _, answer = text.rpartition(" ")
            if begin and question[0].endswith(begin.strip()):
                return answer
        return "y"
