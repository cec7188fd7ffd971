"""Paths: what is inside, what is secret, what cannot be judged."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parachute.security.permissions.grants import Grant
from parachute.security.permissions.paths import Places, UnsafePath, could_be_secret, is_secret, real_path

from .conftest import World


def inside(path: str | Path, world: World) -> bool:
    """Return whether a grant for the whole vault opens the path."""
    policy = world.policy(trust_mode=False, grants=(Grant.parse("Read(/**)"),))
    return policy.decide("Read", {"file_path": str(path)}).effect == "allow"


SECRET = [
    *(".env", ".ENV", ".env.local", ".env.production", ".env.example.local", ".Env.Backup", ".env~"),
    *("credentials.json", "Credentials.JSON", ".credentials.json", "id_rsa", "id_ed25519", "server.pem"),
    *("server.KEY", "x.p12", "x.pfx", ".ssh", ".SSH", ".gnupg", ".aws", ".netrc", ".npmrc", ".pypirc"),
    *(".parachute", ".\u200benv", "\uff0eenv", ".\u017fsh"),
]
PLAIN = [
    *(".env.example", ".env.sample", ".env.template", ".ENV.Example", "env", ".environment", "id_rsa.pub"),
    *("keys.md", "credentials.md", "monkey", "pem", "Parachute", "process.env.HOME"),
]


def test_secret_names() -> None:
    for name in SECRET:
        assert is_secret(name)


def test_plain_names() -> None:
    for name in PLAIN:
        assert not is_secret(name)


def test_patterns_that_aim_at_secrets() -> None:
    for pattern in (".e*", ".en?", "cred*", "id_r*", ".s[s]h", ".para*", "[.]env*"):
        assert could_be_secret(pattern)


def test_patterns_that_aim_at_nothing_in_particular() -> None:
    for pattern in ("*", "**", ".*", "*.md", "c*", "notes*", "[a-z]*", ".g*"):
        assert not could_be_secret(pattern) or pattern == ".g*"


def test_a_folder_whose_name_begins_like_the_vault_is_not_inside(world: World) -> None:
    assert not inside("../Parachute-other/", world)
    assert not inside(world.user_home / "Parachute-other" / "x.md", world)
    assert inside("Daily/../notes.md", world)
    assert inside(world.vault / "", world)


def test_links_count_by_where_they_lead(world: World) -> None:
    (world.vault / "out").symlink_to(world.user_home)
    (world.vault / "nowhere").symlink_to(world.user_home / "not-yet" / "there")
    (world.user_home / "in").symlink_to(world.vault / "Daily")
    assert not inside("out/x", world)
    assert not inside("out/Parachute/../x", world)
    assert not inside("nowhere", world), "writing through a link that points nowhere creates the file out there"
    assert inside(world.user_home / "in" / "new" / "file.md", world)
    assert not inside(world.user_home / "in" / ".." / ".." / "x", world)


def test_a_path_that_does_not_exist_yet_keeps_its_letters(world: World) -> None:
    assert real_path(world.vault / "a" / "b" / ".." / "c.md") == str(world.vault / "a" / "c.md")


@pytest.mark.parametrize("tail", ["", "/below", "/../notes.md"])
def test_a_loop_of_links_is_refused(world: World, tail: str) -> None:
    (world.vault / "one").symlink_to("two")
    (world.vault / "two").symlink_to("one")
    with pytest.raises(UnsafePath):
        real_path(f"{world.vault}/one{tail}")
    assert not inside(f"one{tail}", world)
    assert not inside(f"missing/../one{tail}", world) or tail == "/../notes.md"


def test_what_cannot_be_a_path_is_refused(world: World) -> None:
    for path in ("", "a\0b", "a\nb", "a\x1bb", "a\x7fb", "a\ud800b", "x" * 5000):
        with pytest.raises(UnsafePath):
            real_path(path)
        assert world.policy().decide("Read", {"file_path": path}).effect == "deny"


def test_the_deny_list_holds_in_every_file_tool(world: World) -> None:
    (world.vault / "link-to-secret").symlink_to(".env")
    (world.vault / "link-to-home").symlink_to(world.home)
    policy = world.policy()
    for path in (
        ".env",
        "./.env",
        "Daily/../.env",
        ".env/../notes.md",
        "Projects/.ENV",
        ".parachute/.token",
        "../.parachute/keys.yaml",
        "~/.ssh/id_rsa",
        "/etc/ssl/private/x.pem",
        "/proc/self/environ",
        "link-to-secret",
        "link-to-home/keys.yaml",
    ):
        for tool, fields in (
            ("Read", {"file_path": path}),
            ("Write", {"file_path": path, "content": "x"}),
            ("Grep", {"pattern": "x", "path": path}),
        ):
            decision = policy.decide(tool, fields)
            assert (decision.effect, decision.rule) == ("deny", "deny-list"), path


def test_other_paths_stay_open_in_trust_mode(world: World) -> None:
    for path in ("notes.md", ".env.example", "Daily/new/file.md", "/etc/hosts", "id_rsa.pub"):
        assert world.policy().decide("Read", {"file_path": path}).effect == "allow"


def test_a_trust_folder_of_another_name_is_closed_too(world: World) -> None:
    home = world.user_home / "trust"
    home.mkdir()
    (home / "keys.yaml").write_text("SECRET")
    (world.vault / "way").symlink_to(home)
    policy = world.policy(home=home)
    assert policy.decide("Read", {"file_path": str(home / "keys.yaml")}).effect == "deny"
    assert policy.decide("Read", {"file_path": "way/keys.yaml"}).effect == "deny"
    assert policy.decide("Bash", {"command": "cat ../trus*/keys.yaml"}).effect == "deny"
    assert policy.decide("Bash", {"command": f"cat /{home}/keys.yaml"}).effect == "deny"


def test_paths_in_a_sandbox_follow_its_mounts(world: World) -> None:
    (world.vault / "Projects" / "boat" / "harmless.txt").symlink_to("../../.env")
    scratch = world.home / "scratch" / "s1"
    scratch.mkdir(parents=True)
    policy = world.policy(
        "sandboxed", working_directory=Path("/scratch/s1"), mapped_roots={"/vault": world.vault, "/scratch/s1": scratch}
    )
    for path in ("/vault/.env", "/vault/Projects/boat/harmless.txt", "/vault/Daily/../.env", "/anywhere/.ssh/config"):
        assert policy.decide("Read", {"file_path": path}).effect == "deny"
    # Its processes are its own, those of the machine are not in sight.
    for path in ("/vault/notes.md", "draft.md", "/usr/lib/x", "/scratch/s1/new/file.txt", "/proc/1/environ"):
        assert policy.decide("Read", {"file_path": path}).effect == "allow"


def test_protected_are_also_the_folders_around(world: World) -> None:
    places = Places(world.vault, world.home, world.user_home)
    assert places.is_protected(str(world.user_home.parent))
    assert places.is_protected(f"{world.vault}/Daily/..")
    assert not places.is_protected(str(world.vault / "Daily"))


_PARTS = st.sampled_from(
    [
        *("..", ".", "", "~", "Daily", "DAILY", "missing", "out", "in", "loop", "notes.md"),
        *("Parachute", "Parachute-other", "ada", "\u212b"),
    ]
)


@given(parts=st.lists(_PARTS, max_size=9), absolute=st.booleans())
def test_nothing_outside_is_ever_inside(shared_world: World, parts: list[str], absolute: bool) -> None:
    vault = shared_world.vault
    for name, target in (("out", shared_world.user_home), ("loop", vault / "loop"), ("in", vault / "Daily")):
        if not (vault / name).is_symlink():
            (vault / name).symlink_to(target)
    path = (f"{vault}/" if absolute else "") + "/".join(parts)
    if not inside(path, shared_world):
        return
    # What the kernel reaches by this path, walking it part by part, is below the vault.
    try:
        descriptor = os.open(f"{vault}/{path.removeprefix(str(vault))}", os.O_PATH)
    except OSError:
        assert Path(os.path.realpath(f"{vault}/{path.removeprefix(str(vault))}")).is_relative_to(vault)
        return
    try:
        reached = Path(f"/proc/self/fd/{descriptor}").readlink()
        assert reached == vault or vault in reached.parents
    finally:
        os.close(descriptor)
