"""Folders with a model of the user's, and hostile ones."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from parachute.llm.meaning.index import Index
from parachute.llm.meaning.source import Source
from tests.llm.meaning import models
from tests.llm.meaning.activator import QUESTION, TEXTS, index
from tests.support.errors import raises

pytestmark = pytest.mark.process


def test_a_model_of_the_users_is_used(tmp_path: Path) -> None:
    with index(folder=models.write(tmp_path / "model")) as process:
        process.put({"kevin": "ships", "maria": "oven"})
        process.work()
        assert process.find("boats") == ["kevin"]
        assert process.find("bread") == ["maria"]


def _pickled(folder: Path) -> None:
    """Write a pickle that would leave a file behind when loaded."""

    class Harm:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {folder}/harm",)

    models.write(folder, pickle.dumps(Harm()))
    for name in ("model.bin", "pytorch_model.bin", "weights.npy", "vectors.npy"):
        (folder / name).write_bytes(pickle.dumps(Harm()))


def _linked(folder: Path) -> None:
    models.write(folder.with_name("other"))
    models.write(folder)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(folder.with_name("other") / "model.safetensors")


def _pipe(folder: Path) -> None:
    models.write(folder)
    (folder / "tokenizer.json").unlink()
    os.mkfifo(folder / "tokenizer.json")


def _huge(folder: Path) -> None:
    models.write(folder)
    os.truncate(folder / "model.safetensors", 2 << 30)


HOSTILE = {
    "missing": lambda folder: folder.mkdir(),
    "empty": lambda folder: models.write(folder, b""),
    "pickle": _pickled,
    "link": _linked,
    "pipe": _pipe,
    "huge": _huge,
    "header": lambda folder: models.write(folder, (1 << 60).to_bytes(8, "little") + b"{}"),
    "nested": lambda folder: models.write(folder, (100_000).to_bytes(8, "little") + b"[" * 100_000),
    "shape": lambda folder: models.write(folder, models.tensors([1 << 40, 2])),
    "negative": lambda folder: models.write(folder, models.tensors([-5, -2])),
    "short": lambda folder: models.write(folder, models.tensors([500, 2])),
    "kind": lambda folder: models.write(folder, models.tensors(kind="O")),
    "not numbers": lambda folder: models.write(folder, models.tensors(data=b"\xff" * 40)),
    "words": lambda folder: models.write(folder, words="{"),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_folder_that_is_no_model_is_said_and_harms_nothing(make: Callable[[Path], object], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make(folder)
    found = Index(tmp_path, Source(folder))
    found.put("c", TEXTS, ())
    with raises("bad_model"):
        found.work(1)
    assert found.find("c", QUESTION, 5)["results"] == []
    assert found.status()["waiting"] == len(TEXTS)
    assert found._store is not None
    found._store.close()
    assert not (folder / "harm").exists()


def test_the_process_goes_on_without_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    _pickled(folder)
    with index(folder=folder) as process:
        process.put(TEXTS)
        status, answer = process.ask("POST", "/work", {"seconds": 1})
        assert status == 422, answer
        assert answer["error"]["key"] == "bad_model", answer
        assert process.find() == []
        assert process.ask("GET", "/status")[0] == 200
    assert not (folder / "harm").exists()
