"""Pictures, recordings and documents in both directions, within their limits."""

from typing import Any

import pytest

from parachute.connectors.platforms.models import File, Outgoing
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server
from tests.connectors.process.matrix.bot import private, stored, talking
from tests.support.matrix_api import MatrixAPI

pytestmark = [needs_bubblewrap, pytest.mark.asyncio(loop_scope="module")]

MEGABYTE = 1024 * 1024
PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


@pytest.mark.parametrize(
    ("content", "data", "expected"),
    [
        ({"msgtype": "m.image", "body": "cat.png", "info": {"mimetype": "image/png"}}, PNG, ("picture", "cat.png", "")),
        ({"msgtype": "m.image", "body": "cat.png"}, b"<script>", ("document", "cat.png", "")),
        (
            {"msgtype": "m.audio", "body": "Voice message", "org.matrix.msc3245.voice": {}},
            b"OggS",
            ("voice", "Voice message", ""),
        ),
        ({"msgtype": "m.audio", "body": "song.mp3"}, b"ID3", ("audio", "song.mp3", "")),
        ({"msgtype": "m.video", "body": "v.mp4"}, b"....ftyp", ("document", "v.mp4", "")),
        (
            {"msgtype": "m.file", "body": "What do you say?", "filename": "../../etc/passwd\u202e"},
            b"%PDF",
            ("document", "_.._etc_passwd_", "What do you say?"),
        ),
    ],
)
async def test_files_come_with_what_was_written_beside_them(
    matrix: Server, api: MatrixAPI, ann: str, content: dict[str, Any], data: bytes, expected: tuple[str, str, str]
) -> None:
    room = await talking(matrix, api, ann)
    event = api.write(room, ann, **content, url=api.add_file(data))
    update = await stored(matrix, event)
    (file,) = update.files
    assert (file.kind, file.name, update.text) == expected
    assert (matrix.files / file.path).read_bytes() == data
    assert file.size == len(data)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"url": "mxc://elsewhere.test/nothing"}, "no longer has the file"),
        ({"url": "https://evil.test/x"}, "no valid address"),
        ({"url": "mxc://elsewhere.test/../../v3/sync"}, "no valid address"),
        ({"file": {"url": "mxc://elsewhere.test/x", "key": {}}}, "encrypted"),
        ({"url": "mxc://elsewhere.test/x", "info": {"size": 21 * MEGABYTE}}, "more than 20 MB"),
    ],
)
async def test_what_is_not_taken_says_why(
    matrix: Server, api: MatrixAPI, ann: str, content: dict[str, Any], problem: str
) -> None:
    room = await talking(matrix, api, ann)
    update = await stored(matrix, api.write(room, ann, "a.bin", msgtype="m.file", **content))
    (file,) = update.files
    assert problem in file.problem
    assert not file.path


async def test_a_file_that_the_home_server_withholds_says_nothing_of_the_room(
    matrix: Server, api: MatrixAPI, ann: str
) -> None:
    room = await talking(matrix, api, ann)
    api.fail("download", 403, "M_FORBIDDEN")
    update = await stored(matrix, api.write(room, ann, "a.bin", msgtype="m.file", url=api.add_file(b"x")))
    assert "does not give" in update.files[0].problem


async def test_twenty_megabytes_and_no_more(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    for more, is_taken in ((0, True), (1, False)):
        # It says that it is smaller than it is.
        uri = api.add_file(b"x" * (20 * MEGABYTE + more))
        update = await stored(matrix, api.write(room, ann, "big", msgtype="m.file", url=uri, info={"size": 5}))
        assert bool(update.files[0].path) is is_taken
    assert not list(matrix.files.glob("*.part"))


async def test_files_go_out_as_what_they_are(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    (matrix.files / "cat").write_bytes(PNG)
    (matrix.files / "note").write_bytes(b"OggS")
    files = (File("picture", "cat.png", "image/png", 14, "cat"), File("voice", "note.ogg", "audio/ogg", 4, "note"))
    await matrix.send("files", "Look", private(room), files=files)
    await matrix.send("files", "Look", private(room), files=files)
    shown = [(each.content["msgtype"], each.text) for each in api.written(room)]
    assert shown == [("m.text", "Look"), ("m.image", "cat.png"), ("m.audio", "note.ogg")]
    picture = api.written(room)[1].content
    assert picture["info"] == {"mimetype": "image/png", "size": len(PNG)}
    assert api.world.files[picture["url"].rpartition("/")[2]] == ("image/png", PNG)


async def test_one_that_is_too_large_or_gone_keeps_back_no_other(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    (matrix.files / "large").write_bytes(b"x" * (31 * MEGABYTE))
    (matrix.files / "small").write_bytes(b"x")
    (matrix.files / "link").symlink_to("/etc/passwd")
    files = tuple(File("document", f"{name}.txt", "text/plain", 1, name) for name in ("large", "none", "link", "small"))
    sent = await matrix.opened.send("matrix", "many", Outgoing(private(room), "Look", files=files))
    assert "30 MB" in sent.problem
    assert "none.txt" in sent.problem
    assert api.texts(room) == ["Look", "small.txt"]
