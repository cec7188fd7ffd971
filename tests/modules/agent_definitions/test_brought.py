"""Agents that a module brings: which files are some, and what keeps them from running."""

import os
from pathlib import Path

import pytest

from parachute.modules.agent_definitions.brought import MOST, agents_among, brought_agents, problems_of
from parachute.modules.agent_definitions.definition import FILE_LIMIT
from parachute.modules.trees.hashing import read_tree
from tests.support.errors import raises

GOOD = """\
---
displayName: Evening page
schedule:
  enabled: true
  time: "21:30"
output: Garden/reflections/{date}.md
---
Look back.
"""
WRITE = ("Garden/**",)


def write(folder: Path, name: str, content: str | bytes = GOOD) -> Path:
    path = folder / "agents" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def problems(folder: Path, can_suggest: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the problems of agents as they are found when a module is installed."""
    tree = read_tree(folder, wanted=lambda path: FILE_LIMIT + 1)
    return problems_of(agents_among(tree.texts, "garden"), tree.files, WRITE, can_suggest)


def names(folder: Path) -> list[str]:
    return [agent.name for agent in brought_agents(folder, "garden")]


def test_files_with_a_schedule_are_agents_and_others_are_left_alone(tmp_path: Path) -> None:
    assert brought_agents(tmp_path, "garden") == ()
    write(tmp_path, "page.md")
    write(tmp_path, "prompt.md", "You are kind.\nschedule: no\n")
    write(tmp_path, "other.md", "---\nname: other\ndescription: Use when: always\n---\nDo it.\nschedule: x\n")
    write(tmp_path, "rule.md", "---\n\nA line above.\n")
    write(tmp_path, "binary.md", b"\xff\xfe")
    write(tmp_path, "page.txt")
    (tmp_path / "agents" / "folder.md").mkdir()
    (agent,) = brought_agents(tmp_path, "garden")
    assert agent.definition is not None
    assert (agent.path, agent.problem, str(agent.definition.at)) == ("agents/page.md", None, "21:30")
    assert problems(tmp_path) == ()


def test_no_link_is_followed_and_nothing_waits(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(GOOD)
    code = tmp_path / "code"
    write(tmp_path, "kept.md")
    (code / "agents").mkdir(parents=True)
    (code / "agents" / "link.md").symlink_to(outside)
    os.mkfifo(code / "agents" / "pipe.md")
    assert names(code) == []
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "agents").symlink_to(tmp_path / "agents")
    assert names(linked) == []
    with raises("path_leads_out"):
        problems(linked)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "page.md",
            GOOD.replace("21:30", "25:00"),
            "agents/page.md, line 5: schedule.time: '25:00' is no time of the day",
        ),
        (
            "page.md",
            GOOD.replace("enabled: true", "enabled: maybe"),
            "agents/page.md, line 4: schedule.enabled: expected",
        ),
        ("page.md", GOOD.replace("output: ", "output: [").replace("}.md", "}.md, ["), "This is not YAML"),
        ("page.md", "---\nschedule: x: y\n---\nDo it.\n", "agents/page.md, line 2: This is not YAML"),
        ("page.md", "---\nschedule: {time: 03:00}\nDo it.\n", "agents/page.md, line 1: The file does not begin"),
        ("page.md", GOOD.partition("Look")[0], "agents/page.md, line 1: Below the second ---"),
        (
            "page.md",
            GOOD.replace("Garden/", "Diary/"),
            "agents/page.md, line 6: output: Diary/reflections/{date}.md is",
        ),
        ("page.md", GOOD + "x" * 65536, "agents/page.md, line 1: The file is longer than 65,536 bytes."),
        ("page.md", GOOD.encode() + b"\xff", "agents/page.md, line 9: The file is not UTF-8."),
        ("status.md", GOOD, "agents/status.md, line 1: An agent cannot be called 'status'"),
        ("my page.md", GOOD, "agents/my page.md, line 1: An agent cannot be called 'my page'"),
    ],
)
def test_what_could_never_run_is_a_problem_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    write(tmp_path, name, content)
    write(tmp_path, "zz.md")
    (problem,) = problems(tmp_path)
    assert said in problem
    # A module that runs in place may have such a file nevertheless.
    runs = [agent.name for agent in brought_agents(tmp_path, "garden") if agent.definition]
    assert runs == (["page", "zz"] if "is not within" in problem else ["zz"])


def test_suggestions_beyond_the_manifest_are_a_problem_with_its_line(tmp_path: Path) -> None:
    write(tmp_path, "page.md", GOOD.replace("---\n", "---\ncan_suggest: [brain, chat]\n", 1))
    assert problems(tmp_path, ("brain", "chat")) == ()
    assert problems(tmp_path, ("brain",)) == (
        "agents/page.md, line 2: can_suggest: the agents of this module may not make suggestions for chat, but for: brain.",
    )


def test_the_number_of_files_is_limited(tmp_path: Path) -> None:
    for number in range(MOST):
        write(tmp_path, f"a{number:02}.md")
    assert len(names(tmp_path)) == MOST
    assert problems(tmp_path) == ()
    write(tmp_path, "b.md")
    assert len(names(tmp_path)) == MOST
    assert problems(tmp_path) == ("agents: there are more than 50 files in it, and no more are looked at.",)
