"""Commands that no session runs, and those that only look like them."""

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .conftest import Effect, World

DENIED = r"""
rm  -rf  /
rm -r -f /
rm -fR /
rm --recursive --force /
rm --rec /
rm -rf -- /
rm -rf /*
rm -rf /.
rm -rf //
rm -rf /etc/..
rm -rf /usr
rm -rf /e*
rm -rf /?*
rm -rf {/,x}
rm -rf ~
rm --recursive --force ~/
rm -rf ~/*
rm -rf ~/.*
rm -rf $HOME
rm -rf $HOME/
rm -rf "${HOME}"/*
rm -rf .
rm -rf ./*
rm -rf "$PWD"
rm -rf ../Parachute
rm -rf Daily/..
rm -rf Daily/../../Parachute/*
rm -rf ..
rm -rf vault-link/
rm -rf --no-preserve-root x
rm -rf "$UNKNOWN"
rm -rf $UNKNOWN/
rm -rf /$UNKNOWN
rm $UNKNOWN /
RM -RF /
/bin/rm -rf /
\rm -rf /
X=/; rm -rf $X
d=/etc; e=$d/x; rm -rf $e
rm -rf ~+
rm -rf {/etc,x}{1..2}
for d in a /; do rm -rf "$d"; done
rm $(echo -rf /)
cd / && rm -rf *
cd /; rm -rf *
cd ~ && rm -rf ./*
cd "$UNKNOWN" && rm -rf *
cd && rm -rf *
cd; rm -rf ./*
cd / && cd etc && rm -rf *
cd Daily | cd /; cd / && rm -rf *
(cd Daily); rm -rf *
env -C / rm -rf etc
for i in 1; do rm -rf ./*; cd /; done
cd / && find . -delete
echo / | xargs rm -rf
printf '/\0' | xargs -0 rm -rf
cat list | xargs rm -rf
find / -delete
find / -name core -delete
find . -delete
find . -type f -delete
find ~ -name '*' -exec rm {} +
find . -exec rm -rf {} +
chmod -R 777 /
chmod -R 777 /*
chmod --recursive 777 /etc
chown -R ada:ada /
chown -hR ada /usr
chgrp -R staff ///
sudo ls
SUDO ls
time A=1 sudo ls
time ! sudo ls
bash sudo
. sudo
Sudo -u root ls
/usr/bin/sudo ls
doas ls
su -c ls
pkexec ls
runuser -u x ls
sudoedit /etc/hosts
./tools/sudo-link ls
./tools/shell-link -c 'ls'
mkfs /dev/sda1
mkfs.ext4 -F disk.img
MKFS.EXT4 x
wipefs -a x
fdisk /dev/sda
dd if=/dev/sda of=image
dd if=image of=/dev/sda bs=1M
dd of=/dev/nvme0n1 < image
dd if=$DISK of=image
cat image > /dev/sda
cat image >> /dev/../dev/sdb
echo x | tee /dev/mmcblk0
cp image /dev/disk/by-id/x
cat /dev/mem
echo x > /dev/input/event0
echo x >> /dev/rtc
echo x &> /dev/console
echo x >| /dev/watchdog
echo x > /dev/inpu?/event0
echo x > /dev/$(echo sda)
echo x > /dev/`echo sda`
echo x > /dev/${x:-console}
echo x > $(echo /dev/sda)
cd /dev; echo x > console
cd /dev && echo x > ./console
echo x > ../../../../../../../../../../dev/console
dd of=/dev/console
dd if=/dev/random of=x
dd if=/dev/input/event0 of=x
:(){ :|:& };:
:(){:|:&};:
:() { : | : & }; :
bomb() { bomb & bomb; }; bomb
a() { b & }; b() { a; }; a
f() { $(f); }; f
shutdown -h now
reboot
poweroff
init 0
telinit 6
systemctl poweroff
systemctl --force reboot
echo b > /proc/sysrq-trigger
""".strip().splitlines()

ALLOWED = r"""
rm -rf node_modules dist
grep "dd if=" notes.md
grep -rn 'sudo' Daily
echo 'rm -rf /'
echo "sudo rm -rf /"
printf '%s\n' 'mkfs.ext4 /dev/sda'
git commit -m 'Never run rm -rf / or sudo'
which sudo
man sudo
rm -rf Projects/boat/build
rm -rf ./Daily/old
rm -rf /tmp/build
rm -f notes.md
rm notes.md "$UNKNOWN"
find . -name '*.pyc' -delete
find . -name __pycache__ -type d -exec rm -rf {} +
find Projects -delete
chmod -R u+w Projects
chmod 644 notes.md
chown -R ada Projects/boat
dd if=a.img of=b.img bs=1M
dd if=a.img of=/dev/null
dd if=/dev/stdin of=/dev/stdout
echo x > /dev/pts/3
echo x > /dev/fd/2
echo x > /dev/shm/a
cat < /dev/random
ls -l /dev/sda
ls > /dev/null 2>&1
echo x > /dev/stderr
walk() { for f in "$1"/*; do walk "$f"; done; }; walk Daily
systemctl --user status parachute-core
sum x
dig su.example.org
""".strip().splitlines()


@pytest.fixture
def prepared(world: World, effect: Effect) -> Effect:
    (world.vault / "vault-link").symlink_to(world.vault)
    tools = world.vault / "tools"
    tools.mkdir()
    (tools / "sudo").write_text("")
    (tools / "sudo-link").symlink_to("sudo")
    (tools / "bash").write_text("")
    (tools / "shell-link").symlink_to("bash")
    return effect


def test_never_run(prepared: Effect) -> None:
    assert [line for line in DENIED if prepared(line) != "deny"] == []


def test_harmless(prepared: Effect) -> None:
    assert [line for line in ALLOWED if prepared(line) != "allow"] == []


def test_in_a_sandbox_too(world: World) -> None:
    for line in ("rm -rf /vault", "rm -rf /vault/*", "cd /vault && rm -rf *", "rm -rf /", "sudo x", "rm -rf ~"):
        policy = world.policy("sandboxed", working_directory=Path("/scratch/s"), mapped_roots={"/vault": world.vault})
        assert policy.decide("Bash", {"command": line}).rule == "dangerous-command"
        assert policy.decide("Bash", {"command": "rm -rf /scratch/s/* /vault/Daily/old"}).effect == "allow", line


_CORES = [
    *("sudo id", "rm -rf /", "rm -r -f ~/", "cat .env", "cat < .parachute/token", "mkfs.ext4 x"),
    *("dd if=x of=/dev/sda",),
]
_PREFIXES = ["env X=1 {}", "nohup {}", "timeout 5 {}", "nice -n 3 {}", "command {}", "exec {}", "xargs {}", "A=1 {}"]
_WRAPPINGS = [
    *(*_PREFIXES, "time {}", "true && {}", "false || {}", "echo x | {}", "{} | cat", "{} &", "( {} )"),
    *("{{ {}; }}", "! {}", "echo $({})", 'echo "`{}`"', "cat <({})", "x=$({})", "if {}; then :; fi"),
    *("while {}; do :; done", "f() {{ {}; }}; f", "case x in x) {};; esac", "bash <<'END'\n{}\nEND"),
    *("# first\n{}", "{} # last", "ls; {}; ls"),
]
_QUOTING = ["bash -c {}", "sh -ec {}", "eval {}", "env bash -c {}", "trap {} EXIT", "bash <<< {}", "echo {} | sh"]


@given(
    core=st.sampled_from(_CORES),
    layers=st.lists(st.sampled_from([*_WRAPPINGS, *_QUOTING]), max_size=4),
)
def test_no_wrapping_opens_what_is_denied(shared_world: World, core: str, layers: list[str]) -> None:
    line, simple = core, True
    for layer in layers:
        # Only a shell can carry more than one simple command behind a program's name.
        quoted = layer in _QUOTING
        inner = (
            shlex.quote(line)
            if quoted
            else line
            if simple or layer not in _PREFIXES
            else f"bash -c {shlex.quote(line)}"
        )
        line = layer.replace("{}", inner).replace("{{", "{").replace("}}", "}")
        simple = (layer in _PREFIXES and layer != "A=1 {}") or (quoted and layer != "echo {} | sh")
    assert shared_world.policy().decide("Bash", {"command": line}).effect == "deny", line


@given(data=st.data())
def test_no_quoting_hides_a_name(shared_world: World, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(["sudo", "mkfs", "reboot"]))
    forms = ("{}", "\\{}", "'{}'", '"{}"', "$'{}'", "\\\n{}", "''{}", '{}""')
    spelled = "".join(data.draw(st.sampled_from(forms)).replace("{}", letter) for letter in word)
    assert shared_world.policy().decide("Bash", {"command": f"{spelled} x"}).effect == "deny", spelled


@given(
    line=st.one_of(
        st.text(max_size=80), st.lists(st.sampled_from(list("$`'\"\\(){}|&;<>#*?~=\n ax")), max_size=40).map("".join)
    )
)
def test_every_text_gets_an_answer(shared_world: World, line: str) -> None:
    decision = shared_world.policy().decide("Bash", {"command": line})
    assert decision.effect in {"allow", "deny"}
    assert decision.rule != "failure"
    assert decision.reason
