// Descriptors 0, 1 and 2 as PROGRAM inherits them: none that leads to more than the one thing that is open.
#ifndef DSH_STREAMS_H
#define DSH_STREAMS_H

#include "failure.h"

namespace dsh {

constexpr int kStreamCount = 3;
constexpr const char* kStreamNames[kStreamCount] = {"/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"};

// A directory leads past every mount (`/proc/self/fd/0/../x`), and so may what is open as a place only (O_PATH).
// Step `streams`: EISDIR for the one, EBADF for the other.
Failure refuseDoors();

// A file that is open for reading belongs to the mount it was opened in. Where that is writable, `/proc/self/fd/0` opens
// the file for writing, whatever its mount in here is like. So each is opened anew by its name in here, at the same
// offset. Step `streams`: ENOENT when it has no name here, ESTALE when another file has it, or what open(2) says.
Failure reopenReadOnlyFiles();

}  // namespace dsh

#endif
