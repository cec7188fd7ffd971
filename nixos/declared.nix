# What the configuration says, as one file that the computer reads at its start. What is in it wins over what the user has set,
# and cannot be changed while the computer runs; everything else is the user's.
{ config, lib, pkgs, ... }:
let
  cfg = config.services.parachute;
  text = builtins.toJSON cfg.declared;
  lacksHash = module: module.hash == null && lib.hasPrefix "/" module.source;
in
{
  options.services.parachute.declaredFile = lib.mkOption {
    type = lib.types.attrsOf lib.types.unspecified;
    internal = true;
    readOnly = true;
    default =
      if lib.any lacksHash (lib.attrValues (cfg.declared.modules or { })) then
        {
          # The hashes are found in the store when this is built.
          source = pkgs.runCommand "declared.json" { declaration = text; passAsFile = [ "declaration" ]; } ''
            ${cfg.package.python}/bin/python3 -m parachute.modules.registry.pinned < "$declarationPath" > "$out"
          '';
        }
      else
        { inherit text; };
    example = { text = "{}"; };
    description = "That file, as `environment.etc` and home-manager take one.";
  };

  config = lib.mkIf cfg.enable {
    services.parachute.declared = {
      version = 1;
      inherit (cfg) user;
      settings = { };
      modules = { };
      workspaces = { };
    };
  };
}
