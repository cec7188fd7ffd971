"""Pictures, recordings and documents that lie beside the conversations of ChatGPT's export, by the ids that messages name."""

import json
from pathlib import Path
from typing import Any

import pytest
from imports.reading import export
from reading_once import Read, read, uploaded

from parachute.core.sessions import Brought, BroughtMessage, digest
from tests.chat.imports.exports import node, packed, tree

PNG, WAV, PDF = b"\x89PNG\r\n\x1a\n drawn", b"RIFF\0\0\0\0WAVEfmt spoken", b"%PDF-1.7 written"
PICTURE = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00000000aa11", "width": 9}
DRAWN = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-Z9OIdCXqnSiaH6bc"}
SPOKEN = {
    "content_type": "real_time_user_audio_video_asset_pointer",
    "frames_asset_pointers": [],
    "audio_asset_pointer": {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_00000000cc33"},
}
ATTACHED = [
    {"id": "file_00000000aa11", "name": "pond.png", "mime_type": "image/png"},
    {"id": "file-CSDzgtOhPLr3NzxdVkRcDgEC", "name": "Plan of the garden.pdf", "mime_type": "application/pdf"},
    {"id": "file-Lost", "name": "lost.txt", "mime_type": "text/plain"},
]


def talk(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a conversation with a picture, a document, a drawing and a recording."""
    asked = node("ask", None, parts=[PICTURE, "What is this?"], metadata={"attachments": ATTACHED})
    drawn = node("drawn", "ask", "tool", parts=[DRAWN], kind="multimodal_text")
    spoken = [SPOKEN, {"content_type": "audio_transcription", "text": "Thanks.", "direction": "in"}]
    said = node("said", "drawn", parts=spoken, kind="multimodal_text")
    asked["message"]["content"]["content_type"] = "multimodal_text"
    return tree(asked, drawn, said, *nodes, **more)


def archive(*conversations: Any, **files: bytes) -> bytes:
    """An export as it is downloaded, with the files beside the conversations."""
    content = {
        "conversations-000.json": json.dumps(conversations),
        "conversation_asset_file_names.json": json.dumps({"file_00000000aa11.dat": "pond.png", "n": 1}),
        "file_00000000aa11.dat": PNG,
        "file-CSDzgtOhPLr3NzxdVkRcDgEC-Plan_of_the_garden.pdf": PDF,
        "user-1/file_00000000cc33-5a5a.dat": WAV,
        "dalle-generations/file-Z9OIdCXqnSiaH6bc-19.webp": PNG,
        "chat.html": "<html>",
        **files,
    }
    return packed(content)


def test_files_come_with_the_messages_that_name_them(tmp_path: Path) -> None:
    found = read(tmp_path, archive(talk()))
    assert (found.errors, found.said["A boat"]) == (
        [],
        [("user", "What is this?"), ("assistant", ""), ("user", "Thanks.")],
    )
    files = [each.get("files", []) for each in found.messages[0]]
    assert files == [["pond.png", "Plan_of_the_garden.pdf"], ["19.webp"], ["5a5a.wav"]]
    assert found.attachments == [
        {"pond.png": PNG, "Plan_of_the_garden.pdf": PDF, "19.webp": PNG, "5a5a.wav": WAV},
    ]
    assert found.left_out == {"files": 1, "other_files": 1}


def test_the_privacy_center_gives_files_in_archives_of_their_own(tmp_path: Path) -> None:
    conversations = archive(talk(), **{"file_00000000aa11.dat": b""})
    files = {"personal/files/file-Lost_lost.txt": b"found", "personal/files/IMG_1.jpg": b"?"}
    data = packed({"Conversations__u-part-0001.zip": conversations, "Files__u_files_1.zip": packed(files)})
    found = read(tmp_path, data)
    assert found.errors == []
    assert found.attachments[0]["lost.txt"] == b"found"
    assert len(found.attachments[0]) == 5
    assert found.left_out["other_files:Files__u_files_1.zip"] == 1
    assert not list((tmp_path / "upload").glob("files-*"))
    broken = read(
        tmp_path, packed({"Conversations__u-part-0001.zip": conversations, "Files__u_files_1.zip": b"no zip"})
    )
    assert (broken.errors, len(broken.attachments[0])) == ([], 4)


def test_without_its_file_a_picture_is_named_as_before(tmp_path: Path) -> None:
    found = read(tmp_path, json.dumps([talk()]).encode())
    assert [text for _, text in found.said["A boat"]] == ["[Picture]\n\nWhat is this?", "[Picture]", "Thanks."]
    assert found.left_out == {"images": 2, "audio": 1, "files": 2}
    assert found.attachments == [{}]


def test_two_files_of_one_name_are_two(tmp_path: Path) -> None:
    more = [{**ATTACHED[0], "id": "file_00000000bb22"}, {**ATTACHED[0], "id": "file_00000000aa11"}]
    again = node("again", "said", text="And these?", metadata={"attachments": more})
    found = read(tmp_path, archive(talk(again), **{"file_00000000bb22.dat": PDF}))
    (first, second) = found.messages[0][-1]["files"]
    assert second == "pond.png"
    assert first.startswith("pond-")
    assert (found.attachments[0][first], found.attachments[0][second]) == (PDF, PNG)


def test_names_lead_nowhere(tmp_path: Path) -> None:
    for name in (
        "../../x.png",
        "/etc/passwd",
        ".hidden",
        "a\0b.png",
        "n" * 999 + ".png",
        "\ud800",
        "\u202egnp.exe",
        " ",
    ):
        listed = [{"id": "file_00000000aa11", "name": name, "mime_type": "image/png"}]
        (given,) = read(
            tmp_path, archive(tree(node("a", None, text="?", metadata={"attachments": listed})))
        ).attachments[0]
        assert given.replace("_", "").replace("-", "").replace(".", "").isalnum() or given == "_.png", given
        assert not given.startswith(".")
        assert len(given) < 100


def test_an_export_that_is_imported_again_brings_the_files_that_an_earlier_version_left(tmp_path: Path) -> None:
    first = Read()
    export.read(uploaded(tmp_path, archive(talk())), "auto", set(), first.take)
    session, updated = first.conversations[0]["session"], first.conversations[0]["updated"]
    for has_files in (False, True):
        said = [
            BroughtMessage(
                each["id"], each["role"], each["time"], digest(each["text"]), len(each["files"]) if has_files else 0
            )
            for each in first.messages[0]
        ]
        brought = {session: Brought(True, updated, said)}
        later = Read()
        export.read(uploaded(tmp_path, archive(talk())), "auto", {session}, later.take, brought.get)
        assert [each["grows"] for each in later.conversations] == ([] if has_files else [3])


def test_a_document_that_an_earlier_export_did_not_have_comes_later(tmp_path: Path) -> None:
    name, chat = "file-Lost_lost.txt", tree(node("a", None, text="Read it.", metadata={"attachments": ATTACHED[2:]}))
    first, later = Read(), Read()
    export.read(uploaded(tmp_path, archive(chat)), "auto", set(), first.take)
    (here,) = first.conversations
    (said,) = first.messages[0]
    brought = {
        here["session"]: Brought(
            True, here["updated"], [BroughtMessage(said["id"], said["role"], said["time"], digest(said["text"]), 0)]
        )
    }
    fingerprints = {here["session"]: here["fingerprint"]}
    upload = uploaded(tmp_path, archive(chat, **{name: b"found"}))
    export.read(upload, "auto", {here["session"]}, later.take, brought.get, fingerprints)
    assert [list(each) for each in later.attachments] == [["lost.txt"]]


@pytest.mark.long
def test_one_file_that_a_million_messages_name_comes_up_to_a_limit(tmp_path: Path) -> None:
    many = [
        tree(node("a", None, text="?", metadata={"attachments": ATTACHED[:1]}), name=f"c-{n}", title=f"{n}")
        for n in range(60)
    ]
    found = read(tmp_path, archive(*many, **{"file_00000000aa11.dat": b"\x89PNG" + bytes(4_000_000)}))
    assert found.errors == []
    assert sum(map(len, found.attachments)) < 25
    assert found.left_out["files"] == 0
    one = [
        node(
            f"{n}",
            f"{n - 1}" if n else None,
            text="?",
            metadata={"attachments": [{"id": f"file-{n}", "name": "x.txt"}]},
        )
        for n in range(600)
    ]
    found = read(tmp_path, archive(tree(*one), **{f"file-{n}-x.txt": b"x" for n in range(600)}))
    assert len(found.attachments[0]) == 500
    assert found.left_out["too_many_files"] == 100
