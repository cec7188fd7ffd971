# boot.sh LAYERS TREE [CGROUP...]: becomes the guest. It runs in mount and PID namespaces of its own, so whatever is mounted
# or started here ends with the first process, however that ends.
set -eu
layers=$1
tree=$2
shift 2
for group in "$@"; do
  echo 0 > "$group/cgroup.procs"
done

# systemd-nspawn refuses to clean up in a /run that is on a disk. What the guest writes stays in this memory as well.
mount -t tmpfs tmpfs /run
mkdir /run/upper /run/work /run/parachute
root=/run/parachute
mount -t overlay overlay -o "lowerdir=$layers,upperdir=/run/upper,workdir=/run/work" "$root"

# A copy, not a bind mount: the files of a checkout may be closed to other users, and changed while tests run.
cd "$tree"
folders=
for folder in parachute sandbox modules tests bench requirements README.md pyproject.toml; do
  [ ! -e "$folder" ] || folders="$folders $folder"
done
# shellcheck disable=SC2086 # the names are those above
tar --create --exclude=__pycache__ --owner=root:0 --group=root:0 --mode='u=rwX,go=rX' $folders |
  tar --extract --directory "$root/opt/parachute/source"

ln -sf "$LOCALTIME" "$root/etc/localtime"
# Newer than /usr, or systemd would do the work of a first boot after an update.
touch "$root/etc/.updated" "$root/var/.updated"

# @keyring and the rest: what rootless containers need, which the guest runs in turn.
SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 exec systemd-nspawn --quiet --keep-unit --register=no --directory "$root" --boot \
  --console=pipe --private-network --link-journal=no --resolv-conf=off --timezone=off --notify-ready=yes \
  --capability=all --system-call-filter="@keyring bpf @mount"
