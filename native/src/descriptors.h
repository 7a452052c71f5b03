// Which descriptors PROGRAM inherits: 0, 1, 2 and at most one more.
#ifndef DSH_DESCRIPTORS_H
#define DSH_DESCRIPTORS_H

#include "failure.h"

namespace dsh {

constexpr int kFirstExtraFd = 3;
constexpr int kNoFd = -1;

// Closes every descriptor from kFirstExtraFd up except `kept` (kNoFd: none is kept). Step `close-descriptors`.
Failure closeDescriptorsExcept(int kept);

// Step `status-fd`, EBADF when it is not open.
Failure closeOnExec(int fd);
Failure keepOnExec(int fd);

}  // namespace dsh

#endif
