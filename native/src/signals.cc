#include "signals.h"

#include <signal.h>
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
  sigset_t none;
  sigemptyset(&none);
  return sigprocmask(SIG_SETMASK, &none, nullptr) == 0 ? success() : failedNow("reset-signals");
}

}  // namespace dsh
