// A filter on PROGRAM's system calls, for what neither mounts nor Landlock keep from a process of the same user.
#ifndef DSH_SECCOMP_FILTER_H
#define DSH_SECCOMP_FILTER_H

#include "failure.h"

namespace dsh {

// From now on this thread and all that it starts may set resource limits of the caller alone, by pid 0; another's can
// still be read. Needs no_new_privs. Step `seccomp`: EOPNOTSUPP on an architecture that is not in the table.
Failure keepToOwnLimits();

}  // namespace dsh

#endif
