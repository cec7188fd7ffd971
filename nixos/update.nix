# `parachute-update`: a built system is rehearsed, tried until the next boot, and stays or goes by itself; docs/appliance.md.
{ config, lib, pkgs, ... }:
let
  cfg = config.services.parachute;
  home = config.users.users.${cfg.user}.home or "/home/${cfg.user}";
  programs = lib.makeBinPath (cfg.programs ++ [ pkgs.coreutils config.systemd.package pkgs.util-linux ]);
in
{
  options.services.parachute.updateScript = lib.mkOption {
    type = lib.types.lines;
    internal = true;
    readOnly = true;
    example = "exit 1";
    description = "The program `parachute-update`, for bash.";
    default = ''
      set -euo pipefail
      export PATH=${lib.makeBinPath [ config.systemd.package pkgs.coreutils pkgs.util-linux ]}:/run/current-system/sw/bin
      user=${lib.escapeShellArg cfg.user}
      profile=/nix/var/nix/profiles/system
      # The two systems of an update, which nothing removes from the store while they have these names.
      systems=/nix/var/nix/gcroots/parachute-update

      refuse() {
        echo "Error: $1" >&2
        exit 1
      }

      as_user() {
        runuser -u "$user" -- env -i USER="$user" LOGNAME="$user" HOME=${lib.escapeShellArg home} \
          PARACHUTE_HOME=${lib.escapeShellArg cfg.trust} XDG_RUNTIME_DIR="/run/user/$(id -u "$user")" \
          PATH=${lib.escapeShellArg programs} "$@"
      }

      # The three things that the user's program may ask for. Which systems these are root alone decides.
      try_new() {
        mkdir -p "$systems" &&
          ln -sfn "$(readlink -f "$profile")" "$systems/old" &&
          ln -sfn "$1" "$systems/new" &&
          timeout 900 "$1/bin/switch-to-configuration" test
      }

      keep_new() {
        nix-env -p "$profile" --set "$(readlink -f "$systems/new")" &&
          timeout 900 "$systems/new/bin/switch-to-configuration" boot
      }

      bring_back() {
        old=$(readlink -f "$systems/old") || return 1
        if [ "$(readlink -f "$profile")" = "$old" ]; then
          timeout 900 "$old/bin/switch-to-configuration" test
        else
          nix-env -p "$profile" --set "$old" && timeout 900 "$old/bin/switch-to-configuration" switch
        fi
      }

      carry_out() {
        system=$1
        shift
        pipes=$(mktemp -d)
        trap 'rm -rf "$pipes"' EXIT
        mkfifo "$pipes/wishes" "$pipes/answers"
        as_user ${cfg.package.python}/bin/python3 -m parachute.ops.updates.nixos "$@" < "$pipes/answers" > "$pipes/wishes" &
        exec 4> "$pipes/answers" 3< "$pipes/wishes"
        while read -r wish <&3; do
          status=0
          case $wish in
            test) [ -n "$system" ] && try_new "$system" 3<&- 4>&- || status=$? ;;
            stay) keep_new 3<&- 4>&- || status=$? ;;
            back) bring_back 3<&- 4>&- || status=$? ;;
            *) status=64 ;;
          esac
          echo "$wish: $status" >&2
          echo "$status" >&4
        done
        exec 3<&- 4>&-
        wait $!
      }

      if [ "''${1-}" = --carry-out ]; then
        shift
        carry_out "$@"
        exit
      fi

      [ "$(id -u)" = 0 ] || refuse "Switching to another system is for root: sudo parachute-update."
      options=()
      if [ "''${1-}" = --unrehearsed ]; then
        options=(--unrehearsed)
        shift
      fi
      [ $# -le 1 ] || refuse "Usage: parachute-update [--unrehearsed] [FLAKE#HOST | SYSTEM | back]; alone it takes up what was cut off."
      if systemctl is-active --quiet parachute-update.service; then
        refuse "An update is under way: parachute update status, as $user."
      fi

      system=
      case ''${1-} in
        "") ;;
        back) options=(--back) ;;
        *)
          if [ -e "$1/bin/switch-to-configuration" ]; then
            system=$(readlink -f "$1")
          else
            built=$(mktemp -d)
            flake=$1
            case $flake in .*) flake=$PWD/$flake ;; esac
            (cd "$built" && nixos-rebuild build --flake "$flake") || refuse "That system could not be built."
            system=$(readlink -f "$built/result")
          fi
          case $system in /nix/store/*) ;; *) refuse "$system is not in the store: build it first." ;; esac
          python=$(cat "$system/etc/parachute/python" 2> /dev/null) ||
            refuse "That system has no Parachute that can be rehearsed: nixos-rebuild switch."
          # A power cut brings what a boot starts; so that has to be what runs.
          [ "$(readlink -f /run/current-system)" = "$(readlink -f "$profile")" ] ||
            refuse "What runs is not what a boot starts: nixos-rebuild switch to one of them first."
          options+=(--system "$system" --python "$python")
          ;;
      esac

      # It goes on without whoever typed it, and no switch ends it, since it is of neither system.
      code=0
      systemd-run --quiet --wait --collect --unit=parachute-update --description="Parachute: update" \
        --property=Restart=on-failure --property=RestartPreventExitStatus=1 --property=RestartSec=5 \
        "$(readlink -f "$0")" --carry-out "$system" "''${options[@]}" || code=$?
      if [ -n "''${built-}" ]; then
        rm -rf "$built"
      fi
      as_user ${cfg.package}/bin/parachute update status || true
      exit "$code"
    '';
  };

  config = lib.mkIf cfg.enable {
    environment.systemPackages = [ (pkgs.writeShellScriptBin "parachute-update" cfg.updateScript) ];
    # What a rehearsal of this system starts.
    environment.etc."parachute/python".text = "${cfg.package.python}/bin/python3\n";
  };
}
