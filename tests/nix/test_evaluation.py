"""Evaluation of the examples, and errors about wrong configurations."""

import json
from pathlib import Path
from typing import Any

import pytest

from parachute.config.declared.document import parse as parse_declaration
from parachute.web.discovery.announcement import service_file
from tests.nix.evaluation import EXAMPLES, TREE, EvaluationFailed, evaluate
from tests.nix.real_lib import REAL_LIB

pytestmark = pytest.mark.process


def declared(evaluated: Any) -> Any:
    return json.loads(evaluated["environment"]["etc"]["parachute/declared.json"]["text"])


@pytest.fixture(params=sorted(path.name for path in EXAMPLES.glob("*.nix")))
def example(request: pytest.FixtureRequest) -> Path:
    return EXAMPLES / str(request.param)


def test_every_example_is_what_the_computer_reads(example: Path) -> None:
    text = evaluate(example)["environment"]["etc"]["parachute/declared.json"]["text"]
    user = json.loads(text)["user"]
    declaration = parse_declaration(text.encode(), Path("/etc/parachute/declared.json"), user)
    assert declaration.settings["port"] == json.loads(text)["settings"]["port"]
    assert declaration.settings["sandbox"]["limits"] == "enforced"


def test_minimal_opens_nothing() -> None:
    found = evaluate(EXAMPLES / "minimal.nix")
    assert found["networking"]["firewall"]["allowedTCPPorts"] == []
    assert found["services"]["avahi"]["enable"] is False
    assert found["systemd"]["user"]["sockets"]["parachute-core"]["listenStreams"] == ["127.0.0.1:3333"]
    assert declared(found)["settings"] == {
        "host": "127.0.0.1",
        "port": 3333,
        "auth_mode": "remote",
        "sandbox": {"engine": "podman", "required": True, "limits": "enforced"},
    }
    assert declared(found)["modules"] == {}
    assert found["virtualisation"]["podman"]["enable"] is True
    assert found["zramSwap"]["enable"] is False


def test_nothing_happens_until_it_is_enabled() -> None:
    def without_itself(text: str) -> Any:
        found = evaluate(text)
        del found["services"]["parachute"]
        return found

    said = "{ services.parachute = { lan.enable = true; sparing = true; backup.enable = true; firstBoot.enable = true; }; }"
    assert without_itself(said) == without_itself("{ }")


def test_the_user_lingers_and_has_numbers_for_containers() -> None:
    found = evaluate(EXAMPLES / "minimal.nix")
    user = found["users"]["users"]["parachute"]
    assert found["users"]["manageLingering"] is True
    assert (user["linger"], user["autoSubUidGidRange"], user["isNormalUser"]) == (True, True, True)
    assert user["hashedPassword"] is None
    folders = found["systemd"]["tmpfiles"]["settings"]["10-parachute"]
    assert folders["/home/parachute/.parachute"]["d"] == {"mode": "0700", "user": "parachute", "group": "users"}


def test_another_user_keeps_their_own_home() -> None:
    found = evaluate(EXAMPLES / "full.nix")
    assert list(found["users"]["users"]) == ["alice"]
    core = found["systemd"]["user"]["services"]["parachute-core"]
    assert core["environment"]["PARACHUTE_HOME"] == "/home/alice/.parachute"
    assert core["unitConfig"]["ConditionUser"] == "alice"


def test_the_local_network_finds_it() -> None:
    found = evaluate(EXAMPLES / "lan.nix")
    assert found["networking"]["firewall"]["allowedTCPPorts"] == [3333]
    assert found["systemd"]["user"]["sockets"]["parachute-core"]["listenStreams"] == ["0.0.0.0:3333"]
    avahi = found["services"]["avahi"]
    assert (avahi["enable"], avahi["hostName"], avahi["openFirewall"]) == (True, "parachute", True)
    # What other Linux systems are told to put there.
    assert avahi["extraServiceFiles"]["parachute"] == service_file(3333)


def test_the_firewall_can_be_left_closed() -> None:
    found = evaluate("{ services.parachute = { enable = true; lan.enable = true; openFirewall = false; }; }")
    assert found["networking"]["firewall"]["allowedTCPPorts"] == []
    assert found["services"]["avahi"]["openFirewall"] is False


def test_an_address_of_ipv6_has_its_brackets() -> None:
    found = evaluate('{ services.parachute = { enable = true; lan = { enable = true; address = "fd00::5"; }; }; }')
    assert found["systemd"]["user"]["sockets"]["parachute-core"]["listenStreams"] == ["[fd00::5]:3333"]
    assert declared(found)["settings"]["host"] == "fd00::5"


def test_credentials_are_handed_over_by_systemd_and_declared_nowhere() -> None:
    found = evaluate(EXAMPLES / "sops.nix")
    services = found["systemd"]["user"]["services"]
    assert services["parachute-core"]["serviceConfig"]["LoadCredential"] == "credentials:/run/secrets/parachute"
    assert "LoadCredential" not in services["parachute-supervisor"]["serviceConfig"]
    assert found["sops"]["secrets"]["parachute"]["owner"] == "parachute"
    assert '/run/secrets/parachute"' not in json.dumps(declared(found))


def test_modules_and_workspaces_are_declared_as_the_computer_names_them() -> None:
    found = declared(evaluate(EXAMPLES / "full.nix"))
    assert found["modules"]["chat"] == {"enable": False, "source": "parachute://chat", "hash": None, "settings": {}}
    assert found["modules"]["weather"]["settings"] == {"place": "Leipzig", "hours": 12}
    assert found["workspaces"]["garden"]["default_trust_level"] == "sandboxed"
    assert found["workspaces"]["garden"]["capabilities"]["mcps"] == ["brain"]
    assert found["workspaces"]["garden"]["git"] == [{"repository": "github.com/ada/garden", "access": "push"}]
    assert found["settings"]["agents"] == {"warm": 1}
    assert found["settings"]["sandbox"]["total_memory_megabytes"] == 4096


def test_a_module_of_the_tree_is_copied_into_the_store() -> None:
    found = declared(
        evaluate(
            "{ services.parachute = { enable = true; modules.mine = { source = "
            f'{TREE}/modules/daily/tests; hash = "sha256:{"0" * 64}"; }}; }}; }}'
        )
    )
    assert found["modules"]["mine"]["source"].startswith("/nix/store/")


def test_what_the_store_has_needs_no_hash_before_it_is_built() -> None:
    said = f'let inputs.weather = {{ outPath = "${{{TREE}/modules/daily}}"; }}; in {{ services.parachute = {{ enable = true; %s }}; }}'
    for source in (f"{TREE}/modules/daily", "inputs.weather", '"${inputs.weather}/inner"'):
        found = evaluate(said % f"modules.weather.source = {source};")
        entry = found["environment"]["etc"]["parachute/declared.json"]
        assert (entry["text"], entry["source"].rpartition("/")[2]) == (None, f"{'0' * 32}-declared.json-1.0")
        assert found["services"]["parachute"]["declared"]["modules"]["weather"]["hash"] is None
    known = evaluate(said % f"modules.weather = {{ source = inputs.weather; {HASHED} }};")
    assert declared(known)["modules"]["weather"]["hash"] == f"sha256:{'0' * 64}", "nothing has to be built"


def test_backups_wake_up_by_themselves() -> None:
    user = evaluate(EXAMPLES / "full.nix")["systemd"]["user"]
    for name, command in (("parachute-backup", "create"), ("parachute-backup-drill", "drill")):
        started = user["services"][name]["serviceConfig"]["ExecStart"]
        assert started.endswith(f'"parachute.cli" "backup" "{command}"')
    timer = user["timers"]["parachute-backup"]
    assert timer["timerConfig"] == {"OnCalendar": "Mon..Fri 04:00", "Persistent": True, "RandomizedDelaySec": "1h"}
    assert timer["wantedBy"] == ["timers.target"]
    assert user["timers"]["parachute-backup-drill"]["timerConfig"]["OnCalendar"] == "Sun 05:00"
    assert (
        "/nix/store/00000000000000000000000000000000-restic-1.0/bin"
        in user["services"]["parachute-backup"]["environment"]["PATH"]
    )


def test_an_image_takes_the_screen_and_spares_its_card() -> None:
    found = evaluate(EXAMPLES / "full.nix")
    services = found["systemd"]["services"]
    assert services["getty@tty1"]["enable"] is False
    assert services["parachute-first-boot"]["serviceConfig"]["StandardOutput"] == "null"
    assert found["services"]["journald"]["storage"] == "volatile"
    assert found["zramSwap"]["enable"] is True
    assert found["systemd"]["settings"]["Manager"]["RuntimeWatchdogSec"] == "30s"


def test_who_uses_it_may_decide_otherwise() -> None:
    text = "{ lib, ... }: { services.parachute = { enable = true; sparing = true; lan.enable = true; }; "
    found = evaluate(text + 'services.journald.storage = "auto"; services.avahi.hostName = lib.mkForce "box"; }')
    assert found["services"]["journald"]["storage"] == "auto"
    assert found["services"]["avahi"]["hostName"] == "box"


HASHED = f'hash = "sha256:{"0" * 64}";'
WRONG = {
    "a port out of range": ("port = 70000;", "services.parachute.port' is not of type"),
    "an unknown option": ("prot = 3333;", "services.parachute.prot' does not exist"),
    "a word that is none of the choices": ('auth = "sometimes";', "services.parachute.auth' is not of type"),
    "a path that is none": ('vault = "Parachute";', "services.parachute.vault' is not of type"),
    "two opinions": (
        'vault = lib.mkMerge [ "/a" "/b" ];',
        "services.parachute.vault' has conflicting definition values",
    ),
    "the network without keys": ('lan.enable = true; auth = "disabled";', 'Write services.parachute.auth = "remote"'),
    "root": ('user = "root";', "root cannot have containers"),
    "a user who is nobody's": ('user = "bob";', "Write users.users.bob.isNormalUser = true"),
    "no namespaces": (
        "}; security.allowUserNamespaces = false; services.parachute = {",
        "Write security.allowUserNamespaces = true",
    ),
    "a setting that has an option": ("settings.port = 4000;", "Write services.parachute.port instead"),
    "an inner setting that has an option": (
        "settings.sandbox.memory_megabytes = 900;",
        "Write services.parachute.sandbox.memory instead",
    ),
    "a setting that is none": ("settings.agents.wram = 1;", "settings.agents.wram: unknown setting"),
    "a function for a setting": ("settings.model = x: x;", "services.parachute.settings.model' is not of type"),
    "limits given up": ('settings.sandbox.limits = "unavailable";', "a container without them is a mistake"),
    "limits that nobody enforces": (
        'sandbox.engine = "bubblewrap";',
        'Write\n  services.parachute.sandbox.engine = "podman"',
    ),
    "a slow storage driver": (
        '}; virtualisation.containers.storage.settings.storage.driver = "vfs"; services.parachute = {',
        'storage.driver = "overlay"',
    ),
    "too little memory": ("sandbox.memory = 10;", "services.parachute.sandbox.memory' is not of type"),
    "a module from nowhere": ("modules.weather = { };", "modules.weather.source: no official module has this name"),
    "a module nobody has read": (
        'modules.weather.source = "/srv/weather";',
        "let `parachute modules check FOLDER` print its hash",
    ),
    "a module that only looks as if it were in the store": (
        'modules.weather.source = "/nix/store/00000000000000000000000000000000-weather";',
        "An input of your flake needs none",
    ),
    "a hash that is none": (
        'modules.brain.hash = "sha1:abc";',
        "services.parachute.modules.brain.hash' is not of type",
    ),
    "a module's name that is none": (
        f'modules."My Module" = {{ source = "/srv/my"; {HASHED} }};',
        'modules."My Module": a module\'s name has',
    ),
    "a slug that is none": ("workspaces.My_Garden = { };", 'workspaces."My_Garden": a slug has at most 40'),
    "a level of trust that is none": (
        'workspaces.garden.trustLevel = "full";',
        "workspaces.garden.trustLevel' is not of type",
    ),
    "credentials in the store": ("credentialsFile = ./minimal.nix;", "the Nix store can be read by everybody"),
    "credentials from the store": (
        'credentialsFile = "/nix/store/00000000000000000000000000000000-keys/mine";',
        'such as "/run/secrets/parachute"',
    ),
    "a backup to nowhere": ("backup.enable = true;", "backup.repository: a backup needs a place"),
    "a backup without a password": (
        'backup = { enable = true; repository = "/mnt/usb"; };',
        "backup.passwordFile: backups are encrypted",
    ),
    "a backup to a place that is none": (
        'backup.repository = "usb/parachute";',
        "services.parachute.backup.repository' is not of type `null or absolute path or address of restic'",
    ),
    "a password in the store": (
        'backup = { enable = true; repository = "/mnt/usb"; passwordFile = ./minimal.nix; };',
        "backup.passwordFile: the Nix store can be read by everybody",
    ),
    "a name that no network has": ('lan.name = "my computer";', "services.parachute.lan.name' is not of type"),
}


@pytest.mark.parametrize("lib", dict.fromkeys((None, REAL_LIB)))
@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str, lib: Path | None) -> None:
    said, expected = WRONG[case]
    text = f"{{ lib, ... }}: {{ services.parachute = {{ enable = true; {said} }}; }}"
    with pytest.raises(EvaluationFailed) as refused:
        evaluate(text.replace("./minimal.nix", str(EXAMPLES / "minimal.nix")), lib=lib)
    assert " ".join(expected.split()) in " ".join(str(refused.value).split())


@pytest.mark.parametrize(
    "said",
    [
        'sandbox = { engine = "bubblewrap"; required = false; };',
        'sandbox = { engine = "auto"; required = false; };',
        'settings.sandbox.limits = "enforced";',
        f'modules.weather = {{ source = "/srv/weather"; {HASHED} }};',
        "settings.sandbox = { }; settings.orchestrator.time = null;",
        'auth = "disabled";',
    ],
)
def test_what_is_right_passes(said: str) -> None:
    """The assertions beside it do not fire by accident."""
    assert declared(evaluate(f"{{ services.parachute = {{ enable = true; {said} }}; }}"))["version"] == 1


def test_setting_names_are_those_of_the_computer() -> None:
    """settings.json lets Nix refuse a misspelt setting; `python -m tests.nix.settings` writes it anew."""
    from tests.nix.settings import FILE, names

    assert json.loads(FILE.read_text()) == names()
