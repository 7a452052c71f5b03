// Ending the processes below this one.
#ifndef DSH_CHILDREN_H
#define DSH_CHILDREN_H

#include <sys/types.h>

namespace dsh {

// Kills and collects children until none is left. Where this process is a subreaper that covers everything below it,
// since what a killed child leaves becomes a child in turn. On a kernel that does not list children only `group` is
// killed.
void endChildren(pid_t group);

}  // namespace dsh

#endif
