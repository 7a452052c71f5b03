// The processes below this one: collecting those that have ended, and ending the rest.
#ifndef DSH_CHILDREN_H
#define DSH_CHILDREN_H

#include <sys/types.h>

#include "failure.h"
#include "unique_fd.h"

namespace dsh {

// The list of this process's children, for endChildren. It is opened before there is a command, and read once for the
// kernel's buffer behind it: a command of the same user can take descriptors and memory away from here (prlimit(2)).
// Closed by exec, and never one of 0, 1 and 2. Step `list-children`: a kernel without that list, no /proc, or the /proc
// of another PID namespace.
Failure openChildren(UniqueFd* list);

enum class Collected { None, Watched, Other, Unknown };

// Collects one child that has ended. `watched` is seen and left uncollected, so that its number, and with it its
// group's, is nobody else's yet.
Collected collectOneBut(pid_t watched);

// Collects what has ended by now of the children, all but `watched`, as far as the list can be read.
void collectEnded(const UniqueFd& list, pid_t watched);

// Kills and collects children until none is left that can be killed, and returns how many it has collected that a KILL
// ended: its own, or one that came before. Where this process is a subreaper that covers
// everything below it, since what a killed child leaves becomes a child in turn. Without a list that can be read it
// tries every number there is, which takes about two seconds for each generation.
int endChildren(const UniqueFd& list);

}  // namespace dsh

#endif
