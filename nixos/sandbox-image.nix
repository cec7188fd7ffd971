# The root of the image that agents' containers start from, as a tarball for `parachute sandbox build --from-tar`.
#
# Elsewhere parachute/sandbox/image/recipe.py makes it from Debian's packages. This one has the same programs and the same folders
# from nixpkgs, so that a NixOS machine needs neither Debian's packages nor a registry.
{
  lib,
  pkgs,
  stdenv,
  runCommand,
  buildEnv,
  closureInfo,
  glibc,
  cacert,
  # Packages of the user's own.
  added ? [ ],
}:

let
  # From parachute/sandbox/layout.py and image/contents.py; `python -m parachute.sandbox.image.derived` writes it.
  recipe = lib.importJSON ./sandbox-image.json;
  named = name: lib.getAttrFromPath (lib.splitString "." name) pkgs;

  programs = buildEnv {
    name = "parachute-sandbox-programs";
    # The others are what Debian's base brings by itself.
    paths = map named (recipe.programs ++ [ "coreutils" "gawk" "gnugrep" "gnused" "gnutar" "gzip" ]) ++ added;
    pathsToLink = [ "/bin" ];
    ignoreCollisions = true;
  };

  # Where programs that were built elsewhere look for it: the agent's own is one.
  loader =
    {
      x86_64-linux = "/lib64/ld-linux-x86-64.so.2";
      aarch64-linux = "/lib/ld-linux-aarch64.so.1";
    }
    .${stdenv.hostPlatform.system};

  inRoot = lib.concatMapStringsSep " " (path: "root${path}");
in
runCommand "parachute-sandbox-image"
  {
    closure = closureInfo {
      rootPaths = [
        programs
        glibc
        cacert
      ];
    };
    passthru = { inherit programs loader; };
    meta = {
      description = "Root of the containers that agents run in";
      platforms = [
        "x86_64-linux"
        "aarch64-linux"
      ];
    };
  }
  ''
    mkdir --parents root/nix/store root/usr/local/bin root/etc/ssl/certs root"$(dirname ${loader})" root/dev root/proc root/sys root/root
    xargs --arg-file="$closure/store-paths" cp --archive --target-directory=root/nix/store

    ln --symbolic ${programs}/bin root/usr/bin
    ln --symbolic usr/bin root/bin
    ln --symbolic ${glibc}/lib/$(basename ${loader}) root${loader}
    ln --symbolic ${cacert}/etc/ssl/certs/ca-bundle.crt root/etc/ssl/certs/ca-certificates.crt

    printf '%s\n' 'root:x:0:0:root:/root:/bin/bash' 'agent:x:1000:1000::/home/agent:/bin/bash' \
      'nobody:x:65534:65534:nobody:/nonexistent:/bin/false' > root/etc/passwd
    printf '%s\n' 'root:x:0:' 'agent:x:1000:' 'nogroup:x:65534:' > root/etc/group
    echo 'hosts: files dns' > root/etc/nsswitch.conf
    # The mark by which the image is known: it changes with every program in it.
    echo "nix$(basename ${programs} | cut --characters=1-32)" > root/etc/parachute-recipe

    # 1777, since only root of a container could own them. Debian's base brings /tmp and /var/tmp by itself.
    mkdir --parents ${inRoot recipe.folders} root/tmp root/var/tmp
    touch ${inRoot recipe.files}
    chmod 1777 ${inRoot recipe.memory} root/var/tmp

    mkdir $out
    # A third of it, on a card that has it a second time as an image.
    tar --create --directory=root --sort=name --mtime=@1767225600 --owner=0 --group=0 --numeric-owner . |
      gzip --no-name > $out/root.tar.gz
    cp root/etc/parachute-recipe $out/recipe
  ''
