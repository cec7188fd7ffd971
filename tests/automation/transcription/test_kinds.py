"""Each kind of model that may be set is found out, loaded and heard with, in the real process."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.automation.transcription.model_folder import KINDS
from parachute.base.files import remove_tree
from tests.automation.transcription.sounds import write_wav
from tests.automation.transcription.test_process import Process
from tests.automation.transcription.tiny_model import WORDS
from tests.automation.transcription.tiny_models import make_model_of

pytestmark = pytest.mark.process

_USUAL = ("whisper", "transducer")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, for sockets."""
    path = Path(tempfile.mkdtemp(prefix="pk-", dir="/tmp"))
    yield path
    remove_tree(path)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in _USUAL else pytest.mark.long) for kind in KINDS]
)
def test_a_model_of_each_kind_makes_words_of_sound(folder: Path, tmp_path: Path, kind: str) -> None:
    process = Process(folder, make_model_of(kind, folder / f"sherpa-onnx-{kind}-tiny"))
    try:
        for language in ("de", None):
            piece, end = process.ask(write_wav(tmp_path / "a.wav", 3), language=language)
            assert end["done"] == 3, (end, process.activator.log)
            assert any(word in piece["text"] for word in WORDS), piece
            if kind != "sense-voice":  # it says which one it was, and this one anything
                assert piece["language"] in ({"de"} if language else {None, "en"})
    finally:
        assert process.activator.end()
