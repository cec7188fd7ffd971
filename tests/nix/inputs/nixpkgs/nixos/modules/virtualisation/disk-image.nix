{ config, lib, pkgs, ... }:
{
  options.virtualisation.diskSize = lib.mkOption { type = lib.types.either (lib.types.enum [ "auto" ]) lib.types.ints.positive; default = "auto"; };
  options.image = {
    baseName = lib.mkOption { type = lib.types.str; default = "nixos"; };
    format = lib.mkOption { type = lib.types.enum [ "raw" "qcow2" ]; default = "qcow2"; };
    efiSupport = lib.mkOption { type = lib.types.bool; default = true; };
  };
  config = {
    boot.growPartition = lib.mkDefault true;
    boot.loader.grub.enable = lib.mkDefault (!config.image.efiSupport);
    fileSystems."/" = { device = "/dev/disk/by-label/nixos"; fsType = "ext4"; autoResize = true; };
    system.build.image = import ../../lib/make-disk-image.nix {
      inherit config lib pkgs;
      inherit (config.image) baseName format;
      inherit (config.virtualisation) diskSize;
    };
  };
}
