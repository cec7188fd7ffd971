"""Files, names and links that somebody made to see what happens."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from module import BrainModule

from parachute.core.testing import Running, run

Write = Callable[[str, str | bytes], str]

CODE = """\
[[Kevin]]

``[[Kevin]] ` [[Kevin]]`` and `[[Kevin]]` [[Kevin]]

- a list
  ```sh
  # [[Kevin]]
  ```
````
```
[[Kevin]]
````

| a | b |
|---|---|
| [[Kevin\\|he]] | c |

~~~
[[Kevin]]
"""


async def _targets(brain: Running, id: str) -> set[str]:
    return {entry["name"] for entry in (await brain.get("/links", id=id)).json()["links"]}


async def test_a_rename_leaves_code_as_it_is(brain: Running, add: Any, write: Write) -> None:
    kevin = await add("person", "Kevin")
    path = write("topics/code.md", f"---\npara_id: para:brain:aaaaaaaaaaaa\n---\n{CODE}")
    await brain.emit("vault.changed", paths=[path])
    assert (await brain.put(f"/entities/{kevin['entity_id']}", {"name": "Bob"})).status == 200
    wanted = CODE.replace("[[Kevin]]\n\n``", "[[Bob]]\n\n``").replace("` [[Kevin]]\n", "` [[Bob]]\n")
    wanted = wanted.replace("[[Kevin\\|he]]", "[[Bob\\|he]]")
    assert (brain.vault / path).read_text() == f"---\npara_id: para:brain:aaaaaaaaaaaa\n---\n{wanted}"


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "```a\n" * 150_000,
        "\n".join("`" * length for length in range(1_300, 0, -1)),
        " ".join("`" * length for length in range(1_300, 0, -1)),
        "[[" * 400_000,
        "[[a#" * 200_000,
        "# " * 400_000,
        "---\nx: 'a\n\n b" + " " * 120_000 + "c'\n---\n",
    ],
    ids=["fences", "shorter", "ticks", "brackets", "headings", "titles", "spaces"],
)
async def test_no_text_takes_long(brain: Running, write: Write, text: str) -> None:
    path = write("topics/long.md", text)
    await brain.emit("vault.changed", paths=[path])
    id = (await brain.get("/resolve/long")).json().get("para_id") or (await brain.get("/entities")).json()["results"]
    assert id


async def test_a_comment_in_code_is_no_title_and_no_heading(brain: Running, write: Write) -> None:
    text = "```sh\n# install\n```\n\n## Setup\n```sh\n# run\n```\nDone.\n"
    path = write("topics/tool.md", text)
    await brain.emit("vault.changed", paths=[path])
    found = (await brain.get("/resolve/tool")).json()
    assert found["name"] == "tool"
    answer = await brain.put(f"/entities/{found['para_id']}", {"append": "More.", "section": "Setup"})
    assert answer.status == 200
    assert (brain.vault / path).read_text().endswith("# run\n```\nDone.\n\nMore.\n")
    await brain.put(f"/entities/{found['para_id']}", {"name": "Saw"})
    assert "```sh\n# install\n```" in (brain.vault / answer.json()["path"].replace("tool", "saw")).read_text()


async def test_links_lead_to_any_name_after_a_rename(brain: Running, add: Any, write: Write) -> None:
    for name in ("#1 Fan", "Ann, Bob", 'The "Hub"', "AC/DC", "C#", "a: b", "Zoë's"):
        kevin = await add("person", "Kevin")
        front = (
            'relationships:\n  - "[[Kevin]] - Friend" # him\n  - Kevin\nguests:\n  - "[[Kevin|he]]"\nhost: [[Kevin]]\n'
        )
        paths = [
            write("topics/body.md", "# Body\n\nSee [[Kevin]] and [[kevin|him]].\n"),
            write("topics/front.md", f"---\npara_id: para:brain:aaaaaaaaaaaa\n{front}---\n# Front\n"),
            write("topics/host.md", "---\nhost: '[[Kevin]]'\n---\n# Host\n"),
        ]
        await brain.emit("vault.changed", paths=paths)
        answer = await brain.put(f"/entities/{kevin['entity_id']}", {"name": name, "keep_alias": False})
        assert (answer.json()["name"], answer.json()["links_rewritten"]) == (name, 3)
        links = (await brain.get("/links", id=kevin["entity_id"])).json()["links"]
        assert {(entry["direction"], entry["name"]) for entry in links} == {
            ("in", "Body"),
            ("in", "Front"),
            ("in", "Host"),
        }
        assert (await brain.get("/problems")).json() == {"problems": []}
        for path in paths:
            assert "Kevin" not in (brain.vault / path).read_text()
        assert (await brain.post("/resolve", {"text": name})).json()["para_id"] == kevin["entity_id"]


async def test_a_folder_in_a_link_tells_two_of_one_name_apart(brain: Running, add: Any, write: Write) -> None:
    person, project = await add("person", "Kevin"), await add("project", "Kevin")
    path = write("topics/x.md", "# X\n\n[[projects/kevin]]\n")
    await brain.emit("vault.changed", paths=[path])
    assert await _targets(brain, project["entity_id"]) == {"X"}
    assert await _targets(brain, person["entity_id"]) == set()
    assert (await brain.post("/resolve", {"text": "[[projects/kevin]]"})).json()["para_id"] == project["entity_id"]
    mentioned = (await brain.post("/suggest", {"text": "See [[projects/kevin|it]]"})).json()["mentions"]
    assert [entry["para_id"] for entry in mentioned] == [project["entity_id"]]
    assert (await brain.put(f"/entities/{person['entity_id']}", {"name": "Bob"})).json()["links_rewritten"] == 0
    assert (await brain.put(f"/entities/{project['entity_id']}", {"name": "Kit"})).json()["links_rewritten"] == 1
    assert (brain.vault / path).read_text().endswith("[[projects/kit]]\n")
    assert await _targets(brain, project["entity_id"]) == {"X"}


async def test_a_rename_to_a_name_that_is_taken(brain: Running, add: Any, write: Write) -> None:
    other, person, project = await add("project", "Kevin"), await add("person", "Kevin"), await add("project", "Tea")
    assert (await brain.post("/entities", {"entity_type": "person", "data": {"name": "kevin"}})).status == 409
    before = {path: path.read_bytes() for path in brain.vault.rglob("*.md")}
    assert (await brain.put(f"/entities/{project['entity_id']}", {"name": "KEVIN"})).status == 409
    assert {path: path.read_bytes() for path in brain.vault.rglob("*.md")} == before
    # One of another type may have it; links lead to the one that they led to before.
    topic = await add("topic", "Maps")
    path = write("topics/x.md", "# X\n\n[[Maps]] [[Kevin]]\n")
    await brain.emit("vault.changed", paths=[path])
    assert (await brain.put(f"/entities/{topic['entity_id']}", {"name": "Kevin"})).status == 200
    assert await _targets(brain, topic["entity_id"]) == {"X"}
    assert await _targets(brain, other["entity_id"]) == {"X"}
    assert await _targets(brain, person["entity_id"]) == set()


async def test_a_rename_replaces_nothing(brain: Running, add: Any, tmp_path: Path) -> None:
    made = await add("person", "Kevin")
    folder = brain.vault / "Brain/entities/people"
    (folder / "bob.md").symlink_to(tmp_path / "elsewhere.md")
    (folder / "bob-2.md").mkdir()
    answer = await brain.put(f"/entities/{made['entity_id']}", {"name": "Bob"})
    assert answer.json()["path"] == "Brain/entities/people/bob-3.md"
    assert (folder / "bob.md").is_symlink()
    assert not (folder / "kevin.md").exists()


async def test_an_old_id_that_is_a_name_as_well(brain: Running, write: Write) -> None:
    paths = [
        write("people/a.md", "---\npara_id: kevin\n---\n# Kevin\n"),
        write("people/b.md", "---\npara_id: bob\n---\n# Ann\n"),
        write("people/c.md", "# Bob\n"),
    ]
    await brain.emit("vault.changed", paths=paths)
    assert (await brain.get("/entities/kevin")).json()["name"] == "Kevin"
    assert (await brain.get("/entities/bob")).json()["name"] == "Ann"
    assert (await brain.get("/resolve/Bob")).json()["name"] == "Bob"


async def test_a_sign_makes_another_name(brain: Running, add: Any) -> None:
    ids = {name: (await add("topic", name))["entity_id"] for name in ("C", "C#", "C++")}
    for name, id in ids.items():
        assert (await brain.post("/resolve", {"text": name})).json()["para_id"] == id
    assert (await brain.post("/entities", {"entity_type": "topic", "data": {"name": "D #"}})).status == 422


async def test_names_of_other_scripts_and_forms(brain: Running, add: Any) -> None:
    names = {"हिन्दी", "น้ำตาล", "שָׁלוֹם", "X̌ana"}
    for name in names:
        await add("topic", name)
    answer = (await brain.post("/suggest", {"text": "I read हिन्दी, น้ำตาล, שָׁלוֹם and X̌ana."})).json()
    assert {entry["name"] for entry in answer["mentions"]} == names
    await add("person", "José Núñez", "Baker.")
    assert (await brain.get("/search", q="Jose\u0301 Nu\u0301n\u0303ez baker")).json()["results"][0]["score"] > 0
    assert (await brain.get("/search", q="nu\u0301n\u0303")).json()["count"] == 1


async def test_a_file_name_that_is_no_text_is_a_problem(tmp_path: Path, write: Write, vault: Path) -> None:
    write("people/ann.md", "# Ann\n")
    odd = vault / "Brain/entities/people" / os.fsdecode(b"\xff.md")
    odd.write_text("# Odd\n")
    async with run(BrainModule, folder=tmp_path) as brain:
        assert (await brain.get("/status")).json()["entities"] == 1
        (problem,) = (await brain.get("/problems")).json()["problems"]
        assert problem["path"].startswith("Brain/entities/people/")
        await brain.emit("vault.changed", paths=["Brain/entities/people/\udcff.md"])
        assert [event["type"] for event in (await brain.post("/reload")).events()][-1] == "done"
    assert odd.read_text() == "# Odd\n"


async def test_a_copy_is_read_when_the_first_one_gets_another_id(brain: Running, add: Any) -> None:
    made = await add("person", "Kevin")
    copy, first = "Brain/entities/people/copy.md", brain.vault / made["path"]
    (brain.vault / copy).write_text(first.read_text().replace("# Kevin", "# Copy"))
    await brain.emit("vault.changed", paths=[copy])
    assert (await brain.get("/problems")).json()["problems"][0]["path"] == copy
    first.write_text("# Kevin\n")
    await brain.emit("vault.changed", paths=[made["path"]])
    assert (await brain.get("/problems")).json() == {"problems": []}
    assert (await brain.get(f"/entities/{made['entity_id']}")).json()["name"] == "Copy"
    assert (await brain.get("/status")).json()["entities"] == 2


async def test_changes_of_one_size_in_one_moment_are_all_seen(brain: Running, add: Any) -> None:
    made = await add("project", "Tea", status="state-00")
    for number in range(1, 60):
        status = f"state-{number:02}"
        answer = await brain.put(f"/entities/{made['entity_id']}", {"data": {"status": status}})
        assert answer.json()["status"] == status
