# Credentials from sops-nix (agenix is alike: `age.secrets.parachute`, with `owner` and `.path`).
{ config, ... }:
{
  sops.secrets = {
    parachute.owner = config.services.parachute.user;
    parachute-backup.owner = config.services.parachute.user;
  };

  services.parachute = {
    enable = true;
    provider = "anthropic";
    credentialsFile = config.sops.secrets.parachute.path;
    backup = {
      enable = true;
      repository = "sftp:backup@nas.local:/parachute";
      passwordFile = config.sops.secrets.parachute-backup.path;
    };
  };
}
