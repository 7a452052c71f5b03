// The processes below this one: collecting those that have ended, and ending the rest.
#ifndef DSH_CHILDREN_H
#define DSH_CHILDREN_H

#include <sys/types.h>

#include "failure.h"

namespace dsh {

// Fails where this process cannot be told which children it has: a kernel without that list, no /proc, or the /proc of
// another PID namespace. Step `list-children`.
Failure checkChildrenListed();

enum class Collected { None, Watched, Other };

// Collects one child that has ended. `watched` is seen and left uncollected, so that its number, and with it its
// group's, is nobody else's yet.
Collected collectOneBut(pid_t watched);

// Kills and collects children until none is left that can be killed. Where this process is a subreaper that covers
// everything below it, since what a killed child leaves becomes a child in turn. Does nothing where they are not listed.
void endChildren();

}  // namespace dsh

#endif
