# A virtual machine to try it in: `nix run .#vm`, then http://127.0.0.1:3333 in the browser of this machine.
{
  config,
  lib,
  modulesPath,
  ...
}:
let
  inherit (config.services.parachute) port;
in
{
  imports = [
    (modulesPath + "/virtualisation/qemu-vm.nix")
    ./common.nix
  ];

  nixpkgs.hostPlatform = lib.mkDefault "x86_64-linux";

  virtualisation = {
    memorySize = 4096;
    cores = 2;
    diskSize = 16384;
    # The console, which shows the key, is the terminal.
    graphics = false;
    forwardPorts = [
      {
        from = "host";
        # Not for the network that the host is in.
        host.address = "127.0.0.1";
        host.port = port;
        guest.port = port;
      }
    ];
  };
}
