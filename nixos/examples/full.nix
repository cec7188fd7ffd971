# Every option once.
{ pkgs, ... }:
{
  users.users.alice.isNormalUser = true;

  services.parachute = {
    enable = true;
    user = "alice";
    vault = "/srv/parachute";
    port = 4000;
    openFirewall = true;
    auth = "always";
    provider = "anthropic";
    credentialsFile = "/run/secrets/parachute";
    offlineModel = "/srv/models/small.gguf";

    lan = {
      enable = true;
      address = "192.168.1.20";
      interfaces = [ "eth0" ];
      name = "study";
    };

    modules = {
      brain = { };
      daily.enable = true;
      chat.enable = false;
      weather = {
        source = "/nix/store/00000000000000000000000000000000-weather";
        hash = "sha256:7ebb1f2b18a538631eea2510d48016e83249a1302b3cce916864ee261cbe46a4";
        settings = {
          place = "Leipzig";
          hours = 12;
        };
      };
    };

    sandbox = {
      engine = "podman";
      required = true;
      image = "/nix/store/00000000000000000000000000000000-sandbox.tar";
      memory = 2048;
      cpus = 1.5;
      processes = 300;
      totalMemory = 4096;
      idle = 15;
      hosts = [ "*.wikipedia.org" ];
      packages = [ pkgs.curl ];
    };

    workspaces.garden = {
      name = "The garden";
      description = "Beds, seeds and the weather";
      trustLevel = "sandboxed";
      onlyAtHome = false;
      workingDirectory = "Projects/garden";
      model = "claude-sonnet-4-5";
      capabilities.mcps = [ "brain" ];
      memory = 1024;
      cpus = 1;
      processes = 256;
      git = [{ repository = "github.com/ada/garden"; access = "push"; }];
    };

    backup = {
      enable = true;
      repository = "/mnt/usb/parachute";
      passwordFile = "/run/secrets/parachute-backup";
      environmentFile = "/run/secrets/parachute-backup-environment";
      schedule = "Mon..Fri 04:00";
      randomizedDelay = "1h";
      drill = {
        enable = true;
        schedule = "Sun 05:00";
      };
    };

    settings = {
      daily_spending_limit = 5.0;
      agents.warm = 1;
      project_folders = [ "/home/alice/Projects" ];
    };

    firstBoot.enable = true;
    sparing = true;
    watchdog = true;
  };
}
