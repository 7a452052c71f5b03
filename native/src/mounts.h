// Mounts of PROGRAM's own, which no later mount of the host can reach.
#ifndef DSH_MOUNTS_H
#define DSH_MOUNTS_H

#include "failure.h"

namespace dsh {

// Enters a mount namespace whose mounts receive nothing from outside (mount_namespaces(7), "Shared subtrees"). Who may
// not do that enters a user namespace for it, with the same user and group and, once PROGRAM runs, no capability there.
// Steps `private-mounts`, `map-user`.
Failure enterPrivateMounts();

}  // namespace dsh

#endif
