"""Images as configurations of NixOS: nobody can log in, one port is open, and services are confined."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from parachute.modules.trees.hashing import tree_hash
from tests.nix.flake import ROOT, Flake

pytestmark = [
    pytest.mark.skipif(
        not shutil.which("nix"), reason="needs the system package nix-bin: `make test-deps` installs it"
    ),
    pytest.mark.long,
]
IMAGES = ["rpi4", "rpi5", "server", "vm"]
CARDS = ["rpi4", "rpi5"]

_FACTS = """
machine: let inherit (machine) config; in {
  inherit (config.services.openssh) enable settings;
  inherit (config.users) mutableUsers users;
  inherit (config.networking) firewall hostName;
  inherit (config.nixpkgs) hostPlatform;
  inherit (config.environment) ldso;
  renewed = config.hardware.raspberry-pi.firmware.enable or null;
  inherit (config) boot fileSystems warnings;
  etc = builtins.attrNames config.environment.etc;
  services = builtins.attrNames config.systemd.services;
  parachute = { inherit (config.services.parachute) auth sparing watchdog port; inherit (config.services.parachute.lan) enable; };
  engine = { inherit (config.services.parachute.sandbox) engine required image; };
  first = config.services.parachute.firstBoot.enable;
  system = config.system.build.toplevel.drvPath;
  sd = config.sdImage or null;
  uboot = config.hardware.raspberry-pi.firmware.uboot.enable or null;
  forwarded = config.virtualisation.forwardPorts or [ ];
  disk = config.system.build.image.arguments.text or null;
  inherit (config.hardware) enableAllHardware;
}
"""


@pytest.fixture(scope="module")
def flake(tmp_path_factory: pytest.TempPathFactory) -> Flake:
    return Flake(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def facts(flake: Flake) -> dict[str, Any]:
    """By image."""
    found = flake.value("nixosConfigurations", f"all: builtins.mapAttrs (_: {_FACTS}) all")
    assert sorted(found) == IMAGES
    return found  # type: ignore[no-any-return]


def extended(configuration: str, then: str = _FACTS) -> str:
    """A function that gives facts of an image with something added."""
    return f"image: ({then}) (image.extendModules {{ modules = [ ({configuration}) ]; }})"


@pytest.mark.parametrize("image", IMAGES)
def test_nobody_can_log_in(facts: dict[str, Any], image: str) -> None:
    machine = facts[image]
    assert machine["enable"] is False, "an ssh server runs"
    assert machine["mutableUsers"] is False
    users = machine["users"]
    assert {"root", "parachute"} <= set(users)
    assert users["root"]["hashedPassword"] == "!"
    assert {user["hashedPassword"] for name, user in users.items() if name != "root"} == {None}
    assert [user["openssh"]["authorizedKeys"]["keys"] for user in users.values()] == [[]] * len(users)


@pytest.mark.parametrize("image", IMAGES)
def test_one_port_and_the_name_are_open(facts: dict[str, Any], image: str) -> None:
    firewall = facts[image]["firewall"]
    assert firewall["enable"]
    assert (firewall["allowedTCPPorts"], firewall["allowedUDPPorts"]) == ([3333], [5353])
    assert facts[image]["parachute"]["enable"]
    assert facts[image]["parachute"]["auth"] == "remote"


@pytest.mark.parametrize("image", IMAGES)
def test_agents_are_shut_in_and_the_first_boot_shows_the_key(facts: dict[str, Any], image: str) -> None:
    machine = facts[image]
    assert machine["engine"]["engine"] == "podman"
    assert machine["engine"]["required"]
    assert machine["engine"]["image"].endswith("/root.tar.gz")
    assert machine["first"]
    assert machine["parachute"]["sparing"]
    assert machine["parachute"]["watchdog"]
    assert "parachute-first-boot" in machine["services"]
    # What stub-ld says to people who start a program that was built elsewhere stays.
    assert machine["ldso"] == "/nix/store/stub-ld"
    assert machine["boot"]["tmp"]["cleanOnBoot"]
    assert "panic=10" in machine["boot"]["kernelParams"]


@pytest.mark.parametrize("image", IMAGES)
def test_two_machines_have_nothing_in_common(facts: dict[str, Any], image: str) -> None:
    assert [name for name in facts[image]["etc"] if name == "machine-id" or name.startswith("ssh/ssh_host")] == []


@pytest.mark.parametrize("image", CARDS)
def test_cards_boot_expand_and_are_spared(facts: dict[str, Any], image: str) -> None:
    machine = facts[image]
    assert machine["hostPlatform"] == "aarch64-linux"
    assert machine["uboot"] is True
    assert machine["sd"]["expandOnBoot"]
    assert machine["sd"]["firmwareSize"] >= 128
    loader = machine["boot"]["loader"]["generic-extlinux-compatible"]
    assert (loader["enable"], loader["configurationLimit"]) == (True, 10)
    assert machine["renewed"] is True
    assert "x-systemd.automount" in machine["fileSystems"]["/boot/firmware"]["options"]
    assert machine["fileSystems"]["/"]["options"] == ["noatime"]
    # The kernel of a Pi has not all the modules that these two want in the initrd.
    assert machine["enableAllHardware"] is False
    assert machine["boot"]["initrd"]["systemd"]["tpm2"]["enable"] is False
    assert machine["boot"]["consoleLogLevel"] <= 4, "the kernel writes over the code"


def test_the_servers_disk_grows_and_its_menu_cannot_be_edited(facts: dict[str, Any]) -> None:
    machine = facts["server"]
    assert machine["hostPlatform"] == "x86_64-linux"
    assert machine["boot"]["growPartition"]
    assert machine["fileSystems"]["/"]["autoResize"]
    loader = machine["boot"]["loader"]
    assert (loader["systemd-boot"]["enable"], loader["systemd-boot"]["editor"]) == (True, False)
    assert loader["efi"]["canTouchEfiVariables"] is False
    # Ten kernels have to fit.
    disk = json.loads(machine["disk"])
    assert (disk["partitionTableType"], disk["bootSize"]) == ("efi", "1G")


def test_the_virtual_machine_is_reached_from_its_host_only(facts: dict[str, Any]) -> None:
    (forwarded,) = facts["vm"]["forwarded"]
    assert forwarded["host"] == {"address": "127.0.0.1", "port": 3333}
    assert forwarded["guest"]["port"] == 3333


def test_a_key_brings_ssh_without_passwords(flake: Flake) -> None:
    machine = flake.value(
        "nixosConfigurations.rpi4", extended('{ parachute.image.sshKeys = [ "ssh-ed25519 AAAA me" ]; }')
    )
    assert machine["enable"]
    assert machine["settings"] == {
        "PasswordAuthentication": False,
        "KbdInteractiveAuthentication": False,
        "PermitRootLogin": "prohibit-password",
    }
    assert machine["users"]["root"]["openssh"]["authorizedKeys"]["keys"] == ["ssh-ed25519 AAAA me"]
    assert sorted(machine["firewall"]["allowedTCPPorts"]) == [22, 3333]
    assert machine["users"]["root"]["hashedPassword"] == "!"


def test_tries_are_counted_only_where_nixpkgs_can_count(facts: dict[str, Any], flake: Flake) -> None:
    assert "parachute-boot-check" not in facts["server"]["services"]
    assert any("bootCounting" in warning for warning in facts["server"]["warnings"])
    newer = (
        "{ lib, ... }: { options.boot.loader.systemd-boot.bootCounting = lib.mkOption "
        "{ type = lib.types.attrsOf lib.types.anything; default = { }; }; config.services.parachute.port = 4444; }"
    )
    then = "machine: { inherit (machine.config) warnings; check = machine.config.systemd.services.parachute-boot-check; counting = machine.config.boot.loader.systemd-boot.bootCounting; }"
    machine = flake.value("nixosConfigurations.server", extended(newer, then))
    assert machine["counting"] == {"enable": True, "tries": 3}
    assert machine["warnings"] == []
    check = machine["check"]
    assert check["requiredBy"] == check["before"] == ["boot-complete.target"]
    assert check["unitConfig"]["FailureAction"] == "reboot"
    assert check["restartIfChanged"] is False, "a switch does not end in a new start"
    # Otherwise a machine whose only generation has a bad disk would start anew for ever.
    assert "LoaderBootCountPath" in check["unitConfig"]["ConditionPathExists"]
    assert check["serviceConfig"]["ExecStart"].endswith("http://127.0.0.1:4444/api/health")
    elsewhere = newer.replace(
        "services.parachute.port", 'services.parachute.lan.address = "fd00::5"; config.services.parachute.port'
    )
    check = flake.value("nixosConfigurations.server", extended(elsewhere, then))["check"]
    assert check["serviceConfig"]["ExecStart"].endswith("http://[fd00::5]:4444/api/health"), "nothing else answers"


def test_whoever_imports_the_module_is_asked_about_the_agent(flake: Flake) -> None:
    ask = "{ lib, ... }: { services.parachute.acceptUnfreeAgent = lib.mkForce null; }"
    message = flake.error("nixosConfigurations.rpi4", extended(ask))
    assert "services.parachute.acceptUnfreeAgent = true;" in message
    assert "allowUnfreePredicate" in message
    assert "services.parachute.agentProgram" in message


def test_nixpkgs_own_program_takes_the_place_of_the_packages(flake: Flake) -> None:
    program = "/nix/store/claude-code/bin/.claude-wrapped"
    then = """machine: let inherit (machine.config) services systemd; sdk = services.parachute.package.packages.claude-agent-sdk; in {
      inherit (sdk.meta.license) free;
      named = map (name: systemd.user.services.${name}.environment.PARACHUTE_AGENT_PROGRAM) [ "parachute-supervisor" "parachute-core" ];
    }"""
    configuration = f'{{ services.parachute = {{ acceptUnfreeAgent = true; agentProgram = "{program}"; }}; }}'
    found = flake.value("nixosConfigurations.rpi4", extended(configuration, then), free=True)
    assert found == {"free": True, "named": [program] * 2}


def test_the_programs_loader_is_one_that_the_machine_and_its_containers_have(flake: Flake) -> None:
    then = "machine: machine.config.services.parachute.package.packages.claude-agent-sdk.arguments.postFixup"
    for image, loader in (("rpi4", "ld-linux-aarch64.so.1"), ("server", "ld-linux-x86-64.so.2")):
        changed = flake.value(
            f"nixosConfigurations.{image}", extended("{ services.parachute.acceptUnfreeAgent = true; }", then)
        )
        assert re.search(rf"patchelf --set-interpreter \S+-glibc-0/lib/{re.escape(loader)} \S+claude\"", changed)


@pytest.mark.parametrize(("interfaces", "everywhere"), [("[ ]", True), ('[ "eth0" ]', False)])
def test_the_port_is_opened_on_the_interfaces_that_are_named(flake: Flake, interfaces: str, everywhere: bool) -> None:
    then = "machine: { inherit (machine.config.networking.firewall) allowedTCPPorts allowedUDPPorts interfaces; }"
    configuration = f"{{ services.parachute.lan.interfaces = {interfaces}; }}"
    found = flake.value("nixosConfigurations.rpi4", extended(configuration, then))
    opened = {"eth0": {"allowedTCPPorts": [3333], "allowedUDPPorts": [5353]}}
    expected = ([3333], [5353], {}) if everywhere else ([], [], opened)
    assert (found["allowedTCPPorts"], found["allowedUDPPorts"], found["interfaces"]) == expected


def test_a_kernel_from_the_binary_cache_brings_its_own_device_trees(flake: Flake) -> None:
    then = "machine: machine.config.boot.loader.generic-extlinux-compatible.useGenerationDeviceTree"
    assert flake.value("nixosConfigurations.rpi4", extended('{ parachute.image.kernel = "mainline"; }', then)) is True


def test_containers_have_numbers_where_userborn_makes_the_users(flake: Flake) -> None:
    then = "machine: builtins.mapAttrs (_: each: each.text) { inherit (machine.config.environment.etc) subuid subgid; }"
    found = flake.value("nixosConfigurations.server", extended("{ services.userborn.enable = true; }", then))
    assert found == {"subuid": "parachute:100000:65536\n", "subgid": "parachute:100000:65536\n"}


def test_the_build_finds_the_hash_of_what_is_in_the_store(flake: Flake, tmp_path: Path) -> None:
    then = 'machine: { inherit (machine.config.environment.etc."parachute/declared.json".source.arguments) declaration text; }'
    configuration = f"{{ services.parachute.modules.daily.source = {ROOT}/modules/daily; }}"
    built = flake.value("nixosConfigurations.server", extended(configuration, then))
    stored = Path(json.loads(built["declaration"])["modules"]["daily"]["source"])
    assert stored.is_relative_to(flake.store), "a copy that nobody changes"
    (tmp_path / "declaration").write_text(built["declaration"])
    # As Nix would, with this Python in the place of the package's.
    script = re.sub(r"/\S+/bin/python3", sys.executable, built["text"])
    environment = {"declarationPath": str(tmp_path / "declaration"), "out": str(tmp_path / "out")}
    subprocess.run(["bash", "-euc", script], env=environment, check=True)
    found = json.loads((tmp_path / "out").read_text())["modules"]["daily"]
    assert found == {"enable": True, "source": str(stored), "hash": tree_hash(stored), "settings": {}}


def test_the_permission_that_the_message_asks_for_is_enough(flake: Flake) -> None:
    then = "machine: machine.config.system.build.toplevel.drvPath"
    accept = "{ services.parachute.acceptUnfreeAgent = true; }"
    assert "unfree" in flake.error("nixosConfigurations.rpi4", extended(accept, then), free=True)
    allow = (
        "{ lib, ... }: { services.parachute.acceptUnfreeAgent = true; nixpkgs.config.allowUnfreePredicate = "
        'package: builtins.elem (lib.getName package) [ "claude-agent-sdk" ]; }'
    )
    assert json.dumps(flake.value("nixosConfigurations.rpi4", extended(allow, then), free=True)).endswith('.drv"')
