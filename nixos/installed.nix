# Modules of the computer that are there because the configuration says so. Others are installed by the user while it runs.
{ config, lib, ... }:
let
  cfg = config.services.parachute;
  official = lib.attrNames (lib.filterAttrs (name: kind: kind == "directory") (builtins.readDir ../modules));

  officialSource = lib.types.strMatching "parachute://[a-z][a-z0-9_-]{0,39}" // { description = "parachute://NAME"; };

  module = { name, ... }: {
    options = {
      enable = lib.mkOption {
        type = lib.types.bool;
        default = true;
        example = false;
        description = "Whether the module runs. One that does not stays installed, with its data.";
      };

      source = lib.mkOption {
        type = lib.types.nullOr (lib.types.either lib.types.path officialSource);
        default = if lib.elem name official then "parachute://${name}" else null;
        defaultText = lib.literalExpression ''"parachute://NAME" for the official modules'';
        example = lib.literalExpression "inputs.weather";
        description = "The module's folder, or `parachute://NAME` for an official module, which the package brings along.";
      };

      hash = lib.mkOption {
        type = lib.types.nullOr (lib.types.strMatching "sha256:[0-9a-f]{64}" // { description = "sha256: and 64 digits"; });
        default = null;
        example = "sha256:7ebb1f2b18a538631eea2510d48016e83249a1302b3cce916864ee261cbe46a4";
        description = ''
          The hash at which the module is approved; one that has another is not run. `parachute modules check FOLDER` prints it.
          null is for official modules, of which the package knows it, and for what the Nix store has, such as an input of your flake or
          a folder beside it: the hash is then that of these files, found when the system is built.
        '';
      };

      settings = lib.mkOption {
        type = lib.types.attrsOf (lib.types.oneOf [ lib.types.bool lib.types.int lib.types.float lib.types.str ]);
        default = { };
        example = { order = "city"; };
        description = "Settings of the module, by the names of its manifest; never secrets, as everybody can read them here.";
      };
    };
  };

  isOfficial = source: lib.isString source && lib.hasPrefix "parachute://" source;
  # Nothing in the store changes. Without a context it is a text that only looks like it.
  isPinned = source: lib.hasPrefix "${builtins.storeDir}/" "${source}" && builtins.hasContext "${source}";
in
{
  options.services.parachute.modules = lib.mkOption {
    type = lib.types.attrsOf (lib.types.submodule module);
    default = { };
    example = lib.literalExpression ''
      {
        brain = { };
        daily.settings.day_starts_at = "04:00";
        weather.source = inputs.weather;
      }
    '';
    description = ''
      Modules that are always there. They are approved by what is written here, and can neither be changed nor removed while the
      computer runs. One that is no longer written here is uninstalled; its data stay.
    '';
  };

  config = lib.mkIf cfg.enable {
    assertions = lib.concatLists (lib.mapAttrsToList
      (name: found: [
        {
          assertion = builtins.match "[a-z][a-z0-9_-]{0,39}" name != null;
          message = ''
            services.parachute.modules."${name}": a module's name has 1 to 40 of a-z, 0-9, - and _, and begins with a letter. Write
            the name of its manifest.
          '';
        }
        {
          assertion = found.source != null;
          message = ''
            services.parachute.modules.${name}.source: no official module has this name (they are ${lib.concatStringsSep ", " official}).
            Write the module's folder, such as ./${name} or an input of your flake.
          '';
        }
        {
          assertion = found.source == null || isOfficial found.source || found.hash != null || isPinned found.source;
          message = ''
            services.parachute.modules.${name}.hash: nothing says that this code is the one that you have read. Look through its
            folder, let `parachute modules check FOLDER` print its hash, and write hash = "sha256:…". An input of your flake needs none.
          '';
        }
      ])
      cfg.modules);

    services.parachute.declared.modules = lib.mapAttrs
      (_: found: {
        inherit (found) enable hash settings;
        # A path becomes one of the store, so that the module is there when the configuration is.
        source = if found.source == null then "" else "${found.source}";
      })
      cfg.modules;
  };
}
