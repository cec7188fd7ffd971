"""A computer in a network without any route: what is written is found by what it means (`python -m tests.official.without_network`)."""

import json
import socket
import sys
from pathlib import Path
from typing import Any

from tests.chat.imports.exports import node, tree
from tests.files.documents.writing import docx, pdf
from tests.modules.runtime.module_computer import ModuleComputer

TAX = "The attorney sent an invoice that is too expensive."
KEVIN = "# Kevin Nguyen\n\nKeeps three ships in the harbour and recommends which one to buy.\n"
OTHERS = {
    "maria": "# Maria Rossi\n\nBakes sourdough in a stone oven.\n",
    "ottilie": "# Ottilie Brandt\n\nRepairs church organs and plays them on Sundays.\n",
    "regen": "# Regen Hub\n\nA house for workshops about gardens.\n",
}


def check_no_route() -> None:
    """See that nothing outside of this machine can be reached. Error: AssertionError."""
    with socket.socket() as outside:
        try:
            outside.connect(("192.0.2.1", 443))
        except OSError:
            pass
        else:
            raise AssertionError("There is a network here.")


def main() -> None:
    """Exit code 0 if everything holds."""
    check_no_route()
    with ModuleComputer(settings={"meaning": {"enabled": True}}) as house:
        assert house.command("setup", "--yes").returncode == 0
        people = house.vault / "Brain/entities/people"
        people.mkdir(parents=True, exist_ok=True)
        for name, text in {"kevin": KEVIN, **OTHERS}.items():
            (people / f"{name}.md").write_text(text)
        found = house.wait_until(lambda: _first(house), "the question finds Kevin", 120)
        assert (found["name"], found["found_by"]) == ("Kevin Nguyen", "meaning"), found
        assert (house.home.root / "meaning/index.db").stat().st_mode & 0o077 == 0
        assert not list(Path(house.home.root / "meaning").glob("**/making-*"))
        said = house.command("brain", "search", "who", "advises", "us", "on", "boats").stdout
        assert "Kevin Nguyen (by meaning)" in said, said
        assert house.command("daily", "add", "The puppy had eaten chocolate and had to see the vet.").returncode == 0
        _wait(house, "daily", "the puppy")
        found = _wait(house, "files", "Kevin's file")
        assert found[0]["path"] == "Brain/entities/people/kevin.md", found
        _documents(house)
        export = house.folder / "conversations.json"
        export.write_text(json.dumps([tree(node("root", None), node("ask", "root", "user", TAX), title="Money")]))
        assert house.command("import", "chatgpt", str(export)).returncode == 0
        (found,) = _wait(house, "sessions", "the accountant")
        assert (found["title"], found["found_by"]) == ("Money", "meaning")
        facts = house.command("status").stdout
        assert "everything is read" in facts, facts


def _documents(house: ModuleComputer) -> None:
    """See that a PDF file and a DOCX file answer with the page."""
    (house.vault / "boat.pdf").write_bytes(pdf(["One", "Two", "Ottokar recommends a sloop."]))
    (house.vault / "offer.docx").write_bytes(docx([["One"], ["Ottokar sells the sloop."]]))

    def found() -> str | None:
        said = house.command("files", "search", "ottokar", "sloop").stdout
        return said if "boat.pdf" in said and "offer.docx" in said else None

    said = house.wait_until(found, "both documents are read", 120)
    assert "boat.pdf, page 3" in said, said
    assert "offer.docx, page 2" in said, said


def _wait(house: ModuleComputer, group: str, what: str) -> Any:
    """Wait for the hits by meaning of a question, in the journal or in conversations."""
    question = {"daily": "sick dog", "sessions": "paying for a lawyer", "files": "who advises us on boats"}[group]

    def found() -> Any:
        answer = json.loads(house.command(group, "search", question, "--json").stdout or "{}")
        results = answer.get({"daily": "entries", "sessions": "sessions"}.get(group, "results"), [])
        return [each for each in results if each["found_by"] == "meaning"]

    return house.wait_until(found, f"{question!r} finds {what}", 120)


def _first(house: ModuleComputer) -> Any:
    done = house.command("brain", "search", "who advises us on boats", "--json")
    results = json.loads(done.stdout)["results"] if done.stdout else []
    return next((each for each in results if each["name"] == "Kevin Nguyen"), None)


if __name__ == "__main__":
    main()
    sys.exit(0)
