#include "streams.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unique_fd.h"

namespace dsh {
namespace {

Failure failedStream(int error, int stream) { return failedWith(error, "streams", kStreamNames[stream]); }

// What is open on a stream; `flags` is negative when nothing is.
struct Opened {
  int flags;
  struct stat file;
};

Failure inspect(int stream, Opened* opened) {
  opened->flags = fcntl(stream, F_GETFL);
  if (opened->flags < 0) return errno == EBADF ? success() : failedStream(errno, stream);
  return fstat(stream, &opened->file) == 0 ? success() : failedStream(errno, stream);
}

Failure refuseDoor(int stream) {
  Opened opened;
  if (Failure failure = inspect(stream, &opened)) return failure;
  if (opened.flags < 0) return success();
  if ((opened.flags & O_PATH) != 0) return failedStream(EBADF, stream);
  return S_ISDIR(opened.file.st_mode) ? failedStream(EISDIR, stream) : success();
}

// The place alone: whatever lies there by now, opening it neither waits nor has an effect.
Failure findByName(int stream, const struct stat& file, UniqueFd* place) {
  char name[PATH_MAX];
  const ssize_t length = readlink(kStreamNames[stream], name, sizeof name);
  if (length < 0) return failedStream(errno, stream);
  if (length == sizeof name) return failedStream(ENAMETOOLONG, stream);
  name[length] = '\0';
  UniqueFd found(open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat here;
  if (!found.valid() || fstat(found.get(), &here) != 0) return failedStream(errno, stream);
  if (here.st_dev != file.st_dev || here.st_ino != file.st_ino) return failedStream(ESTALE, stream);
  *place = static_cast<UniqueFd&&>(found);
  return success();
}

bool replace(int stream, const UniqueFd& place) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", place.get());
  const UniqueFd again(open(link, O_RDONLY | O_CLOEXEC));
  const off_t offset = lseek(stream, 0, SEEK_CUR);
  if (!again.valid() || offset < 0 || lseek(again.get(), offset, SEEK_SET) != offset) return false;
  return dup3(again.get(), stream, 0) == stream;
}

Failure reopenIfReadOnly(int stream) {
  Opened opened;
  if (Failure failure = inspect(stream, &opened)) return failure;
  if (opened.flags < 0 || !S_ISREG(opened.file.st_mode) || (opened.flags & O_ACCMODE) != O_RDONLY) return success();
  UniqueFd place;
  if (Failure failure = findByName(stream, opened.file, &place)) return failure;
  return replace(stream, place) ? success() : failedStream(errno, stream);
}

}  // namespace

Failure refuseDoors() {
  for (int stream = 0; stream < kStreamCount; stream++) {
    if (Failure failure = refuseDoor(stream)) return failure;
  }
  return success();
}

Failure reopenReadOnlyFiles() {
  for (int stream = 0; stream < kStreamCount; stream++) {
    if (Failure failure = reopenIfReadOnly(stream)) return failure;
  }
  return success();
}

}  // namespace dsh
