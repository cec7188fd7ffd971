# boot.sh KERNEL IMAGE TREE COMPILED LINE MODULES ARGUMENT...: runs the kernel that is in the folder KERNEL. It runs in mount and PID
# namespaces of its own, so whatever is mounted or started here ends with the first process, however that ends.
set -eu
kernel=$1
image=$2
tree=$3
compiled=$4
line=$5
modules=$6
shift 6

# The memory of the guest, what it writes to its disk, and the kernel's own files: all of it goes with the namespace.
mount -t tmpfs -o mode=0700 tmpfs "$kernel/tmp"
mount --rbind /dev "$kernel/dev"
mount -t tmpfs -o mode=1777,exec tmpfs "$kernel/dev/shm"
mount -t proc proc "$kernel/proc"
mkdir "$kernel/tmp/source" "$kernel/tmp/home"
touch "$kernel/tmp/base"
mount --bind "$image" "$kernel/tmp/base"

# A copy, not a file system of this machine: the files of a checkout may be closed to other users, and changed while tests run.
found=$kernel/tmp/source
mkdir -p "$found/opt/parachute/source" "$found/usr/lib/modules" "$found/etc"
ln -s "$LOCALTIME" "$found/etc/localtime"
cp -r "$compiled/opt" "$found/"
cd "$tree"
folders=
for folder in parachute sandbox modules tests requirements README.md pyproject.toml; do
  [ ! -e "$folder" ] || folders="$folders $folder"
done
# shellcheck disable=SC2086 # the names are those above
tar --create --exclude=__pycache__ --mode='u=rwX,go=rX' $folders |
  tar --extract --no-same-owner --directory "$found/opt/parachute/source"
for release in "$kernel"/usr/lib/uml/modules/*; do
  mkdir "$found/usr/lib/modules/${release##*/}"
  for module in $modules; do
    find "$release" -name "$module.ko" -exec cp {} "$found/usr/lib/modules/${release##*/}/" \;
  done
done
tar --create --owner=root:0 --group=root:0 --directory "$found" --file "$kernel/tmp/source.tar" \
  opt/parachute/source usr/lib/modules etc/localtime
rm -r "$found"

# Not in the place of this shell: as process 1 of its namespace the kernel would not be ended by its own signals.
env -i HOME=/tmp/home TMPDIR=/dev/shm PATH="$PATH" chroot "$kernel" /usr/bin/linux.uml \
  uml_dir=/tmp/home ubd0=/tmp/written,/tmp/base ubd1r=/tmp/source.tar root=/dev/ubda rw \
  con=null con0=null,fd:1 console=tty0 ssl=null "ssl0=fd:$line" init=/lib/systemd/systemd "$@"
