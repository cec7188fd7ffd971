# Where the computer listens: for this machine alone, unless `lan.enable` opens it to others, who need a key.
{ config, lib, ... }:
let
  cfg = config.services.parachute;
  at = address: "${if lib.hasInfix ":" address then "[${address}]" else address}:${toString cfg.port}";
in
{
  options.services.parachute = {
    port = lib.mkOption {
      type = lib.types.ints.between 1 65535;
      default = 3333;
      example = 3333;
      description = "The port of the API. Apps look for 3333.";
    };

    auth = lib.mkOption {
      type = lib.types.enum [ "remote" "always" "disabled" ];
      default = "remote";
      example = "always";
      description = "Callers that need a key: those from other machines (remote), all (always), or none (disabled).";
    };

    lan = {
      enable = lib.mkEnableOption "apps on the local network: the API listens there, and is announced with its name";

      address = lib.mkOption {
        type = lib.types.strMatching "[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*" // { description = "address of IPv4 or IPv6"; };
        default = "0.0.0.0";
        example = "192.168.1.20";
        description = "The address to listen on, with `lan.enable`; 0.0.0.0 stands for all of IPv4.";
      };
    };

    listenAddress = lib.mkOption {
      type = lib.types.str;
      internal = true;
      readOnly = true;
      default = if cfg.lan.enable then cfg.lan.address else "127.0.0.1";
      example = "127.0.0.1";
      description = "The address that follows from `lan`.";
    };

    endpoint = lib.mkOption {
      type = lib.types.str;
      internal = true;
      readOnly = true;
      default = at cfg.listenAddress;
      example = "0.0.0.0:3333";
      description = "That address with the port, as systemd's sockets name it.";
    };

    localUrl = lib.mkOption {
      type = lib.types.str;
      internal = true;
      readOnly = true;
      default = "http://${at (if cfg.listenAddress == "0.0.0.0" then "127.0.0.1" else cfg.listenAddress)}";
      example = "http://127.0.0.1:3333";
      description = "Where programs of this machine reach the API.";
    };
  };

  config = lib.mkIf cfg.enable {
    assertions = [
      {
        assertion = !(cfg.lan.enable && cfg.auth == "disabled");
        message = ''
          services.parachute.lan.enable: with auth = "disabled" everybody on the local network could read the vault and run agents.
          Write services.parachute.auth = "remote", with which other machines need a key and this one does not.
        '';
      }
    ];

    services.parachute.declared.settings = {
      inherit (cfg) port;
      host = cfg.listenAddress;
      auth_mode = cfg.auth;
    };
  };
}
