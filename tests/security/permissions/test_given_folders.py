"""A folder of the state directory that a direct session was given: its skills."""

from pathlib import Path

import pytest

from .conftest import World


@pytest.fixture
def given(world: World) -> Path:
    folder = world.home / "runtime-plugins" / "abc"
    (folder / "skills").mkdir(parents=True)
    (folder / "skills" / "table.csv").write_text("12")
    (folder / "skills" / "key").symlink_to(world.home / "keys.yaml")
    (folder.parent / "other").mkdir()
    return folder


def decisions(world: World, given: Path, path: str) -> set[str]:
    policy = world.policy(given=(given,))
    calls = (
        ("Read", {"file_path": path}),
        ("Bash", {"command": f"cat {path}"}),
        ("Bash", {"command": f"python3 '{path}'"}),
    )
    return {policy.decide(*call).effect for call in calls}


def test_its_files_are_read_and_run_and_never_written(world: World, given: Path) -> None:
    path = str(given / "skills" / "table.csv")
    assert decisions(world, given, path) == {"allow"}
    assert world.policy().decide("Read", {"file_path": path}).effect == "deny"
    for tool, fields in (
        ("Write", {"file_path": path, "content": "x"}),
        ("Edit", {"file_path": path, "old_string": "1", "new_string": "2"}),
    ):
        assert world.policy(given=(given,)).decide(tool, fields).effect == "deny"


@pytest.mark.parametrize(
    "path",
    [
        "../../keys.yaml",
        "skills/../../../keys.yaml",
        "skills/key",
        "skills/.env",
        "skills/id_rsa",
        "../other/x",
        "..",
        "../abcd/x",
    ],
)
def test_nothing_beside_it_is(world: World, given: Path, path: str) -> None:
    assert decisions(world, given, f"{given}/{path}") == {"deny"}
    policy = world.policy(given=(given,), working_directory=given)
    assert policy.decide("Read", {"file_path": path}).effect == "deny"


def test_a_sandboxed_session_has_none(world: World, given: Path) -> None:
    policy = world.policy("sandboxed", given=(given,))
    assert policy.decide("Read", {"file_path": str(given / "skills" / "table.csv")}).effect == "deny"
