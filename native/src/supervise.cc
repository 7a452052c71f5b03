#include "supervise.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "report.h"
#include "signals.h"
#include "unique_fd.h"

namespace dsh {
namespace {

constexpr int kForwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Wakes a guard when the launcher is gone. Real-time, so that nothing else here uses it.
constexpr int kLauncherGone = 64;

constexpr int kExitFailure = 125;

// Signals from here on have no name, so a caller that goes by names (Node) would not see an end by one.
// Source: signal(7), "Real-time signals".
constexpr int kFirstRealTime = 32;

// How shells write an end by a signal as a status.
constexpr int kSignaledStatus = 128;

// In place of a launcher whose end ends the command: no process has this number.
constexpr pid_t kNobody = -1;

bool isForwarded(int number) {
  for (const int forwarded : kForwarded) {
    if (number == forwarded) return true;
  }
  return false;
}

// Orphans below come to this process instead of init. A forked child has to ask for itself (PR_SET_CHILD_SUBREAPER(2const)).
Failure becomeReaper() {
  return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? success() : failedNow("subreaper");
}

// Keeps commands of the same user from tracing a supervisor and from opening its status descriptor by /proc, which only
// Landlock denies them otherwise; and a supervisor that ends by a signal from dumping a core of its own, which a piped
// core pattern gets in spite of RLIMIT_CORE (core(5)). Inherited by fork, so that the command never finds it missing.
Failure becomeUndumpable() { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? success() : failedNow("dumpable"); }

// The command's own process is as open as one that is not supervised. exec would see to that, but a filter's supervisor
// may have to read the calls before it (seccomp_unotify(2)).
Failure becomeDumpable() { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 ? success() : failedNow("dumpable"); }

// A death signal is lost when the parent has died before it was asked for, so its number is compared afterwards.
Failure dieWith(pid_t parent, int number) {
  if (prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) != 0) return failedNow("death-signal");
  return getppid() == parent ? success() : failedWith(ESRCH, "death-signal");
}

// The command's streams end when the command closes them, not when its supervisors end.
void letGoOfStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) close(fd);
}

// The command's process says here that it never became the command, whose own exit could look the same. It can write
// here only as long as that is so: exec takes the mapping away.
Failure shareNeverRan(bool** neverRan) {
  void* page = mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return failedNow("share");
  *neverRan = static_cast<bool*>(page);
  return success();
}

// Among processes that fork as fast as they can its turn might never come. It sleeps otherwise, and the command, forked
// before, is scheduled as ever. Needs CAP_SYS_NICE; without it the scheduler decides.
void runBeforeOthers() {
  sched_param lowest = {};  // musl's has more members than one
  lowest.sched_priority = 1;
  syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &lowest);  // not every C library has more than a stub of it
}

// A command that has left its own group gets the signal alone.
void forward(int number, pid_t watched, pid_t target) {
  if (kill(target, number) != 0) kill(watched, number);
}

// Waits for `watched` to end, and leaves it uncollected; signals that are for it go to `target` (a group when negative).
// False: `launcher` is gone. That is asked every time, since its signal can be kept waiting by others for ever.
bool watch(pid_t watched, pid_t target, pid_t launcher) {
  sigset_t all;
  sigfillset(&all);
  while (launcher == kNobody || getppid() == launcher) {
    const Collected collected = collectOneBut(watched);
    if (collected == Collected::Watched) return true;
    if (collected != Collected::None) continue;
    const int number = sigwaitinfo(&all, nullptr);
    if (isForwarded(number)) forward(number, watched, target);
  }
  return false;
}

// How the watched process ended, and how many others had to be.
struct End {
  bool known = false;
  int status = kExitFailure << 8;  // as wait(2) has it; this one until it is known, so that it is never taken for success
  int left = 0;
};

// Waits as `watch` does, then ends everything below. False, and no status, when the launcher is gone.
bool outlive(pid_t watched, pid_t target, pid_t launcher, const UniqueFd& children, End* end) {
  runBeforeOthers();
  const bool ended = watch(watched, target, launcher);
  // What somebody else has killed before is not left over.
  if (ended) collectEnded(children, watched);
  // A group is killed at one stroke: nobody in it forks past that. While its leader is uncollected it is no other group.
  kill(-watched, SIGKILL);
  end->known = ended && waitpid(watched, &end->status, __WALL) == watched;
  end->left = endChildren(children);
  return ended;
}

[[noreturn]] void endAs(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  if (number < kFirstRealTime) endBySignal(number);
  _exit(kSignaledStatus + number);
}

void reportEnd(int statusFd, const End& end) {
  const int status = end.status;
  if (end.left > 0) reportLeft(statusFd, end.left);
  if (WIFSIGNALED(status)) return reportEnded(statusFd, Ending::Signaled, WTERMSIG(status));
  reportEnded(statusFd, Ending::Exited, WEXITSTATUS(status));
}

[[noreturn]] void giveUp(const Supervision& supervision, const Failure& failure) {
  if (supervision.statusFd >= 0) reportFailure(supervision.statusFd, failure);
  printFailure(failure);
  _exit(kExitFailure);
}

// In the command's own process: a group of its own, so that its supervisor is not in it.
[[noreturn]] void becomeCommand(const Supervision& supervision, pid_t reaper, bool* neverRan) {
  setpgid(0, 0);
  Failure failure = dieWith(reaper, SIGKILL);
  if (!failure) failure = becomeDumpable();
  if (!failure) failure = resetSignals(StopSignals::Default);
  const int exitStatus = failure ? kExitFailure : supervision.body(supervision.context);
  *neverRan = true;
  if (failure) giveUp(supervision, failure);
  _exit(exitStatus);
}

// Starts the command and ends as it does.
Failure reapCommand(const Supervision& supervision, pid_t launcher, const UniqueFd& children) {
  bool* neverRan = nullptr;
  if (Failure failure = shareNeverRan(&neverRan)) return failure;
  const pid_t self = getpid();
  const pid_t command = fork();
  if (command < 0) return failedNow("fork");
  if (command == 0) becomeCommand(supervision, self, neverRan);
  setpgid(command, command);  // here too: whichever comes first; an EACCES says that the command did it
  letGoOfStreams();
  End end;
  if (!outlive(command, -command, launcher, children, &end)) _exit(kExitFailure);
  if (supervision.statusFd >= 0 && end.known && !*neverRan) reportEnd(supervision.statusFd, end);
  endAs(end.status);
}

[[noreturn]] void becomeGuard(const Supervision& supervision, pid_t launcher) {
  setpgid(0, 0);
  Failure failure = dieWith(launcher, kLauncherGone);
  if (!failure) failure = becomeReaper();
  UniqueFd children;
  if (!failure) failure = openChildren(&children);
  if (!failure) failure = reapCommand(supervision, launcher, children);
  giveUp(supervision, failure);
}

// Puts a guard between this process and the command. Were the guard itself killed, this process would end the rest.
Failure guardCommand(const Supervision& supervision, const UniqueFd& children) {
  if (Failure failure = dieWith(getppid(), SIGKILL)) return failure;
  const pid_t self = getpid();
  const pid_t guard = fork();
  if (guard < 0) return failedNow("fork");
  if (guard == 0) becomeGuard(supervision, self);
  if (supervision.statusFd >= 0) close(supervision.statusFd);
  letGoOfStreams();
  End end;
  outlive(guard, guard, kNobody, children, &end);
  endAs(end.status);
}

}  // namespace

Failure supervise(const Supervision& supervision) {
  const bool guarded = supervision.guard == Guard::Separate;
  if (Failure failure = becomeReaper()) return failure;
  UniqueFd children;
  const Failure unlisted = openChildren(&children);
  // A PID namespace ends what cannot be listed.
  if (unlisted && guarded) return unlisted;
  if (Failure failure = blockSignals()) return failure;
  if (Failure failure = becomeUndumpable()) return failure;
  return guarded ? guardCommand(supervision, children) : reapCommand(supervision, kNobody, children);
}

}  // namespace dsh
