# Stands for nixos-hardware: the options of its boards that we set.
{
  inputs.nixpkgs.url = "github:NixOS/nixpkgs";

  outputs =
    _:
    let
      board =
        { lib, ... }:
        {
          options.hardware.raspberry-pi.firmware = lib.genAttrs [ "enable" "uboot" ] (
            name:
            if name == "uboot" then
              { enable = lib.mkEnableOption "U-Boot"; }
            else
              lib.mkEnableOption "writing the firmware"
          );
        };
    in
    {
      nixosModules.raspberry-pi-4 = board;
      nixosModules.raspberry-pi-5 = board;
    };
}
