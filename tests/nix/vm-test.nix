# Two virtual machines: a computer with the module, and a phone on the same network. Needs nixpkgs, and /dev/kvm to be quick.
{ module }:
{
  name = "parachute";

  nodes = {
    computer = { pkgs, ... }: {
      imports = [ module ];
      services.parachute = {
        enable = true;
        acceptUnfreeAgent = false;
        lan.enable = true;
      };
      environment.systemPackages = [ pkgs.curl ];
      virtualisation = {
        memorySize = 3072;
        diskSize = 8192;
      };
    };

    phone =
      { pkgs, ... }:
      {
        environment.systemPackages = [
          pkgs.avahi
          pkgs.curl
        ];
        services.avahi = {
          enable = true;
          nssmdns4 = true;
        };
      };
  };

  testScript = ''
    import json

    health = "http://parachute.local:3333/api/health"
    sessions = "http://parachute.local:3333/api/chat"


    def as_user(command: str) -> str:
        """What a command of the computer's user prints."""
        return computer.succeed(f"su - parachute -c 'XDG_RUNTIME_DIR=/run/user/$(id -u) {command}'")


    start_all()
    computer.wait_for_unit("multi-user.target")
    computer.wait_until_succeeds("test -S /run/user/$(id -u parachute)/bus", timeout=120)
    key = as_user("parachute keys create phone").strip()
    with subtest("nobody is logged in, and core answers"):
        computer.wait_until_succeeds("curl --fail http://127.0.0.1:3333/api/health", timeout=180)
        state = as_user("systemctl --user is-active parachute-core.service parachute-supervisor.service")
        assert state.split() == ["active", "active"], state

    with subtest("the phone finds it by its name"):
        phone.wait_for_unit("avahi-daemon.service")
        answer = json.loads(phone.wait_until_succeeds(f"curl --fail --silent {health}", timeout=120))
        assert answer["version"], answer

    with subtest("without a key the phone gets nothing, with one it does"):
        assert phone.succeed(f"curl --silent --output /dev/null --write-out '%{{http_code}}' {sessions}") == "401"
        phone.succeed(f"curl --fail --silent --header 'Authorization: Bearer {key}' {sessions}")
        phone.succeed("timeout 5 bash -c '</dev/tcp/parachute.local/3333'")
        phone.fail("timeout 5 bash -c '</dev/tcp/parachute.local/22'")

    with subtest("core comes back after a crash"):
        as_user("systemctl --user kill --signal=KILL parachute-core.service")
        computer.wait_until_succeeds("curl --fail http://127.0.0.1:3333/api/health", timeout=60)

    with subtest("after a reboot it is there again, with the same keys"):
        computer.shutdown()
        computer.start()
        phone.wait_until_succeeds(f"curl --fail --silent --header 'Authorization: Bearer {key}' {sessions}", timeout=240)
  '';
}
