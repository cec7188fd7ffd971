"""Declarations as files, and a computer that has one."""

import json
import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

from parachute.config.declared.file import VARIABLE
from parachute.modules.trees.hashing import tree_hash
from tests.modules.runtime.module_computer import PROGRAM, ModuleComputer

USER = pwd.getpwuid(os.geteuid()).pw_name


def write(path: Path, **parts: Any) -> Path:
    """Write a declaration for the user of the tests."""
    path.write_text(json.dumps({"version": 1, "user": USER, **parts}))
    return path


def module(source: Path | str, **fields: Any) -> dict[str, Any]:
    """Return the declaration of a module; a folder with the hash that it has now."""
    digest = tree_hash(source) if isinstance(source, Path) else None
    return {"enable": True, "source": str(source), "hash": digest, "settings": {}, **fields}


class DeclaredComputer(ModuleComputer):
    """A computer with a declaration; `declare` before it is started."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.declaration = self.folder / "declared.json"
        self._environment = {**self._environment, VARIABLE: str(self.declaration)}
        self.declare()

    def declare(self, **parts: Any) -> None:
        """Write another declaration, which counts from the next start on."""
        write(self.declaration, **parts)

    def begin(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        """Run the command line of this computer, beside the test."""
        environment = {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "PARACHUTE_HOME": str(self.home.root),
            "PARACHUTE_VAULT": str(self.vault),
            "LANG": "C.UTF-8",
            VARIABLE: str(self.declaration),
            **variables,
        }
        command: list[str | Path] = [PROGRAM, *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, cwd=self.folder, stdout=pipe, stderr=pipe, text=True)

    def command(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """The same to its end."""
        process = self.begin(*arguments, **variables)
        out, err = process.communicate(timeout=100)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def restart(self) -> None:
        """End it and start it again."""
        self.stop()
        self.start()

    def is_as_declared(self, *names: str, state: str = "ready") -> None:
        """Wait until the declared modules are there and core knows them."""
        for name in names:

            def is_known(name: str = name) -> bool:
                return any(
                    row["name"] == name and row["state"] == state and (row["unit"] or state != "ready")
                    for row in self.value("/api/modules")["modules"]
                )

            self.wait_until(is_known, f"{name} is {state}")

    def said_by_core(self, text: str) -> None:
        """Wait until core's log has a text."""
        self.wait_until(lambda: text in (self.home.logs / "core.log").read_text(), f"core says {text!r}")
