# A disk for any x86-64 machine with UEFI; it grows to the disk's size at the first boot.
{
  config,
  lib,
  modulesPath,
  pkgs,
  ...
}:
{
  imports = [
    (modulesPath + "/virtualisation/disk-image.nix")
    ./common.nix
    ./boot-counting.nix
  ];

  nixpkgs.hostPlatform = lib.mkDefault "x86_64-linux";

  image = {
    baseName = "parachute-server";
    format = "raw";
    efiSupport = true;
  };

  # As disk-image.nix makes it, but for the partition that the kernels are on: its 256 MB are full after some updates.
  system.build.image = lib.mkForce (
    import (modulesPath + "/../lib/make-disk-image.nix") {
      inherit config lib pkgs;
      inherit (config.image) baseName format;
      inherit (config.virtualisation) diskSize;
      partitionTableType = "efi";
      bootSize = "1G";
    }
  );

  # The machine that it is written for is another one than this: its firmware finds the loader by its usual name.
  boot.loader.efi.canTouchEfiVariables = false;
  boot.loader.systemd-boot = {
    enable = true;
    # Whoever sits at the keyboard could become root with it.
    editor = false;
    configurationLimit = lib.mkDefault 10;
  };

  # Which disks and network cards it has is not known.
  hardware.enableAllHardware = true;
  hardware.enableRedistributableFirmware = true;
}
