#!/usr/bin/env bash
# fetch-kernels.sh FOLDER: leaves one kernel for each row of KERNELS in FOLDER, as FOLDER/NAME.
#
# They are Debian's own, from the mirrors that this machine's apt is set up with, by an apt that has all its state below
# FOLDER. An index may list a package that the mirror no longer has, so each row may match several; the newest that comes
# is taken. No kernel for a row: exit 1.
set -eu -o pipefail

readonly folder=$1
# The name of the file, and which packages hold such a kernel.
readonly KERNELS=(
  '5.10 ^linux-image-5[.]10[.]0-[0-9]+-cloud-amd64$'
  '6.1 ^linux-image-6[.]1[.]0-[0-9]+-cloud-amd64$'
  '6.12 ^linux-image-6[.]12[.][0-9]+[+]deb1[0-9]-cloud-amd64$'
  '6.16 ^linux-image-6[.]16[.][0-9]+[+]deb1[0-9]-cloud-amd64$'
  '7 ^linux-binary-[7][.][0-9]+[.][0-9]+[+]deb1[0-9]-cloud-amd64$'
)
readonly CHOICES=4

apt_root=$folder/apt
mkdir -p "$apt_root/lists/partial" "$apt_root/cache/archives/partial" "$apt_root/debs"
: >"$apt_root/status"
readonly APT_OPTIONS=(
  -o "Dir::Etc::sourcelist=$apt_root/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$apt_root/lists" -o "Dir::State::status=$apt_root/status" -o "Dir::Cache=$apt_root/cache"
  -o APT::Sandbox::User= -o Acquire::Languages=none -o APT::Architecture=amd64 -o Acquire::Retries=2
)

# The address of this machine's mirror for the given release.
mirror_of() {
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="$1" '$1 == release && !found { print $2; found = 1 } END { exit !found }'
}

write_sources() {
  local codename main security suite
  codename=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  main=$(mirror_of "$codename")
  security=$(mirror_of "$codename-security")
  {
    for suite in bullseye bookworm trixie-backports; do printf 'deb %s %s main\n' "$main" "$suite"; done
    for suite in bullseye-security bookworm-security; do printf 'deb %s %s main\n' "$security" "$suite"; done
  } >"$apt_root/sources.list"
}

newest_first() {
  apt-cache "${APT_OPTIONS[@]}" pkgnames linux- | grep -E "$1" | sort -Vr | head -n "$CHOICES"
}

# unpack PACKAGE NAME: the kernel image of PACKAGE as FOLDER/NAME; fails where it cannot be had or holds none.
# Source of the two places: the packages themselves; from 7.2 on it lies among the modules.
unpack() {
  local image
  rm -rf "$apt_root/debs" "$apt_root/unpacked"
  mkdir "$apt_root/debs" "$apt_root/unpacked"
  (cd "$apt_root/debs" && apt-get "${APT_OPTIONS[@]}" -qq download "$1") || return 1
  dpkg-deb --fsys-tarfile "$apt_root"/debs/*.deb |
    tar x -C "$apt_root/unpacked" --wildcards --no-anchored 'vmlinuz*' || return 1
  image=$(find "$apt_root/unpacked" -type f -name 'vmlinuz*' | head -n 1)
  [ -s "$image" ] && mv "$image" "$folder/$2"
}

fetch() {
  local name=$1 package
  [ ! -s "$folder/$name" ] || return 0
  for package in $(newest_first "$2"); do
    if unpack "$package" "$name"; then
      printf '%s: %s\n' "$name" "$package"
      return 0
    fi
    printf '%s: %s cannot be had\n' "$name" "$package" >&2
  done
  printf 'no kernel for %s\n' "$name" >&2
  return 1
}

write_sources
apt-get "${APT_OPTIONS[@]}" -qq update
for row in "${KERNELS[@]}"; do fetch "${row%% *}" "${row#* }"; done
rm -rf "$apt_root"
