# What all images have in common: Parachute is set up in a browser, nobody can log in, and nothing else listens.
{ config, lib, ... }:
let
  cfg = config.parachute.image;
in
{
  options.parachute.image.sshKeys = lib.mkOption {
    type = lib.types.listOf lib.types.str;
    default = [ ];
    example = [ "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample me@laptop" ];
    description = ''
      Public keys that may log in as root over ssh. Without one there is no ssh server: the machine is then changed by
      writing a new image.
    '';
  };

  config = {
    services.parachute = {
      enable = true;
      lan.enable = lib.mkDefault true;
      firstBoot.enable = lib.mkDefault true;
      # What it is written to may be a memory card, which wears out; a server with a disk can turn it off.
      sparing = lib.mkDefault true;
      watchdog = lib.mkDefault true;
      # Yours says true, and gives nixpkgs' permission: see docs/appliance.md. So the images of the repository itself need none.
      acceptUnfreeAgent = lib.mkDefault false;
    };

    # No password is right, at the console neither.
    users.mutableUsers = false;
    users.allowNoPasswordLogin = true;
    users.users.root = {
      hashedPassword = "!";
      openssh.authorizedKeys.keys = cfg.sshKeys;
    };

    services.openssh = {
      enable = cfg.sshKeys != [ ];
      settings = {
        PasswordAuthentication = false;
        KbdInteractiveAuthentication = false;
        PermitRootLogin = "prohibit-password";
      };
    };

    # Two machines made of one image have nothing in common: systemd writes a new /etc/machine-id at the first boot, sshd new host
    # keys, and Avahi adds a number to a name that is taken.
    networking.hostName = lib.mkDefault "parachute";
    networking.firewall.enable = true;

    nix.settings.experimental-features = [
      "nix-command"
      "flakes"
    ];
    # Memory cards are small; the menu keeps the generations of the last month.
    nix.gc = {
      automatic = lib.mkDefault true;
      dates = lib.mkDefault "weekly";
      options = lib.mkDefault "--delete-older-than 30d";
    };

    documentation.enable = lib.mkDefault false;
    # Nobody is there to use them.
    security.sudo.enable = lib.mkDefault false;
    programs.nano.enable = lib.mkDefault false;
    services.lvm.enable = lib.mkDefault false;

    # What a power cut left there would stay for ever.
    boot.tmp.cleanOnBoot = lib.mkDefault true;
    # Nobody could log in to the shell in which it would wait, nor see what the kernel says before it stops: it starts again.
    systemd.enableEmergencyMode = false;
    boot.kernelParams = [ "panic=10" ];
    system.stateVersion = "26.05";
  };
}
