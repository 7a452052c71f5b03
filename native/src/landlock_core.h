// The launcher's grants in terms of Landlock: restricting the calling thread to a list of them.
// No allocation, no environment, no output; failures are a step and an errno.
#ifndef DSH_LANDLOCK_CORE_H
#define DSH_LANDLOCK_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "landlock_calls.h"
#include "unique_fd.h"

namespace dsh {

enum class GrantKind : uint8_t {
  ReadOnly,         // execute and read
  ReadWrite,        // ReadOnly and every other right but device nodes and device ioctls
  PinnedReadWrite,  // ReadWrite, on one certain directory
  Device,           // read, write, truncate and ioctl; skipped when the path does not exist
  SharedMemory,     // make, use and remove plain files in a directory; skipped when it does not exist
  Stream,           // Device, on one of our own descriptors; skipped when it cannot be the subject of a rule
};

struct Grant {
  GrantKind kind;
  const char* path;
  uint64_t device;  // st_dev; PinnedReadWrite only
  uint64_t inode;   // st_ino; PinnedReadWrite only
};

struct Grants {
  const Grant* items;
  size_t count;
};

// Opens what a grant names, without reading it. The descriptor stays invalid for what may be missing and is.
// Step `pin` for a pinned grant: ESTALE when another directory lies at the path, ELOOP for a symbolic link, ENOTDIR for
// anything else. Step `open-grant` for the others.
Failure openGrant(const Grant& grant, UniqueFd* opened);

// Restricts the calling thread, and all that it starts from now on. Needs no_new_privs.
// Steps `create-ruleset`, those of openGrant, `add-rule`, `restrict-self`.
Failure restrictSelf(const LandlockSupport& support, const Grants& grants);

}  // namespace dsh

#endif
