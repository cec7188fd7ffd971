{
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";
  inputs.parachute.url = "git+file:///home/me/parachute"; # where its repository is
  inputs.parachute.inputs.nixpkgs.follows = "nixpkgs";

  outputs =
    { nixpkgs, parachute, ... }:
    {
      nixosConfigurations.server = nixpkgs.lib.nixosSystem {
        modules = [
          ./configuration.nix
          parachute.nixosModules.default
          (
            { lib, ... }:
            {
              nixpkgs.config.allowUnfreePredicate = package: builtins.elem (lib.getName package) [ "claude-agent-sdk" ];
              services.parachute = {
                enable = true;
                acceptUnfreeAgent = true;
                lan.enable = true;
              };
            }
          )
        ];
      };
    };
}
