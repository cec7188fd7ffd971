# A card for the Raspberry Pi 4.
{ nixos-hardware, ... }:
{
  imports = [
    nixos-hardware.nixosModules.raspberry-pi-4
    ./raspberry-pi.nix
  ];

  image.baseName = "parachute-rpi4";
}
