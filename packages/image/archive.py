"""Images as files in the format of `docker save`, which Podman, Docker and containerd load without a registry."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packages.program import architecture
from parachute.sandbox.image.recipe import EPOCH


def write(image: Path, name: str, layers: Sequence[Path], configuration: dict[str, Any]) -> None:
    """Write an image of layers, the lower one first, under a name with a tag."""
    digests = [_digest(layer) for layer in layers]
    created = datetime.fromtimestamp(EPOCH, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = json.dumps(
        {
            "architecture": architecture(),
            "os": "linux",
            "created": created,
            "config": configuration,
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in digests]},
            "history": [{"created": created, "created_by": "make oci"} for _ in digests],
        },
        sort_keys=True,
    ).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    names = [f"{digest}.tar" for digest in digests]
    manifest = json.dumps([{"Config": config_name, "RepoTags": [name], "Layers": names}]).encode()
    with tarfile.open(image, "w", format=tarfile.PAX_FORMAT) as tar:
        for layer, layer_name in zip(layers, names, strict=True):
            with layer.open("rb") as file:
                tar.addfile(_entry(layer_name, os.fstat(file.fileno()).st_size), file)
        for text_name, text in ((config_name, config), ("manifest.json", manifest)):
            tar.addfile(_entry(text_name, len(text)), io.BytesIO(text))


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, EPOCH, 0o644
    return entry


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
