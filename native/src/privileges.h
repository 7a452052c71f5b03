// Which privileges PROGRAM keeps: none that it could gain by exec, and of root's only those that a file in a granted
// directory may need.
#ifndef DSH_PRIVILEGES_H
#define DSH_PRIVILEGES_H

#include "failure.h"

namespace dsh {

// Steps `no-new-privs`, `ambient-capabilities`, `bounding-set`, `capabilities`.
Failure dropPrivileges();

}  // namespace dsh

#endif
