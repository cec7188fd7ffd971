# What both Raspberry Pis have in common; the card is nixpkgs' own, and expands to its size at the first boot.
{ lib, modulesPath, ... }:
{
  imports = [
    (modulesPath + "/installer/sd-card/sd-image-aarch64.nix")
    ./common.nix
  ];

  nixpkgs.hostPlatform = lib.mkDefault "aarch64-linux";

  # Without it a Pi finds no kernel: its green light flashes seven times.
  hardware.raspberry-pi.firmware.uboot.enable = true;

  # The boot files of every board, device trees and overlays included, need more than the 30 MiB of the default.
  sdImage.firmwareSize = 256;
  # Which generations the menu offers.
  boot.loader.generic-extlinux-compatible.configurationLimit = lib.mkDefault 10;

  # The base profile of nixpkgs' cards brings it, and it is built anew for each kernel.
  boot.supportedFilesystems.zfs = lib.mkForce false;
  # nixpkgs' cards start on many boards, and so ask for modules that the kernel of a Pi lacks: it would not be built. What a Pi
  # needs nixos-hardware names. https://github.com/NixOS/nixos-hardware/issues/2006
  hardware.enableAllHardware = lib.mkForce false;
  boot.initrd.systemd.tpm2.enable = false;
  # nixpkgs' cards show all that the kernel says, which would run over the key and the code on the screen.
  boot.consoleLogLevel = lib.mkOverride 900 4;
  # Reading a file writes nothing.
  fileSystems."/".options = [ "noatime" ];
}
