# A machine that is nothing else: few writes for a memory card, a reset when it hangs, and a clock that is right.
{ config, lib, ... }:
let
  cfg = config.services.parachute;
in
{
  options.services.parachute = {
    sparing = lib.mkOption {
      type = lib.types.bool;
      default = false;
      example = true;
      description = ''
        Whether the machine spares a memory card: the journal is in memory, and what would be swapped is compressed there. The images
        turn it on.
      '';
    };

    watchdog = lib.mkOption {
      type = lib.types.bool;
      default = false;
      example = true;
      description = "Whether the hardware's watchdog resets a machine that hangs. The images turn it on.";
    };
  };

  config = lib.mkIf cfg.enable (lib.mkMerge [
    {
      # Keys that end, agents that work once a day and backups need the time.
      services.timesyncd.enable = lib.mkDefault true;
    }
    (lib.mkIf cfg.sparing {
      # The computer's own logs are kept short, and stay on the disk.
      services.journald.storage = lib.mkDefault "volatile";
      zramSwap.enable = lib.mkDefault true;
      boot.kernel.sysctl = {
        # What is written is collected for half a minute; databases ask for theirs at once, as ever.
        "vm.dirty_writeback_centisecs" = lib.mkDefault 3000;
        # Swap in memory is quick.
        "vm.swappiness" = lib.mkDefault 100;
      };
    })
    (lib.mkIf cfg.watchdog {
      systemd.settings.Manager.RuntimeWatchdogSec = lib.mkDefault "30s";
      # A reset that hangs is ended as well.
      systemd.settings.Manager.RebootWatchdogSec = lib.mkDefault "10min";
    })
  ]);
}
