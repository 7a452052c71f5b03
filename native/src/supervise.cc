#include "supervise.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "report.h"
#include "signals.h"

namespace dsh {
namespace {

constexpr int kForwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// How a guard learns that the launcher is gone. Real-time, so that nothing else here uses it.
constexpr int kLauncherGone = 64;

constexpr int kExitFailure = 125;

bool isForwarded(int number) {
  for (const int forwarded : kForwarded) {
    if (number == forwarded) return true;
  }
  return false;
}

Failure blockSignals() {
  sigset_t all;
  sigfillset(&all);
  return sigprocmask(SIG_SETMASK, &all, nullptr) == 0 ? success() : failedNow("block-signals");
}

// Orphans below come to this process instead of init. A forked child has to ask for itself (PR_SET_CHILD_SUBREAPER(2const)).
Failure becomeReaper() {
  return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? success() : failedNow("subreaper");
}

// A death signal is lost when the parent has died before it was asked for, so its number is compared afterwards.
Failure dieWith(pid_t parent, int number) {
  if (prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) != 0) return failedNow("death-signal");
  return getppid() == parent ? success() : failedWith(ESRCH, "death-signal");
}

// The command's streams end when the command closes them, not when its reaper ends.
void letGoOfStreams() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) dup2(null, fd);
  if (null > STDERR_FILENO) close(null);
}

// Collects every child that has ended. True once `watched` was among them.
bool reap(pid_t watched, int* status) {
  bool ended = false;
  int seen = 0;
  for (pid_t pid = waitpid(-1, &seen, WNOHANG | __WALL); pid > 0; pid = waitpid(-1, &seen, WNOHANG | __WALL)) {
    if (pid != watched) continue;
    *status = seen;
    ended = true;
  }
  return ended;
}

// Waits for `watched` to end; signals that are for it go to `target` (a group when negative). False: the launcher above
// is gone.
bool watch(pid_t watched, pid_t target, int* status) {
  sigset_t all;
  sigfillset(&all);
  while (true) {
    const int number = sigwaitinfo(&all, nullptr);
    if (number == SIGCHLD && reap(watched, status)) return true;
    if (number == kLauncherGone) return false;
    if (number > 0 && isForwarded(number)) kill(target, number);
  }
}

[[noreturn]] void endAs(int status) {
  if (WIFSIGNALED(status)) {
    // By a system call and not by RLIMIT_CORE, which a piped core pattern disregards (core(5)).
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    const Failure failure = resetSignals(StopSignals::Default);
    if (!failure) raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void reportEnd(int statusFd, int status) {
  if (statusFd < 0) return;
  if (WIFSIGNALED(status)) return reportEnded(statusFd, Ending::Signaled, WTERMSIG(status));
  reportEnded(statusFd, Ending::Exited, WEXITSTATUS(status));
}

// In the command's own process: a group of its own, so that its supervisor is not in it.
[[noreturn]] void becomeCommand(const Supervision& supervision, pid_t reaper) {
  setpgid(0, 0);
  Failure failure = dieWith(reaper, SIGKILL);
  if (!failure) failure = resetSignals(StopSignals::Default);
  if (failure) {
    if (supervision.statusFd >= 0) reportFailure(supervision.statusFd, failure);
    printFailure(failure);
    _exit(kExitFailure);
  }
  _exit(supervision.body(supervision.context));
}

// Starts the command and ends as it does.
Failure reapCommand(const Supervision& supervision) {
  const pid_t self = getpid();
  const pid_t command = fork();
  if (command < 0) return failedNow("fork");
  if (command == 0) becomeCommand(supervision, self);
  setpgid(command, command);  // here too: whichever comes first; an EACCES says that the command did it
  letGoOfStreams();
  int status = 0;
  const bool ended = watch(command, -command, &status);
  endChildren(command);
  if (!ended) _exit(kExitFailure);
  reportEnd(supervision.statusFd, status);
  endAs(status);
}

[[noreturn]] void becomeGuard(const Supervision& supervision, pid_t launcher) {
  setpgid(0, 0);
  Failure failure = dieWith(launcher, kLauncherGone);
  if (!failure) failure = becomeReaper();
  if (!failure) failure = reapCommand(supervision);
  if (supervision.statusFd >= 0) reportFailure(supervision.statusFd, failure);
  printFailure(failure);
  _exit(kExitFailure);
}

// Puts a guard between this process and the command. Were the guard itself killed, this process would end the rest.
Failure guardCommand(const Supervision& supervision) {
  const pid_t self = getpid();
  const pid_t guard = fork();
  if (guard < 0) return failedNow("fork");
  if (guard == 0) becomeGuard(supervision, self);
  if (supervision.statusFd >= 0) close(supervision.statusFd);
  letGoOfStreams();
  int status = 0;
  const bool ended = watch(guard, guard, &status);
  endChildren(guard);
  if (!ended) _exit(kExitFailure);
  endAs(status);
}

}  // namespace

Failure supervise(const Supervision& supervision) {
  if (Failure failure = becomeReaper()) return failure;
  if (Failure failure = blockSignals()) return failure;
  if (supervision.guard == Guard::None) return reapCommand(supervision);
  if (Failure failure = dieWith(getppid(), SIGKILL)) return failure;
  return guardCommand(supervision);
}

}  // namespace dsh
