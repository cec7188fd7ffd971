# The agent's program, Claude Code: whether it may be part of the package, and where it finds what it needs to start.
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.services.parachute;
  sandboxImage = pkgs.callPackage ./sandbox-image.nix { added = cfg.sandbox.packages; };
in
{
  options.services.parachute.acceptUnfreeAgent = lib.mkOption {
    type = lib.types.nullOr lib.types.bool;
    default = null;
    example = true;
    description = ''
      Whether Claude Code, the program that is the agent, is part of the package. It is not free software: its terms are at
      <https://www.anthropic.com/legal>. Without it journal and knowledge work, and chats are not answered. The answer has to be
      given; `true` also needs nixpkgs' permission, in `nixpkgs.config.allowUnfreePredicate`, for `claude-agent-sdk`.
    '';
  };

  config = lib.mkIf cfg.enable {
    assertions = [
      {
        assertion = cfg.acceptUnfreeAgent != null;
        message = ''
          services.parachute.acceptUnfreeAgent: the agent's program, Claude Code, is not free software, and you have to say whether you
          want it. To have chats answered, write

            services.parachute.acceptUnfreeAgent = true;
            nixpkgs.config.allowUnfreePredicate = package: builtins.elem (lib.getName package) [ "claude-agent-sdk" ];

          With services.parachute.acceptUnfreeAgent = false everything but chats works.
        '';
      }
    ];

    services.parachute = {
      package = lib.mkDefault (pkgs.callPackage ./package.nix { acceptUnfreeAgent = cfg.acceptUnfreeAgent == true; });
      sandbox.image = lib.mkDefault "${sandboxImage}/root.tar";
    };

    # The program is the one that was published, and asks for the loader where other systems have it; in the containers' image it
    # is there as well. Before stub-ld's default, which only prints that it cannot run; after whoever sets it plainly, as nix-ld does.
    environment.ldso = lib.mkIf (cfg.acceptUnfreeAgent == true) (
      lib.mkOverride 900 "${pkgs.glibc}/lib/${baseNameOf sandboxImage.loader}"
    );
  };
}
