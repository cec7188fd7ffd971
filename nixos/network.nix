# How the local network reaches a machine with `lan.enable`: an open port, and a name.
{ config, lib, ... }:
let
  cfg = config.services.parachute;
in
{
  options.services.parachute = {
    openFirewall = lib.mkOption {
      type = lib.types.bool;
      default = true;
      example = false;
      description = "Whether `lan.enable` opens the firewall for the port and for the announcement of the name.";
    };

    lan = {
      interfaces = lib.mkOption {
        type = lib.types.listOf lib.types.str;
        default = [ ];
        example = [ "eth0" ];
        description = ''
          The network interfaces on which the firewall is opened and the name is announced; none named stands for all of them, which
          on a machine with a public address or a VPN is more than the local network.
        '';
      };

      name = lib.mkOption {
        type = lib.types.strMatching "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?" // { description = "name of a-z, 0-9 and dashes"; };
        default = "parachute";
        example = "study";
        description = "The name on the local network, without its ending: `parachute` is found as parachute.local.";
      };
    };
  };

  config = lib.mkIf cfg.enable {
    networking.firewall = lib.mkIf (cfg.lan.enable && cfg.openFirewall) (
      if cfg.lan.interfaces == [ ] then
        { allowedTCPPorts = [ cfg.port ]; }
      else
        {
          interfaces = lib.genAttrs cfg.lan.interfaces (_: {
            allowedTCPPorts = [ cfg.port ];
            # The announcement of the name.
            allowedUDPPorts = [ 5353 ];
          });
        }
    );

    services.avahi = lib.mkIf cfg.lan.enable {
      enable = true;
      hostName = lib.mkDefault cfg.lan.name;
      openFirewall = lib.mkDefault (cfg.openFirewall && cfg.lan.interfaces == [ ]);
      allowInterfaces = lib.mkIf (cfg.lan.interfaces != [ ]) cfg.lan.interfaces;
      publish = {
        enable = true;
        # Without these the name leads nowhere.
        addresses = true;
      };
      extraServiceFiles.parachute = ''
        <?xml version="1.0" standalone="no"?>
        <!DOCTYPE service-group SYSTEM "avahi-service.dtd">
        <service-group>
          <name replace-wildcards="yes">Parachute on %h</name>
          <service>
            <type>_parachute._tcp</type>
            <port>${toString cfg.port}</port>
            <txt-record>version=${lib.escapeXML cfg.package.version}</txt-record>
            <txt-record>path=/api</txt-record>
          </service>
        </service-group>
      '';
    };
  };
}
