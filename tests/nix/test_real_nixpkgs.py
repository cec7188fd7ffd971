"""The whole flake, evaluated with the real nixpkgs and nixos-hardware: every package, image, example and check.

`NIXPKGS` and `NIXOS_HARDWARE` name their trees: https://github.com/NixOS/nixpkgs or a cut of it that has all modules, and
https://github.com/NixOS/nixos-hardware. It needs Nix 2.18. Nothing is built. With `HOME_MANAGER` a tree of
https://github.com/nix-community/home-manager is asked as well.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.nix.flake import ROOT

_TREES = {name: os.environ.get(name, "") for name in ("NIXPKGS", "NIXOS_HARDWARE")}

pytestmark = [
    pytest.mark.skipif(not all(_TREES.values()), reason="NIXPKGS and NIXOS_HARDWARE are not set"),
    pytest.mark.long,
]
IMAGES = {"rpi4": "sdImage", "rpi5": "sdImage", "server": "image", "vm": "vm"}
_PATHS = "(builtins.mapAttrs (_: each: each.drvPath))"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def _evaluated(store: Path, expression: str, *, unfree: bool = False) -> Any:
    """Return the value of an expression over `flake`; error: AssertionError also for a warning."""
    trees = (
        f'nixpkgs = /. + "{_TREES["NIXPKGS"]}"; hardware = /. + "{_TREES["NIXOS_HARDWARE"]}"; project = /. + "{ROOT}";'
    )
    whole = f"let flake = import {ROOT}/tests/nix/real.nix {{ {trees} }}; in {expression}"
    settings = "experimental-features = nix-command flakes\nbuild-users-group =\nsandbox = false\nsubstituters ="
    environment = {"PATH": os.environ["PATH"], "HOME": str(store), "NIX_CONFIG": settings}
    if unfree:
        environment["NIXPKGS_ALLOW_UNFREE"] = "1"
    command = ["nix", "eval", "--impure", "--offline", "--json", "--store", str(store), "--expr", whole]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "evaluation warning" not in done.stderr, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_is_a_system_without_any_permission(store: Path, image: str) -> None:
    build = f"flake.nixosConfigurations.{image}.config.system.build"
    found = _evaluated(store, f"[ {build}.toplevel.drvPath {build}.{IMAGES[image]}.drvPath ]")
    assert all(path.endswith(".drv") for path in found)


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_with_the_agent_leaves_the_machines_loader_alone(store: Path, image: str) -> None:
    configuration = "{ services.parachute.acceptUnfreeAgent = true; }"
    extended = f"(flake.nixosConfigurations.{image}.extendModules {{ modules = [ {configuration} ]; }}).config"
    found = _evaluated(
        store, f"with {extended}; {{ path = system.build.toplevel.drvPath; loader = environment.ldso; }}", unfree=True
    )
    assert found["path"].endswith(".drv")
    assert "glibc" not in str(found["loader"])


@pytest.mark.parametrize("system", ["x86_64-linux", "aarch64-linux"])
def test_packages_and_checks(store: Path, system: str) -> None:
    found = _evaluated(
        store, f"{{ packages = {_PATHS} flake.packages.{system}; checks = {_PATHS} flake.checks.{system}; }}"
    )
    assert found["packages"]["default"] == found["packages"]["parachute"]
    assert {"package", "tests", "boots", "example-full", "example-minimal"} <= set(found["checks"])
    with_agent = _evaluated(store, f"{_PATHS} flake.legacyPackages.{system}", unfree=True)
    assert with_agent["parachute-with-agent"] != found["packages"]["parachute"]


def test_other_kinds_of_images_and_the_overlay(store: Path) -> None:
    system = 'flake.nixosModules.appliance { nixpkgs.hostPlatform = "x86_64-linux"; }'
    nixos = f'import ({_TREES["NIXPKGS"]} + "/nixos/lib/eval-config.nix")'
    machine = f"({nixos} {{ system = null; modules = [ {system} ]; }}).config.system.build.images"
    assert all(_evaluated(store, f"[ {machine}.qemu-efi.drvPath {machine}.raw-efi.drvPath ]"))
    packages = f'import {_TREES["NIXPKGS"]} {{ system = "x86_64-linux"; overlays = [ flake.overlays.default ]; }}'
    assert _evaluated(store, f"({packages}).parachute-computer.drvPath").endswith(".drv")


def test_containers_have_their_numbers_where_users_are_made_by_userborn(store: Path) -> None:
    machine = """{
      nixpkgs.hostPlatform = "x86_64-linux"; services.userborn.enable = true; system.stateVersion = "26.05"; boot.loader.grub.enable = false;
      fileSystems."/" = { device = "/dev/sda"; fsType = "ext4"; };
      services.parachute = { enable = true; acceptUnfreeAgent = false; };
    }"""
    nixos = f'import ({_TREES["NIXPKGS"]} + "/nixos/lib/eval-config.nix")'
    whole = f"({nixos} {{ system = null; modules = [ flake.nixosModules.default {machine} ]; }}).config"
    found = _evaluated(store, f'map (each: {whole}.environment.etc.${{each}}.text) [ "subuid" "subgid" ]')
    assert found == ["parachute:100000:65536\n"] * 2


def test_the_hash_of_a_module_is_left_to_the_build(store: Path) -> None:
    said = f"{{ services.parachute.modules.daily.source = {ROOT}/modules/daily; }}"
    machine = f"(flake.nixosConfigurations.server.extendModules {{ modules = [ {said} ]; }}).config"
    declared = f'{machine}.environment.etc."parachute/declared.json".source'
    found = _evaluated(store, f"[ {declared}.drvPath {machine}.system.build.toplevel.drvPath ]")
    assert found[0].endswith("-declared.json.drv")
    assert found[1].endswith(".drv")


@pytest.mark.skipif(not os.environ.get("HOME_MANAGER"), reason="HOME_MANAGER is not set")
def test_a_user_of_home_manager(store: Path) -> None:
    template = f"(import {ROOT}/nixos/templates/home/flake.nix).outputs"
    nixpkgs = f'{{ legacyPackages.x86_64-linux = import {_TREES["NIXPKGS"]} {{ system = "x86_64-linux"; }}; }}'
    manager = f"{{ lib = import {os.environ['HOME_MANAGER']}/lib {{ lib = import {_TREES['NIXPKGS']}/lib; }}; }}"
    alice = (
        f"({template} {{ nixpkgs = {nixpkgs}; home-manager = {manager}; parachute = flake; }}).homeConfigurations.alice"
    )
    facts = 'units = builtins.attrNames config.systemd.user.services; declared = config.xdg.configFile."parachute/declared.json".text;'
    found = _evaluated(store, f"with {alice}; {{ path = activationPackage.drvPath; {facts} }}")
    assert found["path"].endswith(".drv")
    assert found["units"] == ["parachute-core", "parachute-supervisor"]
    assert json.loads(found["declared"])["user"] == "alice"
