#include "privileges.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dsh {
namespace {

constexpr uint64_t capabilityBit(int capability) { return 1ull << capability; }

// Files of other owners stay writable, package managers and servers still work. Left out on purpose: DAC_READ_SEARCH
// (opens by handle, past every path rule), SYS_ADMIN (mounts), MKNOD, SYS_PTRACE, KILL, SYS_MODULE, SETPCAP.
constexpr uint64_t kKeptCapabilities = capabilityBit(CAP_CHOWN) | capabilityBit(CAP_DAC_OVERRIDE) |
                                       capabilityBit(CAP_FOWNER) | capabilityBit(CAP_FSETID) |
                                       capabilityBit(CAP_SETGID) | capabilityBit(CAP_SETUID) |
                                       capabilityBit(CAP_NET_BIND_SERVICE);

// Version 3 of capget(2) splits each 64-bit set over two structs.
struct CapabilitySets {
  __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3];
};
static_assert(sizeof(CapabilitySets) == 24);

bool isEffective(const CapabilitySets& sets, int capability) {
  return (sets.half[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
}

CapabilitySets reducedToKept(CapabilitySets sets) {
  const uint32_t kept[] = {static_cast<uint32_t>(kKeptCapabilities), static_cast<uint32_t>(kKeptCapabilities >> 32)};
  for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
    sets.half[i].effective &= kept[i];
    sets.half[i].permitted &= kept[i];
    sets.half[i].inheritable &= kept[i];
  }
  return sets;
}

Failure clearAmbient() {
  // EINVAL: a kernel before 4.3, which has no ambient set.
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 || errno == EINVAL) return success();
  return failedNow("ambient-capabilities");
}

Failure dropBoundingSet() {
  for (int capability = 0; capability < 64; capability++) {
    const int present = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (present < 0 && errno == EINVAL) break;  // past the last one this kernel knows
    if (present < 0) return failedNow("bounding-set");
    if (present == 0 || (kKeptCapabilities & capabilityBit(capability)) != 0) continue;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return failedNow("bounding-set");
  }
  return success();
}

// With no_new_privs an exec by uid 0 gains nothing over the permitted set that is left here, whatever the bounding set
// holds. Source: capabilities(7), "cap_bprm_creds_from_file" in security/commoncap.c.
Failure reduceCapabilities() {
  __user_cap_header_struct self = {_LINUX_CAPABILITY_VERSION_3, 0};
  CapabilitySets sets;
  if (syscall(SYS_capget, &self, sets.half) != 0) return failedNow("capabilities");
  // Without SETPCAP the bounding set cannot be changed.
  if (isEffective(sets, CAP_SETPCAP)) {
    if (Failure failure = dropBoundingSet()) return failure;
  }
  const CapabilitySets reduced = reducedToKept(sets);
  return syscall(SYS_capset, &self, reduced.half) == 0 ? success() : failedNow("capabilities");
}

}  // namespace

Failure dropPrivileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failedNow("no-new-privs");
  if (Failure failure = clearAmbient()) return failure;
  return reduceCapabilities();
}

}  // namespace dsh
