# What the flake gives as nixosModules.default: the module with the package and the image that it runs.
{
  imports = [
    ./modules.nix
    ./agent.nix
  ];
}
