#include "stdio_grants.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dsh {
namespace {

constexpr const char* kStreams[kMaxStdioGrants] = {"/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"};

bool isOpenForWriting(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && (flags & O_PATH) == 0;
}

// Sockets cannot be opened by name, and pipes need no grant: Landlock leaves out file systems that no one can mount.
bool canBeOpenedByName(int fd) {
  struct stat found;
  if (fstat(fd, &found) != 0) return false;
  return S_ISCHR(found.st_mode) || S_ISREG(found.st_mode) || S_ISFIFO(found.st_mode);
}

}  // namespace

size_t stdioGrants(Grant* grants) {
  size_t count = 0;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (!isOpenForWriting(fd) || !canBeOpenedByName(fd)) continue;
    grants[count++] = {GrantKind::Stream, kStreams[fd], 0, 0};
  }
  return count;
}

}  // namespace dsh
