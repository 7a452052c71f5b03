#include "mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "unique_fd.h"

namespace dsh {
namespace {

Failure writeFile(const char* path, const char* text) {
  UniqueFd file(open(path, O_WRONLY | O_CLOEXEC));
  const ssize_t length = static_cast<ssize_t>(strlen(text));
  if (!file.valid() || write(file.get(), text, static_cast<size_t>(length)) != length) return failedNow("map-user", path);
  return success();
}

Failure mapSelf(const char* path, unsigned id) {
  char line[64];
  snprintf(line, sizeof line, "%u %u 1", id, id);
  return writeFile(path, line);
}

// Without a privilege a group can be mapped only after setgroups(2) has been given up (user_namespaces(7)).
Failure enterUserNamespace() {
  const unsigned uid = getuid();
  const unsigned gid = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return failedNow("private-mounts");
  if (Failure failure = writeFile("/proc/self/setgroups", "deny")) return failure;
  if (Failure failure = mapSelf("/proc/self/gid_map", gid)) return failure;
  return mapSelf("/proc/self/uid_map", uid);
}

}  // namespace

Failure enterPrivateMounts() {
  if (unshare(CLONE_NEWNS) != 0) {
    if (errno != EPERM) return failedNow("private-mounts");
    if (Failure failure = enterUserNamespace()) return failure;
  }
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? success() : failedNow("private-mounts");
}

}  // namespace dsh
