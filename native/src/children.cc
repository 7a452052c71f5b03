#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.h"

namespace dsh {
namespace {

// Source: proc_tid_children(5), CONFIG_PROC_CHILDREN.
constexpr const char* kListing = "/proc/thread-self/children";
constexpr const char* kOwnEntry = "/proc/self";

// Source: PID_MAX_LIMIT, include/linux/threads.h; the highest that /proc/sys/kernel/pid_max can be set to.
constexpr pid_t kLastPid = 1 << 22;

constexpr int kUnreadable = -1;

bool isChild(pid_t pid) {
  siginfo_t none;
  return waitid(P_PID, static_cast<id_t>(pid), &none, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

bool hasChildren() {
  siginfo_t none;
  return waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

// The number of a child is its own until it is collected here, so no other process is ever hit.
bool killChild(pid_t pid) { return isChild(pid) && kill(pid, SIGKILL) == 0; }

// Calls `visit` with every child that is listed at this moment. False when the list cannot be read.
template <typename Visit>
bool visitListed(int list, Visit visit) {
  char text[4096];
  pid_t pid = 0;
  off_t at = 0;
  for (ssize_t length = pread(list, text, sizeof text, at); length != 0; length = pread(list, text, sizeof text, at)) {
    if (length < 0) return false;
    for (ssize_t i = 0; i < length; i++) {
      if (text[i] >= '0' && text[i] <= '9') {
        pid = pid * 10 + (text[i] - '0');  // a number may go on in the next read
      } else if (pid > 0) {
        visit(pid);
        pid = 0;
      }
    }
    at += length;
  }
  return true;
}

// How many were reached, or kUnreadable.
int killListed(int list) {
  int reached = 0;
  const bool read = visitListed(list, [&reached](pid_t pid) { reached += killChild(pid); });
  return read ? reached : kUnreadable;
}

// Needs neither /proc nor a descriptor.
int killNumbered() {
  int reached = 0;
  for (pid_t pid = 1; pid < kLastPid; pid++) reached += killChild(pid);
  return reached;
}

int killChildren(int list) {
  const int reached = killListed(list);
  return reached == kUnreadable ? killNumbered() : reached;
}

// Waits for one child to end, and collects no more than `most`: with children that fork faster than they are collected
// it would otherwise never be their turn to be killed. How many of them had been killed.
int collect(int most) {
  int options = __WALL;
  int killed = 0;
  while (most > 0) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, options);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) break;
    options = __WALL | WNOHANG;
    killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    most--;
  }
  return killed;
}

}  // namespace

Failure openChildren(UniqueFd* list) {
  char own[24] = {};
  if (readlink(kOwnEntry, own, sizeof own - 1) < 0) return failedNow("list-children", kOwnEntry);
  if (strtol(own, nullptr, 10) != getpid()) return failedWith(ESRCH, "list-children", kOwnEntry);
  const UniqueFd opened(open(kListing, O_RDONLY | O_CLOEXEC));
  if (!opened.valid()) return failedNow("list-children", kListing);
  UniqueFd kept(fcntl(opened.get(), F_DUPFD_CLOEXEC, kFirstExtraFd));
  char first;
  if (!kept.valid() || pread(kept.get(), &first, 1, 0) < 0) return failedNow("list-children", kListing);
  *list = static_cast<UniqueFd&&>(kept);
  return success();
}

Collected collectOneBut(pid_t watched) {
  siginfo_t seen;
  seen.si_pid = 0;  // and so it stays while none has ended
  // With a child there is nothing for it to fail on; if it does, its signal may be gone, and has to be asked after again.
  if (waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) return Collected::Unknown;
  if (seen.si_pid == 0) return Collected::None;
  if (seen.si_pid == watched) return Collected::Watched;
  waitpid(seen.si_pid, nullptr, WNOHANG | __WALL);
  return Collected::Other;
}

void collectEnded(const UniqueFd& list, pid_t watched) {
  visitListed(list.get(), [watched](pid_t pid) {
    if (pid != watched) waitpid(pid, nullptr, WNOHANG | __WALL);
  });
}

int endChildren(const UniqueFd& list) {
  int killed = 0;
  while (hasChildren()) {
    const int reached = killChildren(list.get());
    // Waiting for a child that was not killed could last for ever: one of another user, without CAP_KILL.
    if (reached == 0) break;
    killed += collect(reached);
  }
  return killed;
}

}  // namespace dsh
