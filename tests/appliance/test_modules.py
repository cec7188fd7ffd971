"""Modules as services of systemd: installed by the user, confined as the consent says, started when they are needed."""

import json
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.recipe import SOURCE
from tests.appliance.services import MODULES, RUNTIME, Services, service

FAILURES = 5
LIMITED = "grep --silent pids /sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/cgroup.controllers"
MAY = {
    "write its folder of the vault",
    "read a folder of the vault",
    "write its own data",
    "reach core on its own socket",
}
FREE = f"python3 -I {SOURCE}/tests/appliance/unconfined.py {MODULES}/prober"
NOBODY_MAY = {"become root", "mount", "make a device"}
GIT = "git -c init.defaultBranch=main -c user.name=Someone -c user.email=someone@example.org"


@pytest.fixture(scope="module")
def computer(host: Host, user: Host) -> Iterator[Services]:
    """A computer that runs as services, with the modules of these tests: reading, prober and caller."""
    computer = Services(user)
    # The vault is on a disk of its own: what the link leads to has to be hidden as well.
    host.check_output("install --directory --owner=parachute /srv/disk")
    computer.run("ln -s /srv/disk ~/Parachute && parachute service install")
    computer.run("mkdir -p ~/Parachute/Brain && echo x | tee ~/Parachute/Brain/entity.md ~/secret")
    computer.run("parachute modules new reading")
    computer.run(f"cd reading && {GIT} init --quiet && {GIT} add . && {GIT} commit --quiet --message=First")
    for source in ("~/reading", f"{MODULES}/prober", f"{MODULES}/caller"):
        assert "installed and approved" in computer.install(source.replace("~", computer.home))
    yield computer
    computer.run("parachute service uninstall")
    assert computer.run("systemctl --user list-units --all --quiet 'parachute-*'") == ""
    assert computer.run(f"find {RUNTIME} -name 'parachute-*'") == ""
    assert user.run("pgrep --full [p]arachute.host").rc == 1
    computer.run("rm -rf ~/.parachute ~/Parachute ~/reading ~/secret")
    host.check_output("rm -r /srv/disk")


def test_a_module_from_a_git_repository_answers_as_a_service_with_the_properties_of_its_consent(
    computer: Services,
) -> None:
    assert computer.get("/api/reading/notes") == {"notes": []}
    units = computer.run(f"systemctl --user is-active {service('reading')} parachute-module@reading.socket")
    assert units.split() == ["active", "active"]
    shown = computer.show(
        *("reading", "MemoryMax", "MemorySwapMax", "TasksMax", "BindPaths", "BindReadOnlyPaths", "ProtectHome"),
        *("ProtectSystem", "PrivateNetwork", "PrivatePIDs", "PrivateTmp", "PrivateDevices", "NoNewPrivileges"),
        *("RestrictAddressFamilies", "RestrictNamespaces", "MemoryDenyWriteExecute", "WatchdogUSec"),
    )
    written = {bind.partition(":")[0] for bind in shown.pop("BindPaths").split()}
    assert written == {
        f"{computer.home}/.parachute/module-data/reading",
        f"{computer.home}/Parachute/Reading",
    }
    read = {bind.partition(":")[0].lstrip("-") for bind in shown.pop("BindReadOnlyPaths").split()}
    code = f"{computer.home}/.parachute/modules/reading/"
    assert {path for path in read if not path.startswith(code)} == {
        f"{computer.home}/.parachute/run/module/reading/core",
        f"{computer.home}/.parachute/run/module/reading/spec.json",
        "/run/current-system",
        "/run/user/1000/systemd/notify",
    }
    assert shown == {
        "MemoryMax": str(256 << 20),
        "MemorySwapMax": "0",
        "TasksMax": "64",
        "ProtectHome": "tmpfs",
        "ProtectSystem": "strict",
        "RestrictAddressFamilies": "AF_UNIX",
        "WatchdogUSec": "30s",
        "RestrictNamespaces": "yes",
        **dict.fromkeys(("PrivateNetwork", "PrivatePIDs", "PrivateTmp", "PrivateDevices"), "yes"),
        **dict.fromkeys(("NoNewPrivileges", "MemoryDenyWriteExecute"), "yes"),
    }


@pytest.mark.usefixtures("of_others")
def test_without_confinement_every_attempt_succeeds(computer: Services) -> None:
    came = json.loads(computer.run(FREE))
    assert {name for name, outcome in came.items() if outcome != "done"} == NOBODY_MAY, came


@pytest.fixture
def of_others(computer: Services) -> Iterator[None]:
    """Files of other programs, where all of them look."""
    computer.run("echo x | tee /tmp/of-others /dev/shm/of-others")
    yield
    computer.run("rm /tmp/of-others /dev/shm/of-others")


@pytest.mark.usefixtures("of_others")
def test_a_hostile_module_does_what_its_consent_says_and_nothing_else(computer: Services) -> None:
    core = computer.run("systemctl --user show parachute-core.service --property=MainPID --value")
    where = {"home": computer.home, "vault": f"{computer.home}/Parachute", "port": 3333, "core": int(core)}
    status, came = computer.ask("/api/prober/attempts", where)
    assert status == 200, came
    assert {name for name, outcome in came.items() if outcome == "done"} == MAY, came
    assert (came["mount"], came["trace"]) == ("SIGSYS", "SIGSYS")
    assert came["take more memory than it has"] == "MemoryError"
    assert computer.run("cat ~/Parachute/Probes/written.md ~/.parachute/module-data/prober/written") == "xx"
    assert computer.get("/api/prober/process") == {"process": 1, "seen": [1]}


def test_a_hostile_module_finds_nothing_that_nobody_thought_of(computer: Services) -> None:
    found = computer.get("/api/prober/places")
    trust, vault = f"{computer.home}/.parachute", f"{computer.home}/Parachute"
    own, private = (
        {f"{trust}/module-data/prober", f"{vault}/Probes"},
        {"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue"},
    )
    assert set(found["writable"]) == own | private
    assert set(found["sockets"]) == {
        f"{trust}/run/module/prober/core/core.sock",
        "/run/user/1000/systemd/notify",
    }
    places = (
        *(f"{trust}/modules/prober/", f"{trust}/module-data/prober/", f"{trust}/run/module/prober/"),
        *(f"{vault}/Probes/", f"{vault}/Brain/"),
    )
    assert not [path for path in found["files"] if not path.startswith(places)]


def test_a_hostile_module_is_limited_or_the_user_is_told_that_it_is_not(computer: Services) -> None:
    _, forked = computer.ask("/api/prober/forks", {"number": 60})
    _, filled = computer.ask("/api/prober/memory", {"processes": 4, "mebibytes": 60})
    status = computer.run("parachute modules status prober")
    if computer.user.run(LIMITED).rc == 0:
        assert forked["forks"] < 32
        assert filled["filled"] < 3
        assert "Not enforced" not in status
    else:  # a machine whose own control groups are not those of cgroup v2
        assert "The number of a module's processes is not limited" in status
        assert "Memory is limited for each process" in status


def test_a_module_sleeps_when_idle_and_the_next_request_wakes_it(computer: Services) -> None:
    computer.get("/api/prober/process")
    first = computer.process("prober")
    computer.asleep("prober")
    assert computer.show("prober", "Result")["Result"] == "success"
    assert computer.status("prober") == "asleep"
    computer.get("/api/prober/process")
    assert computer.process("prober") not in ("0", first)


def test_an_edit_in_the_vault_waits_for_approval_at_the_next_start(computer: Services) -> None:
    file = f"{computer.home}/Parachute/.modules/reading/module.py"
    computer.get("/api/reading/notes")
    process = computer.process("reading")
    computer.run(f"echo '# edited' >> {file}")
    computer.get("/api/reading/notes")
    assert computer.process("reading") == process, "an edit ends nothing that runs"
    assert computer.status("reading").startswith("waits for approval, still running")
    computer.put_to_sleep("reading")
    status, answer = computer.ask("/api/reading/notes")
    assert (status, answer["key"]) == (409, "approval_pending")
    assert computer.status("reading").startswith("waits for approval:")
    changed = [
        line for line in computer.run("parachute modules diff reading").splitlines() if line[:1] in "+-" and line[1:]
    ]
    assert changed == ["--- a/module.py", "+++ b/module.py", "+# edited"]
    computer.run("parachute modules approve reading --yes")
    assert computer.get("/api/reading/notes") == {"notes": []}
    assert computer.status("reading") == "running"


def test_a_crash_is_mended_and_five_of_them_are_told(computer: Services) -> None:
    computer.get("/api/prober/process")
    computer.run("parachute modules disable prober && parachute modules enable prober")
    for number in range(FAILURES):
        # Only what answers can crash; between two crashes it has no time to fall asleep, which would be a good end.
        if number % 2:
            status, answer = computer.ask("/api/prober/die", {})
            assert (status, answer["key"]) == (502, "module_down"), answer
            assert "module-prober.log" in answer["hint"]
        else:
            computer.get("/api/prober/process")
            computer.run(f"systemctl --user kill --signal=KILL {service('prober')}")
        if number < FAILURES - 1:
            computer.get("/api/prober/process")
    computer.until(lambda: computer.status("prober").startswith("failed:"), "the module was given up")
    assert "It failed 5 times in five minutes; see " in computer.status("prober")
    status, answer = computer.ask("/api/prober/process")
    assert status == 502
    assert "failed 5 times" in answer["detail"]
    assert computer.get("/api/reading/notes") == {"notes": []}, "nobody else notices"
    computer.run("parachute modules enable prober")
    computer.get("/api/prober/process")


def test_a_module_goes_on_without_supervisor_and_core(computer: Services) -> None:
    computer.get("/api/reading/notes")
    process = computer.process("reading")
    for restart in (lambda: computer.run("systemctl --user restart parachute-supervisor"), computer.restart_core):
        restart()
        computer.until(lambda: computer.status("reading") == "running", "it was adopted")
        assert computer.get("/api/reading/notes") == {"notes": []}
        assert computer.process("reading") == process
    # When it starts it asks core, which has made a new socket for it since.
    computer.put_to_sleep("reading")
    assert computer.get("/api/reading/notes") == {"notes": []}


def test_an_event_of_one_module_wakes_another(computer: Services) -> None:
    computer.get("/api/prober/process")
    computer.asleep("prober")
    status, note = computer.ask("/api/reading/notes", {"text": "Buy milk"})
    assert status == 200, note
    heard = f"{computer.home}/Parachute/Probes/heard.md"
    computer.until(lambda: computer.user.file(heard).exists, "the event was heard")
    assert computer.run(f"cat {heard}") == note["path"]
    computer.run(f"rm '{computer.home}/Parachute/{note['path']}'")


def test_a_link_in_the_place_of_its_folder_opens_nothing(computer: Services) -> None:
    folder = f"{computer.home}/Parachute/Reading"
    computer.get("/api/reading/notes")
    computer.put_to_sleep("reading")
    # As a note, the list of modules would be in the answer.
    computer.run(f"mv {folder} {folder}-before && cp ~/.parachute/modules.yaml ~/.parachute/secret.md")
    computer.run(f"ln -s {computer.home}/.parachute {folder}")
    for _ in range(2):
        status, answer = computer.ask("/api/reading/notes")
        assert status in (403, 409), answer
        assert f"{folder} " in answer["detail"]
        assert "link" in answer["detail"]
    assert "link" in computer.status("reading")
    computer.run(f"rm {folder} ~/.parachute/secret.md && mv {folder}-before {folder}")
    assert computer.get("/api/reading/notes") == {"notes": []}


def test_the_network_is_what_the_consent_names(computer: Services) -> None:
    proxy = computer.get("/api/caller/proxy")
    assert proxy["HTTPS_PROXY"].startswith("http://127.0.0.1:")
    assert proxy["HTTP_PROXY"] == proxy["HTTPS_PROXY"]
    assert "403" in computer.get("/api/caller/fetch?url=https://example.com/")["answer"]
    refused = computer.get("/api/caller/fetch?url=http://127.0.0.1:3333/api/health")
    assert refused["answer"] == "403"
    assert "not on the list of allowed hosts" in refused["text"]
    # One that is listed the proxy looks for, in vain: the guest has no network.
    assert "502" in computer.get("/api/caller/fetch?url=https://www.example.org/")["answer"]
    assert computer.get("/api/caller/connect?host=127.0.0.1&port=3333")["answer"] == "ConnectionRefusedError"
    assert computer.get("/api/caller/connect?host=192.0.2.1&port=443")["answer"] == "OSError"
    assert computer.show("caller", "PrivateNetwork")["PrivateNetwork"] == "yes"


def test_nothing_is_left_of_a_module_that_is_removed(computer: Services) -> None:
    computer.run("parachute modules new leaving")
    computer.install(f"{computer.home}/leaving")
    computer.get("/api/leaving/notes")
    process = computer.process("leaving")
    computer.run("parachute modules remove leaving --purge --yes")
    assert computer.user.run(f"kill -0 {process}").rc != 0
    assert computer.run("systemctl --user list-units --all --quiet '*leaving*'") == ""
    assert computer.run(f"find {RUNTIME} -name '*leaving*'") == ""
    assert not computer.user.file(f"{computer.home}/.parachute/run/module/leaving").exists
    status, answer = computer.ask("/api/leaving/notes")
    assert (status, answer["key"]) == (404, "module_not_installed")
    computer.run("rm -r ~/leaving")
