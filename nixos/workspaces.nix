# Workspaces that are there because the configuration says so.
{ config, lib, ... }:
let
  cfg = config.services.parachute;

  choice = what: lib.mkOption {
    type = lib.types.either (lib.types.enum [ "all" "none" ]) (lib.types.listOf lib.types.str);
    default = "all";
    example = [ "brain" ];
    description = "Which ${what} its conversations get: all, none, or those that are named.";
  };

  repository.options = {
    repository = lib.mkOption {
      type = lib.types.nonEmptyStr;
      example = "github.com/ada/garden";
      description = "The host and the path of a repository.";
    };
    access = lib.mkOption {
      type = lib.types.enum [ "fetch" "push" ];
      default = "fetch";
      example = "push";
      description = "What may be done with it; to push includes to fetch.";
    };
  };

  workspace = { name, ... }: {
    options = {
      name = lib.mkOption {
        type = lib.types.nonEmptyStr;
        default = name;
        defaultText = lib.literalExpression "the attribute's name";
        example = "The garden";
        description = "The name that apps show.";
      };
      description = lib.mkOption {
        type = lib.types.str;
        default = "";
        example = "Beds, seeds and the weather";
        description = "What it is for.";
      };
      trustLevel = lib.mkOption {
        type = lib.types.enum [ "sandboxed" "direct" ];
        default = "sandboxed";
        example = "sandboxed";
        description = "Every conversation in it is at least this restricted.";
      };
      workingDirectory = lib.mkOption {
        type = lib.types.nullOr lib.types.str;
        default = null;
        example = "Projects/garden";
        description = "The folder in which its agents work, relative to the vault or absolute; null for none.";
      };
      model = lib.mkOption {
        type = lib.types.nullOr lib.types.str;
        default = null;
        example = "claude-sonnet-4-5";
        description = "The model to ask for; null for that of the settings.";
      };
      onlyAtHome = lib.mkOption {
        type = lib.types.bool;
        default = false;
        example = true;
        description = "Whether its conversations go to models at home only, whatever they choose.";
      };
      capabilities = {
        mcps = choice "MCP servers, tools and modules";
        skills = choice "skills";
        agents = choice "agents";
        plugins = choice "plugins";
      };
      memory = lib.mkOption {
        type = lib.types.nullOr (lib.types.ints.between 256 1048576);
        default = null;
        example = 2048;
        description = "Memory of one of its sandboxes, in megabytes; null for that of `sandbox.memory`.";
      };
      cpus = lib.mkOption {
        type = lib.types.nullOr (lib.types.numbers.between 0.1 512);
        default = null;
        example = 1.5;
        description = "Processors that one of its sandboxes may use; null for those of `sandbox.cpus`.";
      };
      processes = lib.mkOption {
        type = lib.types.nullOr (lib.types.ints.between 160 4096);
        default = null;
        example = 400;
        description = "Processes of one of its sandboxes; null for those of `sandbox.processes`.";
      };
      git = lib.mkOption {
        type = lib.types.listOf (lib.types.submodule repository);
        default = [ ];
        example = [{ repository = "github.com/ada/garden"; access = "push"; }];
        description = "Repositories that git uses in its sandboxes, with the owner's tokens, which are stored with `parachute git token`.";
      };
    };
  };
in
{
  options.services.parachute.workspaces = lib.mkOption {
    type = lib.types.attrsOf (lib.types.submodule workspace);
    default = { };
    example = { garden = { name = "The garden"; workingDirectory = "Projects/garden"; }; };
    description = "Workspaces that are always there, by their slug. They can neither be changed nor deleted while the computer runs.";
  };

  config = lib.mkIf cfg.enable {
    assertions = lib.mapAttrsToList
      (slug: _: {
        assertion = builtins.match "[a-z0-9]+(-[a-z0-9]+)*" slug != null && lib.stringLength slug <= 40;
        message = ''
          services.parachute.workspaces."${slug}": a slug has at most 40 of a-z, 0-9 and single dashes. Write what apps shall show
          as its `name`.
        '';
      })
      cfg.workspaces;

    services.parachute.declared.workspaces = lib.mapAttrs
      (_: found: {
        inherit (found) name description model capabilities cpus processes git;
        default_trust_level = found.trustLevel;
        only_at_home = found.onlyAtHome;
        working_directory = found.workingDirectory;
        memory_megabytes = found.memory;
      })
      cfg.workspaces;
  };
}
