{ config, lib, pkgs, ... }:
{
  options.image = {
    baseName = lib.mkOption { type = lib.types.str; default = "nixos"; };
    format = lib.mkOption { type = lib.types.enum [ "raw" "qcow2" ]; default = "qcow2"; };
    efiSupport = lib.mkOption { type = lib.types.bool; default = true; };
  };
  config = {
    boot.growPartition = lib.mkDefault true;
    boot.loader.grub.enable = lib.mkDefault (!config.image.efiSupport);
    fileSystems."/" = { device = "/dev/disk/by-label/nixos"; fsType = "ext4"; autoResize = true; };
    system.build.image = pkgs.writeText "${config.image.baseName}.${config.image.format}" "${config.system.build.toplevel}";
  };
}
