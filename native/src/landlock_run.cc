// landlock-run: parse, restrict, exec; with --supervise in a child that this process answers for. One thread, no policy
// of its own, no environment input but PATH.
// Fails closed: PROGRAM never starts after a step that did not work.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acts.h"
#include "descriptors.h"
#include "failure.h"
#include "landlock_core.h"
#include "launch_options.h"
#include "mounts.h"
#include "privileges.h"
#include "report.h"
#include "seccomp_filter.h"
#include "signals.h"
#include "stdio_grants.h"
#include "streams.h"
#include "supervise.h"

namespace dsh {
namespace {

constexpr int kExitFailure = 125;
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;

Failure setVariable(char* variable) {
  char* name = strndup(variable, static_cast<size_t>(strchr(variable, '=') - variable));
  if (name == nullptr) return failedNow("setenv", variable);
  // An environment may hold a name twice, and programs differ in which one they read: every old one goes.
  const bool set = unsetenv(name) == 0 && putenv(variable) == 0;
  free(name);
  return set ? success() : failedNow("setenv", variable);
}

Failure setEnvironment(const LaunchOptions& options) {
  for (size_t i = 0; i < options.variableCount; i++) {
    if (Failure failure = setVariable(options.variables[i])) return failure;
  }
  return success();
}

// Under --passive the descriptor belongs to the runner that comes next.
Failure settleStatusFd(const LaunchOptions& options) {
  if (options.statusFd == kNoFd) return success();
  return options.passive ? keepOnExec(options.statusFd) : closeOnExec(options.statusFd);
}

// Landlock goes by where a file lies, through whichever mount; without it the mount that a file was opened in counts.
Failure settleStreams(const LaunchOptions& options) {
  if (Failure failure = refuseDoors()) return failure;
  return options.passive || options.landlock ? success() : reopenReadOnlyFiles();
}

Failure settleDescriptors(const LaunchOptions& options) {
  if (Failure failure = closeDescriptorsExcept(options.statusFd)) return failure;
  if (Failure failure = settleStatusFd(options)) return failure;
  return settleStreams(options);
}

Failure checkPins(const Grants& grants) {
  for (size_t i = 0; i < grants.count; i++) {
    UniqueFd opened;
    if (grants.items[i].kind != GrantKind::PinnedReadWrite) continue;
    if (Failure failure = openGrant(grants.items[i], &opened)) return failure;
  }
  return success();
}

Failure applyLandlock(const LaunchOptions& options) {
  if (!options.landlock) return checkPins({options.grants, options.grantCount});
  // The parser leaves room for these behind its own.
  const size_t streams = stdioGrants(options.grants + options.grantCount);
  const Grants grants = {options.grants, options.grantCount + streams};
  LandlockSupport support;
  if (Failure failure = probeLandlock(&support)) return failure;
  return restrictSelf(support, grants);
}

Failure confine(const LaunchOptions& options) {
  if (options.passive) return success();
  if (Failure failure = dropPrivileges()) return failure;
  if (Failure failure = applyLandlock(options)) return failure;
  return denyCalls(options.deniedCalls);
}

Failure prepare(const LaunchOptions& options) {
  if (Failure failure = setEnvironment(options)) return failure;
  if (Failure failure = settleDescriptors(options)) return failure;
  if (options.privateMounts) {
    if (Failure failure = enterPrivateMounts()) return failure;
  }
  return resetSignals(options.ignoreSignals ? StopSignals::Ignored : StopSignals::Default);
}

// Returns only when PROGRAM could not be started.
Failure execute(const LaunchOptions& options) {
  if (options.statusFd != kNoFd && !options.passive) {
    if (Failure failure = reportReady(options.statusFd)) return failure;
  }
  execvp(options.program[0], options.program);
  return failedNow("exec", options.program[0]);
}

void tell(const LaunchOptions& options, const Failure& failure) {
  if (options.statusFd != kNoFd) reportFailure(options.statusFd, failure);
  printFailure(failure);
}

// Only a launcher that confines can tell its caller's command from its own failure by 126 and 127; a passive one has
// another runner behind it, whose absence is the caller's failure.
int execExitStatus(const LaunchOptions& options, const Failure& failure) {
  if (options.passive || strcmp(failure.step, "exec") != 0) return kExitFailure;
  return failure.error == ENOENT ? kExitNotFound : kExitNotExecutable;
}

// Returns only when PROGRAM could not be started, with the exit status that says so.
int become(const LaunchOptions& options) {
  Failure failure = confine(options);
  if (!failure) failure = execute(options);
  tell(options, failure);
  return execExitStatus(options, failure);
}

int becomeSupervised(const void* options) { return become(*static_cast<const LaunchOptions*>(options)); }

int run(const LaunchOptions& options) {
  Failure failure = prepare(options);
  if (!failure && !options.supervise) return become(options);
  if (!failure) {
    const Guard guard = options.guard ? Guard::Separate : Guard::None;
    failure = supervise({guard, options.statusFd, becomeSupervised, &options});
  }
  tell(options, failure);
  return kExitFailure;
}

int probe() {
  LandlockSupport support;
  if (Failure failure = probeLandlock(&support)) {
    printFailure(failure);
    return kExitFailure;
  }
  const bool written = printf("landlock abi=%d errata=%d\n", support.abi, support.errata) > 0 && fflush(stdout) == 0;
  return written ? EXIT_SUCCESS : kExitFailure;
}

int tryWords(char** words) {
  if (tryActs(words) == Tried::Done) return EXIT_SUCCESS;
  printUsage("unknown act among those after", "--try");
  return kExitFailure;
}

int help() { return fputs(kHelp, stdout) >= 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : kExitFailure; }

int refuse(const LaunchOptions& options, const UsageError& error) {
  // A reader of the descriptor learns of it as well, when the descriptor was named before the mistake.
  if (options.statusFd != kNoFd) reportFailure(options.statusFd, failedWith(EINVAL, "usage"));
  printUsage(error.message, error.argument);
  return kExitFailure;
}

}  // namespace
}  // namespace dsh

int main(int argc, char** argv) {
  dsh::LaunchOptions options;
  const dsh::UsageError error = dsh::parseOptions(argc, argv, &options);
  if (error.message != nullptr) return dsh::refuse(options, error);
  switch (options.action) {
    case dsh::Action::Help:
      return dsh::help();
    case dsh::Action::Probe:
      return dsh::probe();
    case dsh::Action::Try:
      return dsh::tryWords(options.program);
    case dsh::Action::Run:
      return dsh::run(options);
  }
  return dsh::kExitFailure;
}
