# What both Raspberry Pis have in common; the card is nixpkgs' own, and expands to its size at the first boot.
{
  config,
  lib,
  modulesPath,
  pkgs,
  ...
}:
{
  options.parachute.image.kernel = lib.mkOption {
    type = lib.types.enum [
      "vendor"
      "mainline"
    ];
    default = "vendor";
    example = "mainline";
    description = ''
      The kernel of a Raspberry Pi: `vendor` is the one of the Raspberry Pi's makers, which no binary cache has, so that building the
      card compiles it; `mainline` is that of nixpkgs, which is downloaded, and knows fewer of the board's parts.
    '';
  };

  imports = [
    (modulesPath + "/installer/sd-card/sd-image-aarch64.nix")
    ./common.nix
  ];

  # What nixpkgs' cards bring for mending other machines: file systems, browsers of text, tools of networks.
  disabledModules = [ "profiles/base.nix" ];

  config = {
    nixpkgs.hostPlatform = lib.mkDefault "aarch64-linux";

    # Without it a Pi finds no kernel: its green light flashes seven times.
    hardware.raspberry-pi.firmware.uboot.enable = true;
    # An update brings the firmware, the loader and the device trees along; otherwise they stayed those of the day the card was written.
    hardware.raspberry-pi.firmware.enable = lib.mkDefault true;
    # Open while it is written only: a power cut may cost a file system of this kind its files.
    fileSystems."/boot/firmware".options = lib.mkForce [
      "nofail"
      "noauto"
      "x-systemd.automount"
      "x-systemd.idle-timeout=1min"
    ];

    # The boot files of every board, device trees and overlays included, need more than the 30 MiB of the default.
    sdImage.firmwareSize = 256;
    # Which generations the menu offers.
    boot.loader.generic-extlinux-compatible.configurationLimit = lib.mkDefault 10;

    boot.kernelPackages = lib.mkIf (config.parachute.image.kernel == "mainline") (lib.mkOverride 900 pkgs.linuxPackages);
    # The makers' device trees, which lie on the firmware's partition, are for their own kernel.
    boot.loader.generic-extlinux-compatible.useGenerationDeviceTree = lib.mkIf (config.parachute.image.kernel == "mainline") true;

    # nixpkgs' cards start on many boards, and so ask for modules that the kernel of a Pi lacks: it would not be built. What a Pi
    # needs nixos-hardware names. https://github.com/NixOS/nixos-hardware/issues/2006
    hardware.enableAllHardware = lib.mkForce false;
    boot.initrd.systemd.tpm2.enable = false;
    # nixpkgs' cards show all that the kernel says, which would run over the key and the code on the screen.
    boot.consoleLogLevel = lib.mkOverride 900 4;
    # Reading a file writes nothing.
    fileSystems."/".options = [ "noatime" ];
  };
}
