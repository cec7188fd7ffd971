# A home server that does other things as well: bigger limits, nightly backups, and its own user for the computer.
{
  services.parachute = {
    enable = true;
    lan.enable = true;
    vault = "/srv/parachute";
    modules = {
      brain = { };
      daily = { };
      chat = { };
    };
    sandbox = {
      memory = 4096;
      totalMemory = 16384;
    };
    backup = {
      enable = true;
      repository = "/mnt/backup/parachute";
      passwordFile = "/etc/parachute/backup-password";
    };
  };

  systemd.tmpfiles.settings."20-vault"."/srv/parachute".d = {
    user = "parachute";
    mode = "0700";
  };
}
