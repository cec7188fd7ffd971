"""Contents of ChatGPT beside plain answers: canvas, Deep Research, sources, pictures, voice, several people."""

import json
from pathlib import Path
from typing import Any

from imports.reading.documents import replaced
from reading_once import Read, read

from tests.chat.imports.exports import node, tree


def talk(folder: Path, *nodes: dict[str, Any], **more: Any) -> Read:
    """Read one conversation."""
    found = read(folder, json.dumps([tree(*nodes, **more)]).encode())
    assert found.errors == []
    return found


def canvas(name: str, parent: str, call: str, time: int, /, **arguments: Any) -> list[dict[str, Any]]:
    """A call of the canvas, and what it answered."""
    called = node(name, parent, "assistant", json.dumps(arguments), recipient=f"canmore.{call}", time=time)
    return [called, node(f"{name}-done", name, "tool", "Done.")]


def test_a_canvas_stands_as_it_is_in_the_end_where_it_changed_last(tmp_path: Path) -> None:
    change = {"pattern": "pond in the north", "multiple": False, "replacement": "pond in the west"}
    found = talk(
        tmp_path,
        node("ask", None, text="Write a plan."),
        *canvas(
            "make", "ask", "create_textdoc", 1, name="plan", type="document", content="# Plan\n\nA pond in the north."
        ),
        node("more", "make-done", text="In the west, please."),
        *canvas("change", "more", "update_textdoc", 1_700_000_005, updates=[change]),
        node("end", "change-done", "assistant", "Done."),
    )
    assert found.said["A boat"] == [
        ("user", "Write a plan."),
        ("user", "In the west, please."),
        ("assistant", "[Document: plan]\n\n# Plan\n\nA pond in the west."),
        ("assistant", "Done."),
    ]
    assert found.conversations[0]["documents"] == 1
    assert [each["id"] for each in found.messages[0]] == ["ask", "more", "change", "end"]
    assert found.left_out == {"tool_calls": 2, "versions": 1}


def test_a_task_is_kept_as_text(tmp_path: Path) -> None:
    called = {
        "title": "Water",
        "prompt": "Tell me to water the roses.",
        "schedule": "BEGIN:VEVENT\nRRULE:FREQ=DAILY\nEND:VEVENT",
    }
    nodes = [
        node("a", None, text="Remind me daily."),
        node("b", "a", "assistant", json.dumps(called), recipient="automations.create"),
        node("c", "b", "tool", "Done."),
        node("d", "c", "assistant", "nothing", recipient="automations.create"),
        node("e", "d", "assistant", "I will."),
    ]
    found = talk(tmp_path, *nodes)
    assert [text for _, text in found.said["A boat"]] == [
        *("Remind me daily.", "[Task: Water]\n\nTell me to water the roses.\n\nRRULE:FREQ=DAILY", "I will.")
    ]
    assert found.left_out == {"tool_calls": 2}


def test_documents_of_code_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    def answered(name: str, parent: str, textdoc: str) -> dict[str, Any]:
        return node(name, parent, "tool", "Done.", metadata={"canvas": {"textdoc_id": textdoc}})

    one = canvas("one", "ask", "create_textdoc", 1, name="one", type="code/python", content="print(```1```)")[0]
    two = canvas("two", "one-done", "create_textdoc", 2, name="two", type="document", content="Two.")[0]
    whole = {"pattern": ".*", "multiple": True, "replacement": "print(3)"}
    change = canvas("three", "two-done", "update_textdoc", 3, updates=[whole])[0]
    nodes = [
        *(node("ask", None, text="?"), one, answered("one-done", "one", "t1"), two, answered("two-done", "two", "t2")),
        *(change, answered("end", "three", "t1")),
    ]
    found = talk(tmp_path, *nodes)
    assert [text for _, text in found.said["A boat"]] == [
        *("?", "[Document: two]\n\nTwo.", "[Document: one]\n\n```python\nprint(3)\n```")
    ]
    assert found.conversations[0]["documents"] == 2


def test_a_change_that_fits_nowhere_is_not_lost() -> None:
    assert replaced("a+b", r"a\+b", "c") == "c"
    assert replaced("aa", "a", "b") == "ba"
    assert replaced("aa", "a", "b", everywhere=True) == "bb"
    assert replaced("x", "(a+)+$", "new") == "x\n\n[Changed here: (a+)+$]\nnew"


def test_a_call_of_the_canvas_that_says_nothing_is_a_call(tmp_path: Path) -> None:
    nodes = [
        node("a", None, text="?"),
        *canvas("b", "a", "update_textdoc", 1, updates=[]),
        *canvas("c", "a", "else", 1),
    ]
    assert talk(tmp_path, *nodes, current="b-done").left_out["tool_calls"] == 4


def test_the_report_of_deep_research_is_the_answer_once(tmp_path: Path) -> None:
    report = {"content": {"parts": ["# Pumps \ue200cite\ue202turn0search0\ue201"]}}
    report["metadata"] = {
        "content_references": [
            {
                "matched_text": "\ue200cite\ue202turn0search0\ue201",
                "items": [{"title": "Pumps", "url": "https://pumps.example.org/"}],
            }
        ]
    }
    state = json.dumps({"status": "completed", "report_message": report})
    hidden = {"is_visually_hidden_from_conversation": True}
    found = talk(
        tmp_path,
        node("ask", None, text="Research pumps."),
        node("empty", "ask", "assistant", ""),
        node("state", "empty", "tool", "x", metadata={**hidden, "chatgpt_sdk": {"widget_state": state}}),
        node("again", "state", "tool", f"The latest state of the widget is: {state}", metadata=hidden),
        node("torn", "again", "tool", "The latest state of the widget is: {", metadata=hidden),
    )
    assert found.said["A boat"] == [
        ("user", "Research pumps."),
        ("assistant", "# Pumps [Pumps](https://pumps.example.org/)"),
    ]
    assert found.left_out == {"tool_calls": 1}


def test_marks_become_links_or_words_or_go(tmp_path: Path) -> None:
    mark = "\ue200cite\ue202turn0search3\ue201"
    address = "\ue200url\ue202the club\ue202turn0search4\ue201"
    references = [
        {"matched_text": mark, "alt": "([News](https://news.example.org/r))", "items": []},
        {
            "matched_text": " ",
            "alt": "!",
            "sources": [{"title": "A [b]", "url": "https://b.example.org/"}, {"url": "javascript:1"}],
        },
    ]
    text = f'Blue won. {mark} See {address} in \ue200entity\ue202["place","Harbourtown",0]\ue201. \ue200cite\ue202turn9\ue201'
    answer = node("b", "a", "assistant", text, metadata={"content_references": references})
    found = talk(tmp_path, node("a", None, text="Who won?"), answer)
    assert found.said["A boat"][1][1] == (
        "Blue won. ([News](https://news.example.org/r)) See the club in Harbourtown. \n\nSources:\n- [A (b)](https://b.example.org/)"
    )


def test_marks_as_they_were_until_2024(tmp_path: Path) -> None:
    source = {"type": "webpage", "title": "Knots", "url": "https://knots.example.org/"}
    citation = {"start_ix": 9, "end_ix": 19, "metadata": source}
    answer = node("b", "a", "assistant", "A bowline【4†source】.", metadata={"citations": [citation]})
    assert talk(tmp_path, node("a", None, text="?"), answer).said["A boat"][1][1] == (
        "A bowline ([Knots](https://knots.example.org/))."
    )


def test_pictures_stand_in_their_place(tmp_path: Path) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://1"}
    found = talk(tmp_path, node("a", None, kind="multimodal_text", parts=["Before.", picture, "After."]))
    assert found.said["A boat"] == [("user", "Before.\n\n[Picture]\n\nAfter.")]
    assert found.left_out == {"images": 1}


def test_a_picture_that_was_made_stands_in_its_place(tmp_path: Path) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://1"}
    made = node("b", "a", "tool", kind="multimodal_text", parts=[picture])
    found = talk(tmp_path, node("a", None, text="Draw."), made)
    assert found.said["A boat"] == [("user", "Draw."), ("assistant", "[Picture]")]
    assert found.left_out == {"images": 1}


def test_an_answer_of_code_is_an_answer(tmp_path: Path) -> None:
    content = {"content_type": "code", "language": "json", "text": '{"a": 1}'}
    found = talk(tmp_path, node("a", None, text="JSON?"), node("b", "a", "assistant", parts=[], content=content))
    assert found.said["A boat"][1] == ("assistant", '```json\n{"a": 1}\n```')


def test_people_of_a_group_are_told_apart(tmp_path: Path) -> None:
    ada, ben = ({"role": "user", "name": name} for name in ("Ada", "Ben"))
    talk_of_two = (node("a", None, text="Hi.", author=ada), node("b", "a", text="Hello.", author=ben))
    assert [text for _, text in talk(tmp_path, *talk_of_two).said["A boat"]] == ["Ada: Hi.", "Ben: Hello."]
    assert talk(tmp_path, talk_of_two[0]).said["A boat"] == [("user", "Hi.")]


def test_what_is_unknown_is_counted_by_its_name(tmp_path: Path) -> None:
    nodes = [node("a", None, text="?"), node("b", "a", "assistant", "x", kind="hologram\n<b>")]
    assert talk(tmp_path, *nodes).left_out == {"unknown_content:hologramb": 1}
