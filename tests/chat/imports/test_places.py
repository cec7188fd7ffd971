"""Places in the vault for files that an import brings: what the request allows, plain names, and nothing that steers."""

import pytest

from parachute.chat.imports.models import Import, LeftOut
from parachute.modules.runtime.requests import Asking
from parachute.security.keys.models import Caller


def begun(*, by_owner: bool = True, name: str = "notes", **query: str) -> Import:
    """An import that a request has begun."""
    return Import.begun("01234567", name, Asking("imports", Caller("key", "a phone"), by_owner, query))


def left_out(found: Import, *parts: str) -> str:
    """The reason why a file stays out."""
    with pytest.raises(LeftOut) as caught:
        found.place(parts)
    return caught.value.outcome


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        (["Good.md"], "Imported/notes/Good.md"),
        (["Tea / coffee", "leaves.md"], "Imported/notes/Tea - coffee/leaves.md"),
        (["Bad\u202e\x07name.md"], "Imported/notes/Bad--name.md"),
        (["  .hidden\u200b .md"], "Imported/notes/hidden- .md"),
        (["..", "up.md"], "Imported/notes/unnamed/up.md"),
        (["x" * 300 + ".md"], f"Imported/notes/{'x' * 197}.md"),
    ],
)
def test_names_are_plain(parts: list[str], path: str) -> None:
    assert begun().place(parts) == path


@pytest.mark.parametrize("name", ["../up", ".parachute", "a/b", "\u202e"])
def test_the_folder_of_an_import_is_one_below_imported(name: str) -> None:
    above, folder, _ = begun(name=name).place(["x.md"]).split("/")
    assert above == "Imported"
    assert not folder.startswith(".")


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (["CLAUDE.md"], "agent_instructions"),
        (["w", "CLAUDE.MD"], "agent_instructions"),
        (["a", "AGENTS.md"], "agent_instructions"),
        (["a", "HEAD"], "unsafe_names"),
        (["opencode.json"], "unsafe_names"),
        ([], "unsafe_names"),
        ([""], "unsafe_names"),
    ],
)
def test_what_agents_and_programs_obey_stays_out(parts: list[str], reason: str) -> None:
    assert left_out(begun(contexts="true"), *parts) == reason


def test_files_need_the_owner() -> None:
    assert left_out(begun(by_owner=False), "Good.md") == "files_of_others"
    assert left_out(begun(by_owner=False, kind="brain", contexts="true"), "AGENTS.md") == "contexts"


def test_an_archive_of_the_owners_own_is_named_by_the_request() -> None:
    own = begun(kind="brain")
    assert own.place(["Daily", "journals", "2024-01-15.md"]) == "Daily/journals/2024-01-15.md"
    assert left_out(own, "Projects", "x.md") == "unsafe_names"
    assert left_out(own, "Daily", ".agents", "x.md") == "unsafe_names"
    assert left_out(own, "Brain", "a\u202eb.md") == "unsafe_names"
    assert left_out(own, "AGENTS.md") == "contexts"
    assert begun(kind="brain", contexts="true").place(["AGENTS.md"]) == "AGENTS.md"
    assert begun().place(["Daily", "x.md"]) == "Imported/notes/Daily/x.md"
    assert begun(dry_run="true").is_dry
