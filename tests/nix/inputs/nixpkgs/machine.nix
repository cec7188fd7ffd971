# Options of NixOS that images set and the module does not; with ../../stubs.nix they are what the tests know of NixOS.
{ config, lib, pkgs, ... }:
let
  inherit (lib) mkOption types;
  option = type: default: mkOption { inherit type default; };
  flag = option types.bool false;
  texts = option (types.listOf types.str) [ ];
  anything = option (types.attrsOf types.anything) { };
  failed = map (each: each.message) (builtins.filter (each: !each.assertion) config.assertions);
in
{
  options = {
    nixpkgs = {
      hostPlatform = mkOption { type = types.str; };
      config.allowUnfreePredicate = mkOption { type = types.functionTo types.bool; default = _: false; };
    };
    system = {
      stateVersion = mkOption { type = types.str; };
      build = option (types.attrsOf types.unspecified) { };
    };
    boot = {
      loader.grub.enable = option types.bool true;
      loader.efi.canTouchEfiVariables = flag;
      loader.systemd-boot = { enable = flag; editor = option types.bool true; configurationLimit = option (types.nullOr types.int) null; };
      loader.generic-extlinux-compatible = { enable = flag; configurationLimit = option types.int 20; };
      loader.generic-extlinux-compatible.useGenerationDeviceTree = option types.bool true;
      kernelPackages = option types.unspecified pkgs.linuxPackages;
      kernelParams = texts;
      tmp.cleanOnBoot = flag;
      growPartition = flag;
      consoleLogLevel = option types.int 4;
      initrd.systemd.tpm2.enable = option types.bool true;
    };
    time.timeZone = option (types.nullOr types.str) null;
    documentation.enable = option types.bool true;
    security.sudo.enable = option types.bool true;
    programs.nano.enable = option types.bool true;
    services.lvm.enable = option types.bool true;
    systemd.enableEmergencyMode = option types.bool true;
    environment.ldso = option (types.nullOr types.path) null;
    fileSystems = option (types.attrsOf (types.submodule {
      options = { device = mkOption { type = types.str; }; fsType = mkOption { type = types.str; }; options = texts; autoResize = flag; };
    })) { };
    hardware = { enableAllHardware = flag; enableRedistributableFirmware = flag; };
    networking.firewall = { enable = option types.bool true; allowedUDPPorts = option (types.listOf types.port) [ ]; };
    nix = {
      settings = anything;
      gc = { automatic = flag; dates = option types.str ""; options = option types.str ""; };
    };
    services.openssh = { enable = flag; openFirewall = option types.bool true; settings = anything; };
    users = { mutableUsers = option types.bool true; allowNoPasswordLogin = flag; };
    services.avahi.nssmdns4 = flag;
  };

  config = {
    # As the modules of these services do in NixOS.
    networking.firewall.allowedTCPPorts = lib.mkIf (config.services.openssh.enable && config.services.openssh.openFirewall) [ 22 ];
    networking.firewall.allowedUDPPorts = lib.mkIf (config.services.avahi.enable && config.services.avahi.openFirewall) [ 5353 ];
    # What stub-ld does: a program that was built elsewhere says that it cannot run.
    environment.ldso = lib.mkDefault "/nix/store/stub-ld";

    system.build.toplevel =
      if failed != [ ] then throw "\nFailed assertions:\n${lib.concatMapStrings (message: "- ${message}") failed}"
      else pkgs.writeText "nixos-system" (builtins.toJSON {
        units = config.systemd;
        inherit (config.environment) systemPackages etc ldso;
        inherit (config) boot fileSystems;
      });
  };
}
