"""Grants: what is offered, what they cover, and where they end."""

import pytest

from parachute.errors import InvalidInput
from parachute.permissions.models import Access, Grant


def offered(policy, tool: str, **fields: str) -> list[str]:
    return [grant.pattern for grant in policy.suggested_grants(tool, fields)]


def asking(world, *grants: tuple[str, str], **fields: object):
    return world.policy(
        trust_mode=False, grants=tuple(Grant(Access(access), pattern) for access, pattern in grants), **fields
    )


def test_offers_go_from_the_file_to_the_whole_vault(world) -> None:
    policy = asking(world)
    assert offered(policy, "Read", file_path="Projects/boat/plan.md") == [
        "Projects/boat/plan.md",
        "Projects/boat/*",
        "Projects/boat/**/*",
        "Projects/**/*",
        "**/*",
    ]
    assert offered(policy, "Read", file_path="notes.md") == ["notes.md", "*", "**/*"]
    assert offered(policy, "Grep", pattern="x", path="Projects/boat") == ["Projects/boat/**/*", "Projects/**/*", "**/*"]
    assert offered(policy, "Glob", pattern="**/*.md") == ["**/*"]
    assert [grant.access for grant in policy.suggested_grants("Write", {"file_path": "a.md", "content": ""})] == [
        Access.WRITE
    ] * 3


def test_beyond_vault_and_working_directory_nothing_is_offered_or_granted(world) -> None:
    policy = asking(world, ("read", "**/*"), ("read", "./**/*"))
    (world.vault / "out").symlink_to(world.user_home / "Parachute-other")
    for path in ("/etc/hosts", "../Parachute-other/x.md", "out/x.md", "Daily/../../x.md"):
        assert policy.decide("Read", {"file_path": path}).effect == "ask"
        assert offered(policy, "Read", file_path=path) == []


def test_a_working_directory_elsewhere_has_grants_of_its_own(world) -> None:
    project = world.user_home / "code"
    project.mkdir()
    policy = asking(world, working_directory=project)
    assert offered(policy, "Read", file_path="src/a.py") == ["./src/a.py", "./src/*", "./src/**/*", "./**/*"]
    policy = asking(world, ("read", "./**/*"), working_directory=project)
    assert policy.decide("Read", {"file_path": "src/a.py"}).effect == "allow"
    assert policy.decide("Read", {"file_path": str(world.vault / "notes.md")}).effect == "ask"
    policy = asking(world, ("read", "**/*"), working_directory=project)
    assert policy.decide("Read", {"file_path": "src/a.py"}).effect == "ask"


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
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
    ],
)
def test_what_a_pattern_covers(world, pattern: str, path: str, covered: bool) -> None:
    decision = asking(world, ("read", pattern)).decide("Read", {"file_path": path})
    assert decision.effect == ("allow" if covered else "ask")


def test_writing_includes_reading_and_not_the_other_way(world) -> None:
    edit = {"file_path": "notes.md", "old_string": "a", "new_string": "b"}
    assert asking(world, ("read", "notes.md")).decide("Edit", edit).effect == "ask"
    policy = asking(world, ("write", "notes.md"))
    assert policy.decide("Edit", edit).effect == "allow"
    assert policy.decide("Read", {"file_path": "notes.md"}).effect == "allow"
    assert policy.decide("Bash", {"command": "cat notes.md"}).effect == "ask"


def test_searching_a_folder_needs_all_of_it(world) -> None:
    search = {"pattern": "x", "path": "Daily"}
    assert asking(world, ("read", "Daily/*")).decide("Grep", search).effect == "ask"
    assert asking(world, ("read", "Daily/**/*")).decide("Grep", search).effect == "allow"
    assert asking(world, ("read", "notes.md")).decide("Grep", {"pattern": "x", "path": "notes.md"}).effect == "allow"
    policy = asking(world, ("read", "Daily/**/*"))
    assert policy.decide("Glob", {"pattern": "Daily/**/*.md"}).effect == "allow"
    assert policy.decide("Glob", {"pattern": "Daily/../**/*.md"}).effect == "ask"
    assert policy.decide("Glob", {"pattern": "Daily/*/../../x"}).effect == "deny"
    assert policy.decide("Glob", {"pattern": "/etc/*"}).effect == "ask"


def test_grants_never_open_the_deny_list(world) -> None:
    policy = asking(world, ("write", "**/*"), ("write", ".env"), ("run", "cat"), ("run", "sudo ls"))
    assert policy.decide("Read", {"file_path": ".env"}).effect == "deny"
    assert policy.decide("Bash", {"command": "cat .env"}).effect == "deny"
    assert policy.decide("Bash", {"command": "sudo ls"}).effect == "deny"
    assert policy.suggested_grants("Read", {"file_path": ".env"}) == ()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git status --short", ["git status --short", "git status", "git"]),
        ("/usr/bin/git status", ["/usr/bin/git status", "git status", "git"]),
        ("ls -la", ["ls -la", "ls"]),
        ("./run.sh now", ["./run.sh now", "./run.sh"]),
        ("cd Daily && git log", ["cd Daily && git log", "git log", "git"]),
        ("make && make install", ["make && make install"]),
    ],
)
def test_offers_for_commands(world, line: str, expected: list[str]) -> None:
    found = offered(asking(world), "Bash", command=line)
    assert found[: len(expected)] == expected or (line == "./run.sh now" and found[-1] == "./run.sh")


@pytest.mark.parametrize(
    ("grant", "line", "covered"),
    [
        ("git status", "git status -s", True),
        ("git status", "env LANG=C git status", True),
        ("git status", "cd Daily && git status", True),
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
        ("git", "git push", True),
        ("git", "gitk", False),
        ("make && make install", "make && make install", True),
        ("make && make install", "make && make install && x", False),
        ("./run.sh", "./run.sh now", True),
        ("run.sh", "./run.sh now", False),
    ],
)
def test_what_a_command_grant_covers(world, grant: str, line: str, covered: bool) -> None:
    decision = asking(world, ("run", grant)).decide("Bash", {"command": line})
    assert decision.effect == ("allow" if covered else "ask")


def test_a_redirect_needs_the_file_as_well(world) -> None:
    policy = asking(world, ("run", "git log"), ("write", "Daily/*"))
    assert policy.decide("Bash", {"command": "git log > Daily/log.md"}).effect == "allow"
    assert policy.decide("Bash", {"command": "cd Daily && git log > log.md"}).effect == "allow"
    assert policy.decide("Bash", {"command": "git log > notes.md"}).effect == "ask"
    assert policy.decide("Bash", {"command": "git log > ~/.bashrc"}).effect == "ask"


def test_a_file_called_like_a_wildcard_gets_no_grant(world) -> None:
    assert offered(asking(world), "Read", file_path="Daily/*") == []
    assert offered(asking(world), "Read", file_path="**/*") == []


@pytest.mark.parametrize("pattern", ["", " ", "/etc/*", "../x", "a/../b", "a//b", "a/*/b", "**", "a\nb", "x" * 5000])
def test_a_grant_that_says_nothing_clear_is_an_error(pattern: str) -> None:
    with pytest.raises(InvalidInput):
        Grant(Access.READ, pattern)
    with pytest.raises(InvalidInput):
        Grant("everything", "notes.md")  # type: ignore[arg-type]
