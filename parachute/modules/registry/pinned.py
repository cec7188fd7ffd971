"""`python -m parachute.modules.registry.pinned`: a declaration with the hashes of modules that cannot change any more.

Whoever builds a system has them in a store already, by address, and what is read here is what will be installed: the computer
compares it as ever.
"""

import json
import sys
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.modules.registry.check import ModuleInvalid, check_folder


def with_hashes(declaration: dict[str, Any]) -> dict[str, Any]:
    """The declaration with the hash of each folder that has none; error: ModuleInvalid for one that could not be installed."""
    return {
        **declaration,
        "modules": {name: _with_hash(name, module) for name, module in declaration["modules"].items()},
    }


def _with_hash(name: str, module: dict[str, Any]) -> dict[str, Any]:
    source = module["source"]
    if module["hash"] is not None or not source.startswith("/"):
        return module
    report = check_folder(Path(source))
    if report.problems:
        raise ModuleInvalid(f"modules.{name}: {' '.join(report.problems)}")
    if report.name != name:
        raise ModuleInvalid(f"modules.{name}: {source} holds the module {report.name}.")
    return {**module, "hash": report.hash}


def main() -> int:
    """Read the declaration at standard input, and write it with hashes."""
    try:
        json.dump(with_hashes(json.load(sys.stdin)), sys.stdout)
    except ParachuteError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
