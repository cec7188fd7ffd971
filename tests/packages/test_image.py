"""The file of the image, and how its containers are started."""

import hashlib
import io
import json
import re
import runpy
import tarfile
from pathlib import Path

import pytest

from packages import program
from packages.image import archive, building
from parachute.sandbox.engines import bubblewrap
from tests.appliance.test_whole_image import FLAGS


def test_the_file_names_its_layers_by_what_is_in_them(tmp_path: Path) -> None:
    layers = []
    for name in ("lower", "upper"):
        layers.append(tmp_path / name)
        with tarfile.open(layers[-1], "w") as tar:
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    archive.write(tmp_path / "image.tar", "localhost/x:1", layers, building._configuration())
    with tarfile.open(tmp_path / "image.tar") as image:
        read = {member.name: image.extractfile(member) for member in image}
        contents = {name: file.read() for name, file in read.items() if file is not None}
    (manifest,) = json.loads(contents["manifest.json"])
    assert manifest["RepoTags"] == ["localhost/x:1"]
    assert [contents[name] for name in manifest["Layers"]] == [layer.read_bytes() for layer in layers]
    config = json.loads(contents[manifest["Config"]])
    digests = [f"sha256:{hashlib.sha256(layer.read_bytes()).hexdigest()}" for layer in layers]
    assert config["rootfs"] == {"type": "layers", "diff_ids": digests}


def test_its_containers_are_an_ordinary_users_with_one_port_and_keys_for_everybody() -> None:
    configuration = building._configuration()
    assert configuration["User"] == "1000:1000"
    assert configuration["ExposedPorts"] == {"3333/tcp": {}}
    assert configuration["Volumes"] == {"/state": {}, "/vault": {}}
    environment = configuration["Env"]
    assert isinstance(environment, list)
    assert "PARACHUTE_AUTH_MODE=always" in environment


def test_the_page_and_the_refusal_name_the_options_that_the_test_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (program.TREE / "docs/doors.md").read_text()
    run = re.search(r"^podman run (?:.*\\\n)*.*", page, re.MULTILINE)
    assert run is not None
    monkeypatch.setenv("PATH", "/nonexistent")  # no bubblewrap is found there
    with pytest.raises(SystemExit) as refused:
        runpy.run_path(str(Path(building.__file__).parent / "files/start.py"))
    assert bubblewrap.unavailable() == "bubblewrap is not installed."
    for flag in FLAGS:
        assert flag.replace("=", " ", 1) in run[0]
        assert flag.replace("=", " ", 1) in str(refused.value)
