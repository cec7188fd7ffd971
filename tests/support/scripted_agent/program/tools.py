"""The tools that the program runs itself: those of files, and a shell."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Result:
    """The result of a call: what the model gets, and with `details` what the SDK gets beside it."""

    def __init__(self, content: str | list[dict[str, Any]], *, failed: bool = False, details: Any = None) -> None:
        self.content = content
        self.failed = failed
        self.details = f"Error: {content}" if failed else details


_CURRENT = "(file state is current in your context — no need to Read it back)"
INTERNAL_NAMES = {"Agent": "Task"}
"""Names of tools for the model, and those of the settings where they differ."""

DEFAULTS: dict[str, dict[str, Any]] = {"Edit": {"replace_all": False}}
"""Arguments that the real program adds to a call."""


class Unplayed(Exception):
    """A part of the real program that this one does not have."""


class Tools:
    """Runs one tool at a time, which another thread may end."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._process: int | None = None
        self._ended = False
        self._known: dict[str, Callable[[dict[str, Any]], Result]] = {
            "AskUserQuestion": _answered,
            "Bash": self._bash,
            "Edit": self._edit,
            "Glob": self._glob,
            "Read": self._read,
            "TodoWrite": self._todos,
            "Write": self._write,
        }

    def run(self, name: str, arguments: dict[str, Any]) -> Result:
        """Run a tool; error: Unplayed."""
        if name not in self._known:
            raise Unplayed(f"the tool {name}")
        return self._known[name](arguments)

    def begin(self) -> None:
        """Begin a turn."""
        self._ended = False

    def end(self) -> None:
        """End the command that runs, with all that it started."""
        self._ended = True
        if (process := self._process) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)

    def _bash(self, arguments: dict[str, Any]) -> Result:
        if arguments.get("run_in_background"):
            raise Unplayed("a command in the background")
        # What it leaves running may keep its output, and is not waited for.
        written = os.memfd_create("output")
        with (
            open(written, "rb") as file,
            subprocess.Popen(
                ["/bin/bash", "-c", arguments["command"]],
                cwd=self._directory,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
            ) as process,
        ):
            self._process = process.pid
            if self._ended:
                self.end()
            code = process.wait()
            self._process = None
            file.seek(0)
            output = file.read().decode(errors="replace").strip("\n")
        if code:
            return Result(f"Exit code {code}\n{output}".strip(), failed=True)
        details = {"stdout": output, "stderr": "", "interrupted": False}
        return Result(output or "(Bash completed with no output)", details=details)

    def _read(self, arguments: dict[str, Any]) -> Result:
        path = Path(arguments["file_path"])
        if path.suffix in (".ipynb", ".png", ".jpg", ".pdf"):
            raise Unplayed(f"reading {path.suffix}")
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Result(
                f"File does not exist. Note: your current working directory is {self._directory}.", failed=True
            )
        except OSError as error:
            return Result(f"{error.strerror}: {path}", failed=True)
        numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(text.split("\n"), 1))
        return Result(numbered, details={"type": "text", "file": {"filePath": str(path), "content": text}})

    def _write(self, arguments: dict[str, Any]) -> Result:
        path = Path(arguments["file_path"])
        existed = path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(arguments["content"], encoding="utf-8")
        except OSError as error:
            return Result(f"{error.strerror}: {path}", failed=True)
        if existed:
            return Result(f"The file {path} has been updated successfully. {_CURRENT}")
        return Result(f"File created successfully at: {path} {_CURRENT}")

    def _edit(self, arguments: dict[str, Any]) -> Result:
        path = Path(arguments["file_path"])
        text = path.read_text(encoding="utf-8")
        if text.count(arguments["old_string"]) != 1:
            return Result("<tool_use_error>String to replace not found in file.</tool_use_error>", failed=True)
        path.write_text(text.replace(arguments["old_string"], arguments["new_string"]), encoding="utf-8")
        return Result(f"The file {path} has been updated successfully. {_CURRENT}")

    def _glob(self, arguments: dict[str, Any]) -> Result:
        found = sorted(Path(arguments.get("path", self._directory)).glob(arguments["pattern"]))
        return Result("\n".join(str(path) for path in found) or "No files found")

    def _todos(self, arguments: dict[str, Any]) -> Result:
        return Result("Todos have been modified successfully.")


def _answered(arguments: dict[str, Any]) -> Result:
    answers = ", ".join(f'"{question}"="{answer}"' for question, answer in arguments["answers"].items())
    said = f"Your questions have been answered: {answers}. You can now continue with these answers in mind."
    return Result(said, details=arguments)
