"""The confined process that transcribes: the real one, in its sandbox, with a model that the test makes."""

import itertools
import json
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parachute.base.files import remove_tree
from tests.automation.transcription.sounds import FORMATS, lying_wav, write, write_wav
from tests.automation.transcription.tiny_model import WORDS, make_model
from tests.support.activation import DEADLINE, Activator
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

LAUNCH = "parachute.automation.transcription.launch"


class Process:
    """The launcher's socket, and what comes back through it."""

    def __init__(self, folder: Path, model: Path, **settings: str) -> None:
        variables = {"PARACHUTE_VOICE_MODEL": str(model), "PARACHUTE_VOICE_MEMORY_MEGABYTES": "1024", **settings}
        self.activator = Activator(folder=folder, environment=variables)
        self.activator.listen(folder / "voice.sock", LAUNCH)

    def ask(self, recording: Path, **question: Any) -> list[dict[str, Any]]:
        """All lines about a recording."""
        asked = {"language": None, "longest_seconds": 60, **question}
        lines = []
        with socket.socket(socket.AF_UNIX) as connection, recording.open("rb") as file:
            connection.settimeout(DEADLINE)
            connection.connect(str(self.activator.path))
            socket.send_fds(connection, [json.dumps(asked).encode()], [file.fileno()])
            for line in connection.makefile("r"):
                lines.append(json.loads(line))
                connection.sendall(b"\n")
                if lines[-1].keys() & {"done", "error"}:
                    break
        assert lines, self.activator.log
        return lines


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with a short path, for sockets."""
    path = Path(tempfile.mkdtemp(prefix="pv-", dir="/tmp"))
    yield path
    remove_tree(path)


@pytest.fixture(scope="module")
def process(folder: Path) -> Iterator[Process]:
    """The process with a model of random weights."""
    made = Process(folder, make_model(folder / "sherpa-onnx-nemo-ctc-tiny"))
    yield made
    assert made.activator.end()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_that_devices_record_becomes_words(process: Process, tmp_path: Path, name: str) -> None:
    *pieces, end = process.ask(write(tmp_path / name, 3))
    (piece,) = pieces
    assert end["done"] == pytest.approx(3, abs=0.1)
    assert (piece["start"], piece["end"]) == (0.0, end["done"])
    assert set(piece["text"].split()) <= set(WORDS)
    assert len(piece["text"].split()) > 10
    assert piece["total"] == pytest.approx(3, abs=0.1)


def test_a_long_recording_is_cut_where_it_is_quiet(process: Process, tmp_path: Path) -> None:
    *pieces, end = process.ask(write_wav(tmp_path / "long.wav", 58), language="de")
    assert end["done"] == 58
    assert len(pieces) == 3
    for before, after in itertools.pairwise(pieces):
        assert before["end"] == after["start"]
        # The first quarter of every second is silent.
        assert before["end"] % 1 < 0.25
    assert {piece["language"] for piece in pieces} == {"de"}


def test_the_same_sound_is_heard_in_the_same_way(process: Process, tmp_path: Path) -> None:
    recording = write_wav(tmp_path / "a.wav", 2)
    assert process.ask(recording) == process.ask(recording)


def test_silence_has_no_words(process: Process, tmp_path: Path) -> None:
    piece, end = process.ask(write_wav(tmp_path / "silent.wav", 2, silent=True))
    assert (piece["text"], end["done"]) == ("", 2)


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (b"", "no_sound"),
        (b"not a recording", "no_sound"),
        (b"\x1aE\xdf\xa3" + bytes(4096), "no_sound"),
        (b"RIFF\xff\xff\xff\xffWAVEfmt " + bytes(64), "no_sound"),
        # A list of other files, which a decoder of that kind would open.
        (b"#EXTM3U\n#EXTINF:1,\n/etc/passwd\n", "no_sound"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "no_sound"),
    ],
)
def test_what_is_no_recording_is_refused(process: Process, tmp_path: Path, content: bytes, key: str) -> None:
    path = tmp_path / "hostile.wav"
    path.write_bytes(content)
    (line,) = process.ask(path)
    assert line["error"] == key


def test_a_header_that_lies_promises_nothing(process: Process, tmp_path: Path) -> None:
    *_, end = process.ask(lying_wav(tmp_path / "lying.wav"))
    assert end["done"] == pytest.approx(1, abs=0.1)


@pytest.mark.long
def test_a_second_of_sound_before_gigabytes_of_nothing_does_not_keep_it(process: Process, tmp_path: Path) -> None:
    path = write_wav(tmp_path / "sparse.wav", 1)
    with path.open("r+b") as file:
        file.truncate(32 << 30)
    *_, end = process.ask(path)
    assert end["error"] == "no_sound"


def test_ten_hours_are_refused_when_the_bound_is_reached(process: Process, tmp_path: Path) -> None:
    path = lying_wav(tmp_path / "hours.wav")
    with path.open("r+b") as file:
        file.truncate(10 * 3600 * 32_000)  # sparse
    *pieces, end = process.ask(path, longest_seconds=90)
    assert end["error"] == "recording_too_long"
    assert pieces[-1]["end"] <= 90


def test_it_reaches_no_file_and_no_network(process: Process, tmp_path: Path) -> None:
    process.ask(write_wav(tmp_path / "a.wav", 1))
    running = process.activator.process
    assert running is not None
    inside = wait_until(lambda: _children(running.pid), "the process runs in its sandbox")[-1]
    root = Path(f"/proc/{inside}/root")
    assert not (root / "home").exists()
    assert not (root / str(tmp_path)[1:]).exists()
    interfaces = Path(f"/proc/{inside}/net/dev").read_text().splitlines()[2:]
    assert [line.split(":")[0].strip() for line in interfaces] == ["lo"]


def test_it_ends_when_nobody_asks_and_begins_again(folder: Path, process: Process, tmp_path: Path) -> None:
    own = folder / "idle"
    own.mkdir()
    short = Process(own, folder / "sherpa-onnx-nemo-ctc-tiny", PARACHUTE_VOICE_IDLE_SECONDS="0.2")
    recording = write_wav(tmp_path / "a.wav", 1)
    first = short.ask(recording)
    short.activator.wait_ended()
    assert short.activator.exits == [0]
    assert short.ask(recording) == first
    assert short.activator.end()


@pytest.mark.parametrize(
    ("name", "files", "said"),
    [
        ("nemo-ctc", {}, "no file that ends with .onnx"),
        ("nemo-ctc", {"model.onnx": b"x"}, "no tokens.txt"),
        ("something", {"model.onnx": b"x", "tokens.txt": b""}, "of which kind"),
        ("whisper", {"small-encoder.onnx": b"x", "small-tokens.txt": b""}, "of which kind"),
        ("nemo-ctc", {"model.onnx": b"no network", "tokens.txt": b"a 0\n<blk> 1\n"}, "do not make up a model"),
    ],
)
def test_a_folder_without_a_model_is_explained(
    folder: Path, tmp_path: Path, name: str, files: dict[str, bytes], said: str
) -> None:
    own = Path(tempfile.mkdtemp(dir=folder))
    (own / name).mkdir()
    for file, content in files.items():
        (own / name / file).write_bytes(content)
    broken = Process(own, own / name)
    try:
        (line,) = broken.ask(write_wav(tmp_path / "a.wav", 1))
        assert (line["error"], said in line["message"]) == ("no_voice_model", True), line
    finally:
        broken.activator.end()


def _children(process: int) -> list[int]:
    import psutil

    return [child.pid for child in psutil.Process(process).children(recursive=True)]
