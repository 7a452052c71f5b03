// A filter on PROGRAM's system calls, for what neither mounts nor Landlock keep from a process of the same user.
#ifndef DSH_SECCOMP_FILTER_H
#define DSH_SECCOMP_FILTER_H

#include <stdint.h>

#include "failure.h"

namespace dsh {

// Groups of calls are bits, so that several make one filter.
constexpr uint8_t kNoCallGroup = 0;

// The group of this name; kNoCallGroup when there is none. native/README.md says what each one holds.
uint8_t callGroup(const char* name);

// From now on the calls of these groups fail in this thread and all that it starts, and so does every call of an
// architecture that is not in the table (ENOSYS). Needs no_new_privs. Step `seccomp`: EOPNOTSUPP where the kernel's own
// architecture is not in the table.
Failure denyCalls(uint8_t groups);

}  // namespace dsh

#endif
