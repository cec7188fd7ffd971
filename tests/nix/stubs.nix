# As much of NixOS's options as the modules set, with the types that they have there; none of them does anything. Units get what
# NixOS puts together from their options, so that tests/nix/rendering.py has only to write it.
{ lib, pkgs, ... }:
let
  inherit (lib) mkOption types;
  option = type: default: mkOption { inherit type default; };
  flag = option types.bool false;
  texts = option (types.listOf types.str) [ ];
  anything = option (types.attrsOf types.anything) { };
  setOf = module: option (types.attrsOf (types.submodule module)) { };
  nullOr = type: option (types.nullOr type) null;

  unit = { config, ... }: {
    options = {
      enable = option types.bool true;
      description = option types.str "";
      wantedBy = texts;
      requiredBy = texts;
      before = texts;
      requires = texts;
      wants = texts;
      after = texts;
      unitConfig = anything;
    };
    config.unitConfig = lib.filterAttrs (_: value: value != "") {
      Description = config.description;
      Requires = toString config.requires;
      Wants = toString config.wants;
      After = toString config.after;
      Before = toString config.before;
    };
  };

  service = { config, ... }: {
    imports = [ unit ];
    options = {
      overrideStrategy = option (types.enum [ "asDropinIfExists" "asDropin" ]) "asDropinIfExists";
      restartIfChanged = option types.bool true;
      environment = option (types.attrsOf (types.nullOr types.str)) { };
      path = option (types.listOf (types.either types.package types.str)) [ ];
      script = option types.lines "";
      serviceConfig = anything;
    };
    config = {
      # Every service of NixOS finds these few.
      path = lib.mkAfter [ pkgs.coreutils pkgs.findutils pkgs.gnugrep pkgs.gnused pkgs.systemd ];
      environment.PATH = "${lib.makeBinPath config.path}:${lib.makeSearchPath "sbin" config.path}";
    };
  };

  socket = {
    imports = [ unit ];
    options = {
      listenStreams = texts;
      socketConfig = anything;
    };
  };

  timer = {
    imports = [ unit ];
    options.timerConfig = anything;
  };

  user = { config, name, ... }: {
    options = {
      isNormalUser = flag;
      description = option types.str "";
      home = option types.path "/var/empty";
      group = option types.str "";
      linger = nullOr types.bool;
      autoSubUidGidRange = flag;
      hashedPassword = nullOr types.str;
      openssh.authorizedKeys.keys = texts;
    };
    config = lib.mkIf config.isNormalUser {
      home = lib.mkDefault "/home/${name}";
      group = lib.mkDefault "users";
    };
  };

  tmpfile = types.submodule {
    options = {
      mode = option types.str "-";
      user = option types.str "-";
      group = option types.str "-";
    };
  };
in
{
  options = {
    assertions = option (types.listOf types.unspecified) [ ];
    warnings = texts;

    systemd = {
      package = option types.package pkgs.systemd;
      services = setOf service;
      user.services = setOf service;
      user.sockets = setOf socket;
      user.timers = setOf timer;
      tmpfiles.settings = option (types.attrsOf (types.attrsOf (types.attrsOf tmpfile))) { };
      settings.Manager = anything;
    };
    system.userActivationScripts = setOf { options.text = option types.lines ""; };

    users.manageLingering = flag;
    users.users = setOf user;

    environment.systemPackages = option (types.listOf types.package) [ ];
    environment.etc = setOf { options = { text = nullOr types.lines; source = nullOr types.path; }; };

    security.allowUserNamespaces = option types.bool true;

    networking.hostName = option types.str "nixos";
    networking.firewall.allowedTCPPorts = option (types.listOf types.port) [ ];
    networking.firewall.interfaces = setOf {
      options.allowedTCPPorts = option (types.listOf types.port) [ ];
      options.allowedUDPPorts = option (types.listOf types.port) [ ];
    };

    virtualisation.podman.enable = flag;
    virtualisation.podman.package = option types.package pkgs.podman;
    virtualisation.containers.storage.settings = anything;

    services.avahi = {
      enable = flag;
      hostName = option types.str "nixos";
      openFirewall = option types.bool true;
      allowInterfaces = nullOr (types.listOf types.str);
      publish.enable = flag;
      publish.addresses = flag;
      extraServiceFiles = option (types.attrsOf types.str) { };
    };
    services.userborn.enable = flag;
    services.timesyncd.enable = option types.bool true;
    services.journald.storage = option (types.enum [ "persistent" "volatile" "auto" "none" ]) "persistent";

    zramSwap.enable = flag;
    boot.kernel.sysctl = anything;

    # What sops-nix declares.
    sops.secrets = setOf ({ name, ... }: {
      options.owner = option types.str "root";
      options.path = option types.str "/run/secrets/${name}";
    });
  };
}
