// The launcher as the command's parent and reaper: signals for the launcher go to the command's own group, nothing the
// command started outlives it, and its end is passed on as it was.
#ifndef DSH_SUPERVISE_H
#define DSH_SUPERVISE_H

#include "failure.h"

namespace dsh {

enum class Guard {
  // Something else ends what is left when the launcher is killed: a PID namespace.
  None,
  // A second process in a group of its own does. It is the reaper then, and outlives the launcher by as long as that
  // takes. A session of its own would cost milliseconds: the scheduler makes a group per session (sched(7), autogroup).
  Separate,
};

// What runs in the command's process. Returns an exit status when it could not become the command.
using CommandBody = int (*)(const void* context);

struct Supervision {
  Guard guard = Guard::None;
  // Gets `left N`, where any had to be ended, and `exited N` or `signaled N` once a command that ran has ended; -1: nobody
  // is told.
  int statusFd = -1;
  CommandBody body = nullptr;
  const void* context = nullptr;
};

// Does not return once the command's process exists: this process ends as the command did. Before that, a step that
// does not work is returned and nothing has run. Steps `subreaper`, `block-signals`, `dumpable`, `share`, `fork`; with a
// guard `list-children` and `death-signal`.
Failure supervise(const Supervision& supervision);

}  // namespace dsh

#endif
