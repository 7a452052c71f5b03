#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unique_fd.h"

namespace dsh {
namespace {

enum class Listing { Complete, Unavailable };

// Kills every child that this process has at this moment. Source: proc_tid_children(5), CONFIG_PROC_CHILDREN.
Listing killChildren() {
  UniqueFd list(open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC));
  if (!list.valid()) return Listing::Unavailable;
  char text[4096];
  pid_t pid = 0;
  for (ssize_t length = read(list.get(), text, sizeof text); length > 0; length = read(list.get(), text, sizeof text)) {
    for (ssize_t i = 0; i < length; i++) {
      if (text[i] >= '0' && text[i] <= '9') {
        pid = pid * 10 + (text[i] - '0');  // a number may go on in the next read
      } else if (pid > 0) {
        kill(pid, SIGKILL);
        pid = 0;
      }
    }
  }
  return Listing::Complete;
}

// Collects children that have ended, waiting for the first one. False when there is no child.
bool collectSome() {
  pid_t pid = 0;
  do {
    pid = waitpid(-1, nullptr, __WALL);
  } while (pid < 0 && errno == EINTR);
  if (pid < 0) return false;
  while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
  }
  return true;
}

bool hasChildren() {
  siginfo_t none;
  return waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

}  // namespace

void endChildren(pid_t group) {
  if (!hasChildren()) return;
  do {
    if (killChildren() == Listing::Unavailable) {
      // Waiting for a child that was not killed could last for ever.
      kill(-group, SIGKILL);
      return;
    }
  } while (collectSome());
}

}  // namespace dsh
