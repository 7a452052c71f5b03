#!/usr/bin/env bash
# make-initramfs.sh APP LAUNCHER FILE: packs what the virtual machine needs into FILE: busybox, bash, bubblewrap, this
# machine's Node, APP (a folder with node_modules) as /app, LAUNCHER, acts.c and guest.sh. Everything belongs to root there.
set -eu -o pipefail

readonly app=$1 launcher=$2 file=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d "$(dirname "$file")/root-XXXXXX")
trap 'rm -rf "$root"' EXIT

# place PROGRAM: the program, under its own name in /usr/bin, and the libraries that it says it needs.
place() {
  local library
  cp -L "$1" "$root/usr/bin/$(basename "$1")"
  # A static program has none, and ldd(1) says so by failing.
  { ldd "$1" 2>/dev/null || true; } | awk '$2 == "=>" { print $3 } $1 ~ "^/" { print $1 }' | while read -r library; do
    # One folder serves every library: /lib and /lib64 are names of /usr/lib.
    cp -Ln "$library" "$root/usr/lib/${library##*/}"
  done
}

chmod 755 "$root"
mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/etc"
ln -s usr/bin "$root/bin"
ln -s usr/lib "$root/lib"
ln -s usr/lib "$root/lib64"
printf 'root:x:0:0::/tmp:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
for program in busybox bash bwrap; do place "$(command -v "$program")"; done
place "$(node -p process.execPath)"
cp "$launcher" "$root/usr/bin/landlock-run"
cp -r "$app" "$root/app"
cp "$here/guest.sh" "$root/guest.sh"
chmod -R go-w,a+rX "$root"
chmod 755 "$root/guest.sh" "$root/usr/bin/"*
"${CC:-cc}" -std=gnu17 -Os -static -Wall -Wextra -Werror -o "$root/usr/bin/acts" "$here/acts.c"
(cd "$root" && find . -print0 | cpio --null --create --format=newc --owner=0:0 --quiet) >"$file"
