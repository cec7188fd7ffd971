# A card for the Raspberry Pi 5.
{ nixos-hardware, ... }:
{
  imports = [
    nixos-hardware.nixosModules.raspberry-pi-5
    ./raspberry-pi.nix
  ];

  image.baseName = "parachute-rpi5";
}
