#!/usr/bin/env bash
# boot.sh KERNEL INITRAMFS SECONDS [PARAMETER]...: boots KERNEL in a virtual machine without disk and network, and prints
# what comes from its serial line until it switches itself off. Runs anywhere, by plain emulation, so no KVM is needed.
# 124: it was not done after SECONDS.
set -eu -o pipefail

readonly kernel=$1 initramfs=$2 seconds=$3
shift 3

# -cpu max: distribution kernels may use what the oldest model lacks. panic=-1 with -no-reboot: a panic ends it at once.
timeout --kill-after=5 "$seconds" qemu-system-x86_64 \
  -accel tcg,thread=multi -cpu max -smp 2 -m 2048 \
  -nodefaults -nographic -monitor none -serial stdio -net none -no-reboot \
  -kernel "$kernel" -initrd "$initramfs" \
  -append "console=ttyS0 quiet loglevel=1 panic=-1 mitigations=off rdinit=/guest.sh $*" </dev/null | tr -d '\r'
