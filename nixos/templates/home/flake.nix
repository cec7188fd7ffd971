{
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";
  inputs.home-manager.url = "github:nix-community/home-manager/release-26.05";
  inputs.home-manager.inputs.nixpkgs.follows = "nixpkgs";
  inputs.parachute.url = "git+file:///home/me/parachute"; # where its repository is
  inputs.parachute.inputs.nixpkgs.follows = "nixpkgs";

  outputs =
    {
      nixpkgs,
      home-manager,
      parachute,
      ...
    }:
    {
      homeConfigurations.alice = home-manager.lib.homeManagerConfiguration {
        pkgs = nixpkgs.legacyPackages.x86_64-linux;
        modules = [
          parachute.homeModules.default
          (
            { lib, ... }:
            {
              home.username = "alice";
              home.homeDirectory = "/home/alice";
              home.stateVersion = "26.05";
              nixpkgs.config.allowUnfreePredicate = package: builtins.elem (lib.getName package) [ "claude-agent-sdk" ];
              services.parachute = {
                enable = true;
                acceptUnfreeAgent = true;
                modules.daily = { };
              };
            }
          )
        ];
      };
    };
}
