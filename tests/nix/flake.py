"""Our flake, evaluated with flakes that stand for its inputs; nothing is built, and no network is needed."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.nix.real_lib import REAL_LIB

ROOT = Path(__file__).resolve().parents[2]
_HERE = Path(__file__).resolve().parent
_SOURCES = (
    "README.md",
    "console",
    "docs",
    "flake.nix",
    "images",
    "modules",
    "nixos",
    "parachute",
    "pyproject.toml",
    "sandbox",
    "tests/nix",
)
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".hypothesis", ".*_cache", "inputs", "node_modules")
_CONFIGURATION = """
experimental-features = nix-command flakes
build-users-group =
sandbox = false
flake-registry =
substituters =
"""


class Flake:
    """A copy of the flake in a folder, with a store of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.source = folder / "source"
        for name in _SOURCES:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.source / name, ignore=_LEFT_OUT)
            else:
                self.source.mkdir(exist_ok=True)
                shutil.copy(ROOT / name, self.source / name)
        inputs = folder / "inputs"
        shutil.copytree(_HERE / "inputs", inputs)
        shutil.copytree(REAL_LIB or _HERE / "lib", inputs / "nixpkgs" / "lib")
        shutil.copy(_HERE / "stubs.nix", inputs / "nixpkgs")
        self._inputs = {name: inputs / name for name in ("nixpkgs", "nixos-hardware")}

    def run(self, *words: str, free: bool = False) -> subprocess.CompletedProcess[str]:
        """Run nix on the flake; `free`: without nixpkgs' permission for what is not free software."""
        return self._run(self.source, words, self._inputs, free)

    def run_in(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run nix on another flake, which has ours as its input `parachute`; without any permission."""
        ours = {f"parachute/{name}": path for name, path in self._inputs.items()}
        return self._run(folder, words, {**self._inputs, "parachute": self.source, **ours}, free=True)

    def _run(
        self, folder: Path, words: Sequence[str], inputs: Mapping[str, Path], free: bool
    ) -> subprocess.CompletedProcess[str]:
        overrides = [word for name, path in inputs.items() for word in ("--override-input", name, f"path:{path}")]
        command = [
            "nix",
            *words,
            "--store",
            str(self._folder / "store"),
            "--offline",
            "--no-write-lock-file",
            *overrides,
        ]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self._folder), "NIX_CONFIG": _CONFIGURATION}
        if not free:
            command.append("--impure")
            environment["NIXPKGS_ALLOW_UNFREE"] = "1"
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=110, check=False
        )

    def value(self, output: str, function: str = "value: value", *, free: bool = False) -> Any:
        """What a function of Nix says of an output; error: AssertionError with what Nix said."""
        done = self.run("eval", "--json", f"path:.#{output}", "--apply", function, free=free)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def error(self, output: str, function: str = "value: value", *, free: bool = False) -> str:
        """Why an output cannot be had."""
        done = self.run("eval", "--json", f"path:.#{output}", "--apply", function, free=free)
        assert done.returncode != 0, done.stdout
        return done.stderr
