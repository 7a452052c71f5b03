// The Landlock system calls, one function each, with their failures as a step and an errno. No policy, no allocation.
#ifndef DSH_LANDLOCK_CALLS_H
#define DSH_LANDLOCK_CALLS_H

#include <stdint.h>

#include "failure.h"
#include "landlock_abi.h"
#include "unique_fd.h"

namespace dsh {

struct LandlockSupport {
  int abi;     // as the kernel reports it; it may be higher than any that is known here
  int errata;  // bit mask of fixed errata; 0 where the kernel cannot say
};

// Step `create-ruleset`: ENOSYS not built in, EOPNOTSUPP turned off at boot, EPERM barred by a container's filter.
Failure probeLandlock(LandlockSupport* support);

// Step `create-ruleset`. E2BIG and EINVAL for what the kernel does not know, ENOMSG for an attr that handles nothing.
Failure createRuleset(const RulesetAttr& attr, UniqueFd* ruleset);

// Step `add-rule`. EINVAL for rights that are not handled, or that a file cannot have; ENOMSG for none; EBADFD for what no
// rule can be about (a pipe). `path` is for the report only.
Failure addPathRule(const UniqueFd& ruleset, uint64_t rights, const UniqueFd& target, const char* path);

// Step `add-rule`. As above; EAFNOSUPPORT on a kernel without TCP/IP, EINVAL before ABI 4.
Failure addPortRule(const UniqueFd& ruleset, uint64_t rights, uint64_t port);

// Binds the calling thread and what it starts from now on. Step `restrict-self`: EPERM without no_new_privs (or
// CAP_SYS_ADMIN), EINVAL for flags the kernel does not know, E2BIG from the 17th layer on. EBADF for a ruleset that is
// not open, whatever the flags: the kernel itself takes -1 along with log_subdomains_off, and then binds nobody.
Failure enforceRuleset(const UniqueFd& ruleset, uint32_t flags);

}  // namespace dsh

#endif
