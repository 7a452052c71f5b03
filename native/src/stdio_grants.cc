#include "stdio_grants.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "streams.h"

namespace dsh {
namespace {

bool isOpenForWriting(int flags) { return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && (flags & O_PATH) == 0; }

// Sockets cannot be opened by name, and pipes need no grant: Landlock leaves out file systems that no one can mount.
// Who appends to a file keeps what is in it; opened anew, it could be overwritten.
bool mayBeOpenedByName(int fd, int flags) {
  struct stat found;
  if (fstat(fd, &found) != 0) return false;
  if (S_ISREG(found.st_mode)) return (flags & O_APPEND) == 0;
  return S_ISCHR(found.st_mode) || S_ISFIFO(found.st_mode);
}

}  // namespace

size_t stdioGrants(Grant* grants) {
  size_t count = 0;
  for (int fd = 0; fd < kStreamCount; fd++) {
    const int flags = fcntl(fd, F_GETFL);
    if (!isOpenForWriting(flags) || !mayBeOpenedByName(fd, flags)) continue;
    grants[count++] = {GrantKind::Stream, kStreamNames[fd], 0, 0};
  }
  return count;
}

}  // namespace dsh
