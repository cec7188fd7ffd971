# Stands for nixos-hardware: the one option of its boards that we set.
{
  outputs =
    _:
    let
      board =
        { lib, ... }:
        {
          options.hardware.raspberry-pi.firmware.uboot.enable = lib.mkOption {
            type = lib.types.bool;
            default = false;
          };
        };
    in
    {
      nixosModules.raspberry-pi-4 = board;
      nixosModules.raspberry-pi-5 = board;
    };
}
