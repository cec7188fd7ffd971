{
  inputs.parachute.url = "git+file:///home/me/parachute"; # where its repository is

  outputs =
    { parachute, ... }:
    {
      # rpi4, rpi5 or server
      nixosConfigurations.parachute = parachute.nixosConfigurations.rpi4.extendModules {
        modules = [
          (
            { lib, ... }:
            {
              # The agent's program, Claude Code, is not free software: docs/appliance.md says what that means.
              services.parachute.acceptUnfreeAgent = true;
              nixpkgs.config.allowUnfreePredicate = package: builtins.elem (lib.getName package) [ "claude-agent-sdk" ];

              # Without a key there is no ssh, and an update is a new card.
              parachute.image.sshKeys = [ "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample me@laptop" ];

              time.timeZone = "Europe/Berlin";
            }
          )
        ];
      };
    };
}
