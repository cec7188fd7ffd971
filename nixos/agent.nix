# The agent's program, Claude Code: whether it may be part of the package, and where it finds what it needs to start.
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.services.parachute;
in
{
  options.services.parachute = {
    acceptUnfreeAgent = lib.mkOption {
      type = lib.types.nullOr lib.types.bool;
      default = null;
      example = true;
      description = ''
        Whether Claude Code, the program that is the agent, is part of the package. It is not free software: its terms are at
        <https://www.anthropic.com/legal>. Without it journal and knowledge work, and chats are not answered. The answer has to be
        given; `true` also needs nixpkgs' permission, in `nixpkgs.config.allowUnfreePredicate`, for `claude-agent-sdk`.
      '';
    };

    agentProgram = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      example = lib.literalExpression ''"''${pkgs.claude-code}/bin/.claude-wrapped"'';
      description = ''
        Another Claude Code than the package's, such as that of nixpkgs: the program itself and no script around it, since agents
        run it in their containers. The package then needs none of its own, and `acceptUnfreeAgent` can be `false`.
      '';
    };

    agentInterpreter = lib.mkOption {
      type = lib.types.nullOr lib.types.str;
      default = null;
      internal = true;
      example = "/nix/store/glibc/lib/ld-linux-x86-64.so.2";
      description = "The loader that the package's own program is made to ask for; null: the one of other systems.";
    };
  };

  config = lib.mkIf cfg.enable {
    assertions = [
      {
        assertion = cfg.acceptUnfreeAgent != null || cfg.agentProgram != null;
        message = ''
          services.parachute.acceptUnfreeAgent: the agent's program, Claude Code, is not free software, and you have to say whether you
          want it. To have chats answered, write

            services.parachute.acceptUnfreeAgent = true;
            nixpkgs.config.allowUnfreePredicate = package: builtins.elem (lib.getName package) [ "claude-agent-sdk" ];

          With services.parachute.acceptUnfreeAgent = false everything but chats works. Where nixpkgs' own claude-code is allowed
          already, services.parachute.agentProgram = "''${pkgs.claude-code}/bin/.claude-wrapped" takes that.
        '';
      }
    ];

    services.parachute.package = lib.mkDefault (
      pkgs.callPackage ./package.nix {
        acceptUnfreeAgent = cfg.acceptUnfreeAgent == true && cfg.agentProgram == null;
        inherit (cfg) agentInterpreter;
      }
    );

    services.parachute.units.services = lib.mkIf (cfg.agentProgram != null) (
      lib.genAttrs [ "parachute-supervisor" "parachute-core" ] (_: {
        environment.PARACHUTE_AGENT_PROGRAM = "${cfg.agentProgram}";
      })
    );
  };
}
