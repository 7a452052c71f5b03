// Standard streams that can be opened anew by name.
#ifndef DSH_STDIO_GRANTS_H
#define DSH_STDIO_GRANTS_H

#include "landlock_core.h"
#include "streams.h"

namespace dsh {

constexpr size_t kMaxStdioGrants = kStreamCount;

// Grants for what 0, 1 and 2 already have open for writing when that is a terminal, a file or a fifo, so that
// `tee /dev/stderr` works; none for a file that is open for appending. PROGRAM holds the descriptors, so nothing is opened
// to it that is not open. Returns how many were written to `grants`, which has room for kMaxStdioGrants.
size_t stdioGrants(Grant* grants);

}  // namespace dsh

#endif
