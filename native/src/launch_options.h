// The launcher's command line as a value. Reads argv alone; borrows every string from it.
#ifndef DSH_LAUNCH_OPTIONS_H
#define DSH_LAUNCH_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "descriptors.h"
#include "landlock_core.h"
#include "seccomp_filter.h"

namespace dsh {

enum class Action { Run, Probe, Try, Help };

struct LaunchOptions {
  Action action = Action::Run;
  bool passive = false;
  bool ignoreSignals = false;
  bool privateMounts = false;
  bool landlock = true;
  bool supervise = false;
  bool guard = false;
  uint8_t deniedCalls = kNoCallGroup;  // the groups together
  int statusFd = kNoFd;
  Grant* grants = nullptr;  // allocated once for all of argv, and left to exec or exit
  size_t grantCount = 0;
  char** variables = nullptr;  // NAME=VALUE, in order; allocated likewise
  size_t variableCount = 0;
  char** program = nullptr;  // argv of PROGRAM, or the words of --try, ended by null
};

// A mistake in the command line; `message` is null when there is none.
struct UsageError {
  const char* message = nullptr;
  const char* argument = nullptr;
};

// On a mistake `options` holds what came before it, the status descriptor among it.
UsageError parseOptions(int argc, char** argv, LaunchOptions* options);

extern const char kHelp[];

}  // namespace dsh

#endif
