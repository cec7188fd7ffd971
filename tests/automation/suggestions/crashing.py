"""Kills Brain's process at every step of a suggestion: `python -m tests.automation.suggestions.crashing FOLDER ACTION PAYLOAD`.

Printed as JSON: what the module's next process says of the suggestion, and what the vault holds after it was approved again.
"""

import asyncio
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parachute.core import Module
from parachute.core.testing import run
from parachute.modules.host_process.approved_changes import ApprovedChanges
from tests.support.crashing import at_every_step

PARA_ID = "para:brain:aaaaaaaaaaaa"
FILE = f"---\npara_id: {PARA_ID}\ntype: person\n---\n\n# Kevin\n\nAdvisor.\n"


def main(brain: type[Module]) -> None:
    """Crash at the first change, then at the second, and so on, until it comes to its end."""
    folder, action, payload = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    vault = folder / "vault"
    kevin = vault / "Brain/entities/people/kevin.md"
    target = None if action == "create" else PARA_ID

    async def answer(document: dict[str, Any], begin: Callable[[], None] = lambda: None) -> Any:
        async with run(brain, folder=folder) as running:
            begin()
            return await ApprovedChanges(running.application).answer(document)

    async def change(identifier: str, begin: Callable[[], None] = lambda: None) -> Any:
        version = hashlib.sha256(FILE.encode()).hexdigest() if target else None
        document = {"id": identifier, "action": action, "target_id": target, "payload": payload}
        return await answer({**document, "expected_version": version}, begin)

    def prepare() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        kevin.parent.mkdir(parents=True)
        kevin.write_text(FILE)

    def look() -> dict[str, Any]:
        def files() -> dict[str, str]:
            found = (path for path in (vault / "Brain").rglob("[!.]*.*") if path.is_file())
            return {path.name: path.read_text() for path in found}

        before = files()
        said = asyncio.run(answer({"id": "a.0", "withdraw": True}))
        if said["applied"] is False:
            asyncio.run(change("a.1"))
        return {"applied": said["applied"], "before": before, "files": files()}

    json.dump(at_every_step(prepare, lambda begin: asyncio.run(change("a.0", begin)), look), sys.stdout)


if __name__ == "__main__":
    sys.path.insert(0, os.fspath(Path(__file__).parents[3] / "modules" / "brain"))
    from module import BrainModule

    main(BrainModule)
