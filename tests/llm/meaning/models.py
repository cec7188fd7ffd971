"""Model2Vec folders that tests make: a few words with directions of their own."""

import json
import struct
from pathlib import Path
from typing import Any

WORDS = {"[UNK]": (0, 0), "boats": (1, 0), "ships": (0.9, 0.1), "bread": (0, 1), "oven": (0.1, 0.9)}


def tokenizer() -> dict[str, Any]:
    """A tokenizer of whole words."""
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    return {
        "version": "1.0",
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
        "pre_tokenizer": {"type": "Whitespace"},
        "added_tokens": [],
    }


def tensors(shape: list[int] | None = None, *, kind: str = "F32", data: bytes | None = None) -> bytes:
    """A file of safetensors with the embeddings of the words, or what claims to be one."""
    values = [value for row in WORDS.values() for value in row]
    own = struct.pack(f"<{len(values)}f", *values) if data is None else data
    described = {"dtype": kind, "shape": shape or [len(WORDS), 2], "data_offsets": [0, len(own)]}
    header = json.dumps({"embeddings": described}).encode()
    return len(header).to_bytes(8, "little") + header + own


def write(folder: Path, model: bytes | None = None, words: str | None = None) -> Path:
    """A folder with a model."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(tensors() if model is None else model)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()) if words is None else words)
    (folder / "config.json").write_text("{}")
    return folder
