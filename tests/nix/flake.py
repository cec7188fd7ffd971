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
    "languages",
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
        self.store = folder / "store"
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
        for name in ("stubs.nix", "home_stubs.nix", "home_lib.nix"):
            shutil.copy(_HERE / name, inputs / "nixpkgs")
        self._inputs = {name: inputs / name for name in ("nixpkgs", "nixos-hardware")}
        self._home_manager = inputs / "home-manager"

    def run(self, *words: str, free: bool = False) -> subprocess.CompletedProcess[str]:
        """Run nix on the flake; `free`: without nixpkgs' permission for what is not free software."""
        return self._evaluate(self.source, words, self._inputs, free)

    def run_in(self, folder: Path, *words: str, follows: bool = False) -> subprocess.CompletedProcess[str]:
        """Run nix on another flake, which has ours as its input `parachute`; without any permission.

        `follows`: it says which nixpkgs ours has; it would be fetched otherwise, which fails.
        """
        ours = {f"parachute/{name}": path for name, path in self._inputs.items() if name != "nixpkgs" or not follows}
        others = {"parachute": self.source, "home-manager": self._home_manager}
        return self._evaluate(folder, words, {**self._inputs, **others, **ours}, free=True)

    def init(self, folder: Path, template: str) -> subprocess.CompletedProcess[str]:
        """Begin a flake in a folder with one of our templates."""
        # That takes no other inputs than those of the lock file: a copy of ours gets one.
        source = self._folder / "locked"
        shutil.copytree(self.source, source, dirs_exist_ok=True)
        locked = self._run(source, "flake", "lock", "path:.", *_overrides(self._inputs))
        assert locked.returncode == 0, locked.stderr
        return self._run(folder, "flake", "init", "--template", f"path:{source}#{template}")

    def _evaluate(
        self, folder: Path, words: Sequence[str], inputs: Mapping[str, Path], free: bool
    ) -> subprocess.CompletedProcess[str]:
        words = (*words, "--no-write-lock-file", *_overrides(inputs))
        return self._run(folder, *words) if free else self._run(folder, *words, "--impure", NIXPKGS_ALLOW_UNFREE="1")

    def _run(self, folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder),
            "NIX_CONFIG": _CONFIGURATION,
            # Not `--store`, which has paths that are other ones in Nix than on the disk: templates are not found there.
            "NIX_STORE_DIR": str(self.store),
            "NIX_STATE_DIR": str(self._folder / "state"),
            "NIX_LOG_DIR": str(self._folder / "log"),
        }
        return subprocess.run(
            ["nix", *words, "--offline"],
            cwd=folder,
            env={**environment, **more},
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )

    def value(self, output: str, function: str = "value: value", *, free: bool = False) -> Any:
        """Return the result of a function of Nix on an output; error: AssertionError with Nix's message."""
        done = self.run("eval", "--json", f"path:.#{output}", "--apply", function, free=free)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def error(self, output: str, function: str = "value: value", *, free: bool = False) -> str:
        """Return the error with which an output fails."""
        done = self.run("eval", "--json", f"path:.#{output}", "--apply", function, free=free)
        assert done.returncode != 0, done.stdout
        return done.stderr


def _overrides(inputs: Mapping[str, Path]) -> list[str]:
    return [word for name, path in inputs.items() for word in ("--override-input", name, f"path:{path}")]
