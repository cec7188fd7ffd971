"""Configurations evaluated by Nix, without nixpkgs unless NIXPKGS_LIB names its lib."""

import functools
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
MODULES = TREE / "nixos" / "modules.nix"
EXAMPLES = TREE / "nixos" / "examples"

_SECONDS = 100


class EvaluationFailed(Exception):
    """Nix refused a configuration; the text is what a person would see."""


def evaluate(
    configuration: Path | str, *, folders: Mapping[str, str] | None = None, lib: Path | None = None, home: bool = False
) -> Any:
    """Everything that a configuration of NixOS sets, or one of `home`-manager, as JSON; error: EvaluationFailed.

    `configuration` is a file, or an expression of Nix. `folders` gives packages by name another place than one in the store
    at which nothing is: `parachute` for the package, `python` for its Python, and the names of packages.nix. `lib` is that of
    nixpkgs; without it our own small one is used.
    """
    return run(f"({_evaluated(configuration, folders or {}, lib, home)}).config")


def options(lib: Path | None = None, *, home: bool = False) -> list[dict[str, Any]]:
    """The options below `services.parachute`, those of submodules included: name, type, description, example, default."""
    # With those of the agent, which the flake's module for NixOS has besides.
    evaluated = _evaluated("{ }" if home else TREE / "nixos" / "agent.nix", {}, lib, home)
    library = _library(lib)
    return list(
        run(f"import {HERE}/options.nix {{ lib = {library}; options = ({evaluated}).options.services.parachute; }}")
    )


def run(expression: str) -> Any:
    """The value of an expression; no file is built and no network is used. Error: EvaluationFailed."""
    return json.loads(_json_of(expression))


@functools.cache
def _json_of(expression: str) -> str:
    with tempfile.TemporaryDirectory(prefix="nix-", dir="/tmp") as place:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": place,
            # Nothing of this machine's Nix: neither its settings nor its store.
            "NIX_REMOTE": "dummy://",
            "NIX_CONF_DIR": place,
            "NIX_STATE_DIR": f"{place}/state",
            "NIX_LOG_DIR": f"{place}/log",
            "NIX_PATH": "",
        }
        command = ["nix-instantiate", "--eval", "--strict", "--json", "--expr", expression]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=_SECONDS, check=False)
    if done.returncode != 0:
        raise EvaluationFailed(re.sub(r"\x1b\[[0-9;]*m", "", done.stderr))
    return done.stdout


def parse(*files: Path) -> str | None:
    """Say what is wrong with the syntax of files, and which names in them nothing defines; None for nothing."""
    command = ["nix-instantiate", "--parse", *map(str, files)]
    environment = {**os.environ, "NIX_REMOTE": "dummy://"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=_SECONDS, check=False)
    return None if done.returncode == 0 else done.stderr


def _evaluated(configuration: Path | str, folders: Mapping[str, str], lib: Path | None, home: bool) -> str:
    text = str(configuration) if isinstance(configuration, Path) else f"({configuration})"
    places = " ".join(f"{json.dumps(name)} = {json.dumps(place)};" for name, place in folders.items())
    packages = f"import {HERE}/packages.nix {{ {places} }}"
    arguments = f"lib = {_library(lib)}; pkgs = {packages}; configuration = {text}; home = {json.dumps(home)};"
    return f"import {HERE}/evaluate.nix {{ {arguments} }}"


def _library(lib: Path | None) -> str:
    return f"import {lib or HERE / 'lib'}"
