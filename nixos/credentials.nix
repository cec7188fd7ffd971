# The credential of the model's service: a file that sops-nix, agenix or a person puts onto the machine, never the store.
{ config, lib, ... }:
let
  cfg = config.services.parachute;
in
{
  options.services.parachute.credentialsFile = lib.mkOption {
    type = lib.types.nullOr lib.types.path;
    default = null;
    example = "/run/secrets/parachute";
    description = ''
      A file with lines such as `ANTHROPIC_API_KEY=…`, which the user can read and nobody else. Names are those of
      ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN, ANTHROPIC_AUTH_TOKEN and ANTHROPIC_BASE_URL; any other is an error. null: the user
      logs in with `parachute auth` or on the page for setting up.
    '';
  };

  config = lib.mkIf (cfg.enable && cfg.credentialsFile != null) {
    assertions = [
      {
        assertion = !(builtins.isPath cfg.credentialsFile || lib.hasPrefix builtins.storeDir cfg.credentialsFile);
        message = ''
          services.parachute.credentialsFile: the Nix store can be read by everybody. Write the name of a file outside of it, in
          quotes, such as "/run/secrets/parachute"; sops-nix and agenix make such files.
        '';
      }
    ];

    # systemd hands the file over in a folder that only this service knows.
    services.parachute.units.services.parachute-core.serviceConfig.LoadCredential = "credentials:${toString cfg.credentialsFile}";
  };
}
