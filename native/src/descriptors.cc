#include "descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dsh {
namespace {

constexpr long kSysCloseRange = 436;  // Linux 5.9

bool closeRange(unsigned first, unsigned last) {
  return first > last || syscall(kSysCloseRange, first, last, 0) == 0;
}

bool closeRangesAround(int kept) {
  if (kept == kNoFd) return closeRange(kFirstExtraFd, UINT_MAX);
  const unsigned hole = static_cast<unsigned>(kept);
  return closeRange(kFirstExtraFd, hole - 1) && closeRange(hole + 1, UINT_MAX);
}

// One reading of the folder. Entries may be missed while descriptors vanish from under it, hence the count.
struct Sweep {
  int closed = 0;
  bool sawItself = false;  // false: whatever is mounted there does not list this process's descriptors
  int error = 0;           // of reading; strtol and close have errnos of their own
};

const dirent* nextEntry(DIR* listing) {
  errno = 0;
  return readdir(listing);
}

Sweep sweep(DIR* listing, int kept) {
  Sweep result;
  while (const dirent* entry = nextEntry(listing)) {
    char* end = nullptr;
    const long fd = strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || *end != '\0') continue;
    if (fd == dirfd(listing)) {
      result.sawItself = true;
    } else if (fd >= kFirstExtraFd && fd != kept) {
      close(static_cast<int>(fd));
      result.closed++;
    }
  }
  result.error = errno;
  return result;
}

// For kernels before 5.9 and for filters that refuse close_range.
Failure closeListedExcept(int kept) {
  static constexpr const char* kListing = "/proc/self/fd";
  DIR* listing = opendir(kListing);
  if (listing == nullptr) return failedNow("close-descriptors", kListing);
  Sweep last;
  do {
    rewinddir(listing);
    last = sweep(listing, kept);
  } while (last.closed > 0);
  closedir(listing);
  if (!last.sawItself) return failedWith(last.error != 0 ? last.error : EIO, "close-descriptors", kListing);
  return success();
}

}  // namespace

Failure closeDescriptorsExcept(int kept) { return closeRangesAround(kept) ? success() : closeListedExcept(kept); }

Failure closeOnExec(int fd) { return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? success() : failedNow("status-fd"); }

Failure keepOnExec(int fd) { return fcntl(fd, F_SETFD, 0) == 0 ? success() : failedNow("status-fd"); }

}  // namespace dsh
