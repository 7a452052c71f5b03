#!/bin/busybox sh
# The first process of the virtual machine: tries the launcher and the command as root and as an ordinary user, and
# switches the machine off. What counts is printed as `@ SETTING UID WHAT…`; kernels.test.ts reads it.
export PATH=/usr/bin HOME=/tmp TMPDIR=/var/tmp
/bin/busybox --install -s /usr/bin 2>/dev/null

# bubblewrap moves the root, which nothing can do with the kernel's first one: go on in a second view of it, on top.
if [ "$1" != again ]; then
  mkdir /again && mount -o bind / /again && cd /again && mount -o move . / && exec chroot . /guest.sh again
fi
cd /
mkdir -p proc sys dev tmp var/tmp run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts -o ptmxmode=0666,mode=0620 pts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs -o mode=1777 tmp /var/tmp
ip link set lo up

say() { echo "@ $*"; }

# attempt SETTING UID PLACE COMMAND…: what it printed and its status, one line each.
attempt() {
  prefix="$1 $2 $3"
  shift 3
  "$@" >/tmp/stdout 2>/tmp/stderr </dev/null
  status=$?
  while read -r line; do say "$prefix $line"; done </tmp/stdout
  while read -r line; do say "$prefix stderr $line"; done </tmp/stderr
  say "$prefix status $status"
}

# options SETTING WORKSPACE: how the launcher is called; nothing in the open.
launcher() {
  grants="--ro / --rw $2"
  case $1 in
    open) ;;
    landlock) echo "/bin/landlock-run $grants --" ;;
    supervised) echo "/bin/landlock-run --supervise --guard --deny limits-of-others --deny kernel-surface --deny device-nodes $grants --" ;;
    no-landlock) echo "/bin/landlock-run --no-landlock --" ;;
  esac
}

say kernel 0 "$(uname -r)"
attempt probe 0 - /bin/landlock-run --probe

for uid in 0 65534; do
  work=/tmp/work-$uid
  mkdir "$work" && chown "$uid" "$work" && cd "$work" || continue
  as="/bin/acts as $uid"
  $as /bin/acts victim "victim-$uid" >"$work/victim" </dev/null &
  until [ -s "$work/victim" ]; do usleep 10000; done
  victim=$(cat "$work/victim")
  for setting in open landlock supervised no-landlock; do
    for place in inside outside; do $as /bin/acts arrange "$work/$setting-$place"; done
    for place in inside outside; do
      attempt "$setting" "$uid" "$place" $as $(launcher "$setting" "$work/$setting-inside") \
        /bin/acts try "$work/$setting-$place" "$victim" "victim-$uid"
    done
  done
  kill "$victim"
  cd /
  attempt doctor "$uid" - $as /usr/bin/node /app/node_modules/dsh-sandbox-cli/bin/dsh-sandbox.js doctor --json
done
say end 0
poweroff -f
