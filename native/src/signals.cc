#include "signals.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dsh {
namespace {

constexpr size_t kKernelSigsetBytes = 8;
constexpr int kLastSignal = 64;
constexpr int kStopSignals[] = {SIGTERM, SIGINT, SIGHUP};

// By syscall, since the C library keeps two signals to itself and refuses to touch them; they are inherited too.
bool restoreDefault(int signal) {
  // All zero is SIG_DFL with no flags and an empty mask in every architecture's kernel struct, which is shorter.
  const char action[128] = {};
  return syscall(SYS_rt_sigaction, signal, action, nullptr, kKernelSigsetBytes) == 0;
}

// By syscall for the same reason. Bit N - 1 stands for signal N.
bool changeMask(int how, uint64_t signals) {
  static_assert(sizeof signals == kKernelSigsetBytes);
  return syscall(SYS_rt_sigprocmask, how, &signals, nullptr, kKernelSigsetBytes) == 0;
}

}  // namespace

Failure resetSignals(StopSignals stopSignals) {
  for (int number = 1; number <= kLastSignal; number++) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    if (!restoreDefault(number)) return failedNow("reset-signals");
  }
  if (stopSignals == StopSignals::Ignored) {
    for (const int number : kStopSignals) {
      if (signal(number, SIG_IGN) == SIG_ERR) return failedNow("reset-signals");
    }
  }
  // Last, since a pending signal is delivered here.
  return changeMask(SIG_SETMASK, 0) ? success() : failedNow("reset-signals");
}

Failure blockSignals() { return changeMask(SIG_SETMASK, ~uint64_t{0}) ? success() : failedNow("block-signals"); }

void endBySignal(int number) {
  restoreDefault(number);
  kill(getpid(), number);
  changeMask(SIG_UNBLOCK, uint64_t{1} << (number - 1));
}

}  // namespace dsh
