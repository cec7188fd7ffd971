{ config, lib, pkgs, ... }:
{
  options.sdImage = {
    firmwareSize = lib.mkOption { type = lib.types.int; default = 30; };
    expandOnBoot = lib.mkOption { type = lib.types.bool; default = true; };
  };
  options.image.baseName = lib.mkOption { type = lib.types.str; default = "nixos"; };
  config = {
    boot.loader.grub.enable = false;
    boot.loader.generic-extlinux-compatible.enable = true;
    boot.consoleLogLevel = lib.mkDefault 7;
    hardware.enableAllHardware = true;
    fileSystems."/boot/firmware" = { device = "/dev/disk/by-label/FIRMWARE"; fsType = "vfat"; options = [ "nofail" "noauto" ]; };
    fileSystems."/" = { device = "/dev/disk/by-label/NIXOS_SD"; fsType = "ext4"; };
    system.build.sdImage = pkgs.writeText "${config.image.baseName}.img" "${config.system.build.toplevel}";
  };
}
