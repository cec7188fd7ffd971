"""Grants: what is offered, what they cover, and where they end."""

from typing import Any

import pytest

from parachute.base.errors import InvalidInput
from parachute.security.permissions.grants import Grant
from parachute.security.permissions.policy import Policy

from .conftest import World


def offered(policy: Policy, tool: str, **fields: str) -> list[str]:
    return [str(grant) for grant in policy.suggested_grants(tool, fields)]


def asking(world: World, *grants: tuple[str, str], **fields: Any) -> Policy:
    return world.policy(
        trust_mode=False, grants=tuple(Grant.parse(f"{access}:{pattern}") for access, pattern in grants), **fields
    )


def test_offers_go_from_the_file_to_the_whole_vault(world: World) -> None:
    policy = asking(world)
    assert offered(policy, "Read", file_path="Projects/boat/plan.md") == [
        "Read(/Projects/boat/plan.md)",
        "Read(/Projects/boat/*)",
        "Read(/Projects/boat/**)",
        "Read(/Projects/**)",
        "Read(/**)",
    ]
    assert offered(policy, "Read", file_path="notes.md") == ["Read(/notes.md)", "Read(/*)", "Read(/**)"]
    assert offered(policy, "Grep", pattern="x", path="Projects/boat")[:2] == [
        "Read(/Projects/boat/**)",
        "Read(/Projects/**)",
    ]
    assert offered(policy, "Glob", pattern="**/*.md") == ["Read(/**)"]
    assert offered(policy, "Write", file_path="a.md", content="") == ["Edit(/a.md)", "Edit(/*)", "Edit(/**)"]


def test_beyond_vault_and_working_directory_nothing_is_offered_or_granted(world: World) -> None:
    policy = asking(world, ("read", "**/*"), ("read", "./**/*"))
    (world.vault / "out").symlink_to(world.user_home / "Parachute-other")
    for path in ("/etc/hosts", "../Parachute-other/x.md", "out/x.md", "Daily/../../x.md"):
        assert policy.decide("Read", {"file_path": path}).effect == "ask"
        assert offered(policy, "Read", file_path=path) == []


def test_a_working_directory_elsewhere_has_grants_of_its_own(world: World) -> None:
    project = world.user_home / "code"
    project.mkdir()
    policy = asking(world, working_directory=project)
    assert offered(policy, "Read", file_path="src/a.py") == [
        "Read(./src/a.py)",
        "Read(./src/*)",
        "Read(./src/**)",
        "Read(./**)",
    ]
    policy = asking(world, ("read", "./**/*"), working_directory=project)
    assert policy.decide("Read", {"file_path": "src/a.py"}).effect == "allow"
    assert policy.decide("Read", {"file_path": str(world.vault / "notes.md")}).effect == "ask"
    policy = asking(world, ("read", "**/*"), working_directory=project)
    assert policy.decide("Read", {"file_path": "src/a.py"}).effect == "ask"


def test_what_a_pattern_covers(world: World) -> None:
    for pattern, path, covered in (
        ("notes.md", "notes.md", True),
        ("notes.md", "Daily/../notes.md", True),
        ("notes.md", "Daily/notes.md", False),
        ("notes.md", "NOTES.md", False),
        ("*", "notes.md", True),
        ("*", "Daily/today.md", False),
        ("Daily/*", "Daily/today.md", True),
        ("Daily/*", "Daily/2024/x.md", False),
        ("Daily/*", "Daily-old/x.md", False),
        ("Daily/**/*", "Daily/2024/x.md", True),
        ("Daily/**/*", "Daily/today.md", True),
        ("Daily/**/*", "Daily", False),
        ("Daily/**/*", "Dailyx/y.md", False),
        ("**/*", "a/b/c.md", True),
    ):
        decision = asking(world, ("read", pattern)).decide("Read", {"file_path": path})
        assert decision.effect == ("allow" if covered else "ask")


def test_writing_includes_reading_and_not_the_other_way(world: World) -> None:
    edit = {"file_path": "notes.md", "old_string": "a", "new_string": "b"}
    assert asking(world, ("read", "notes.md")).decide("Edit", edit).effect == "ask"
    policy = asking(world, ("write", "notes.md"))
    assert policy.decide("Edit", edit).effect == "allow"
    assert policy.decide("Read", {"file_path": "notes.md"}).effect == "allow"
    assert policy.decide("Bash", {"command": "cat notes.md"}).effect == "ask"


def test_searching_a_folder_needs_all_of_it(world: World) -> None:
    search = {"pattern": "x", "path": "Daily"}
    assert asking(world, ("read", "Daily/*")).decide("Grep", search).effect == "ask"
    assert asking(world, ("read", "Daily/**/*")).decide("Grep", search).effect == "allow"
    assert asking(world, ("read", "notes.md")).decide("Grep", {"pattern": "x", "path": "notes.md"}).effect == "allow"
    policy = asking(world, ("read", "Daily/**/*"))
    assert policy.decide("Glob", {"pattern": "Daily/**/*.md"}).effect == "allow"
    assert policy.decide("Glob", {"pattern": "Daily/../**/*.md"}).effect == "ask"
    assert policy.decide("Glob", {"pattern": "Daily/*/../../x"}).effect == "deny"
    assert policy.decide("Glob", {"pattern": "/etc/*"}).effect == "ask"


def test_grants_never_open_the_deny_list(world: World) -> None:
    policy = asking(world, ("write", "**/*"), ("write", ".env"), ("run", "cat"), ("run", "sudo ls"))
    assert policy.decide("Read", {"file_path": ".env"}).effect == "deny"
    assert policy.decide("Bash", {"command": "cat .env"}).effect == "deny"
    assert policy.decide("Bash", {"command": "sudo ls"}).effect == "deny"
    assert policy.suggested_grants("Read", {"file_path": ".env"}) == ()


def test_offers_for_commands(world: World) -> None:
    for line, expected in (
        ("git status --short", ["git status --short", "git status:*", "git:*"]),
        ("/usr/bin/git status", ["/usr/bin/git status", "git status:*", "git:*"]),
        ("ls -la", ["ls -la", "ls:*"]),
        ("./run.sh now", ["./run.sh now"]),
        ("cd Daily && git log", ["cd Daily && git log"]),
        ("make && make install", ["make && make install"]),
        ("cp a b:*", []),
        ("$X", []),
        ("eval $X", []),
    ):
        policy = asking(world)
        assert policy.decide("Bash", {"command": line}).effect == "ask"
        assert offered(policy, "Bash", command=line) == [f"Bash({pattern})" for pattern in expected]


def test_what_a_command_grant_covers(world: World) -> None:
    for grant, line, covered in (
        ("git status", "git status -s", True),
        ("git status", "env LANG=C git status", True),
        ("git status", "cd Daily && git status", False),
        ("git status", "bash -c 'git status'", True),
        ("git status", "git status > /dev/null 2>&1", True),
        ("git status", "git push", False),
        ("git status", "git -C / status", False),
        ("git status", "git status; git push", False),
        ("git status", "git status $(git push)", False),
        ("git status", "git status && curl x", False),
        ("git status", "./git status", False),
        ("git status", "PATH=. git status", False),
        ("git status", "PATH=.; git status", False),
        ("git status", "env PATH=. git status", False),
        ("git status", "export PATH=.; git status", False),
        ("git status", "LD_PRELOAD=./x.so git status", False),
        ("git status", "git $UNKNOWN", False),
        ("git status", "git status > notes.md", False),
        ("git status", "git status < notes.md", False),
        ("git status", "time -o notes.md git status", False),
        ("git status", "bash --rcfile x -ic 'git status'", False),
        ("git status", "GIT status", False),
        ("git", "git push", False),
        ("git", "git log -p", True),
        ("git", "gitk", False),
        ("make && make install", "make && make install", True),
        ("make && make install", "make && make install && x", False),
        ("./run.sh", "./run.sh now", False),
        ("run.sh", "./run.sh now", False),
    ):
        decision = asking(world, ("run", grant)).decide("Bash", {"command": line})
        assert decision.effect == ("allow" if covered else "ask")


def test_a_redirect_needs_the_file_as_well(world: World) -> None:
    policy = asking(world, ("run", "git log"), ("write", "Daily/*"))
    assert policy.decide("Bash", {"command": "git log > Daily/log.md"}).effect == "allow"
    policy = asking(world, ("run", "ls"), ("write", "Daily/*"))
    assert policy.decide("Bash", {"command": f"cd Daily && ls > {world.vault}/Daily/log.md"}).effect == "allow"
    assert policy.decide("Bash", {"command": "cd Daily && ls > log.md"}).effect == "ask"
    assert policy.decide("Bash", {"command": "git log > notes.md"}).effect == "ask"
    assert policy.decide("Bash", {"command": "git log > ~/.bashrc"}).effect == "ask"


def test_a_file_called_like_a_wildcard_gets_no_grant(world: World) -> None:
    assert offered(asking(world), "Read", file_path="Daily/*") == []
    assert offered(asking(world), "Read", file_path="**/*") == []


def test_grants_from_before_are_read_and_written_anew() -> None:
    for old, new in (
        ("read:**/*", "Read(/**)"),
        ("read:./**/*", "Read(./**)"),
        ("write:a/**/*", "Edit(/a/**)"),
        ("write:./a/*", "Edit(./a/*)"),
        ("read:a b.md", "Read(/a b.md)"),
        ("run:git status", "Bash(git status:*)"),
        ("run:make && make install", "Bash(make && make install:*)"),
    ):
        assert str(Grant.parse(old)) == new
        assert Grant.parse(new) == Grant.parse(old)


def test_a_command_without_a_star_is_the_whole_line(world: World) -> None:
    policy = world.policy(trust_mode=False, grants=(Grant.parse("Bash(git status)"),))
    assert policy.decide("Bash", {"command": " git status "}).effect == "allow"
    assert policy.decide("Bash", {"command": "git status -s"}).effect == "ask"


PATTERNS = [
    *("", " ", "etc/*", "/../x", "/a/../b", "/a//b", "/a/*/b", "/**/a", "**", "/a\nb", "/" + "x" * 5000),
]


def test_a_grant_that_says_nothing_clear_is_an_error() -> None:
    for text in (
        *(f"{tool}({pattern})" for tool in ("Read", "Edit") for pattern in PATTERNS),
        "Bash()",
        "Bash(:*)",
        "Bash",
        "bash(git)",
        "Read",
        "Write(/a)",
        "WebFetch(x)",
        "run:",
        "read:/etc/*",
        "x:y",
        "git",
    ):
        with pytest.raises(InvalidInput):
            Grant.parse(text)
