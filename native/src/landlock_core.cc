#include "landlock_core.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "landlock_abi.h"

namespace dsh {
namespace {

uint64_t handledRights(int abi) {
  uint64_t rights = 0;
  for (const AccessRight& right : kAccessRights) {
    if (right.abi <= abi) rights |= right.bit;
  }
  return rights;
}

uint64_t handledScopes(int abi) { return abi >= kScopedAbi ? kScopeAbstractUnixSocket | kScopeSignal : 0; }

uint8_t grantBit(GrantKind kind) {
  switch (kind) {
    case GrantKind::ReadOnly:
      return kReadGrant;
    case GrantKind::ReadWrite:
    case GrantKind::PinnedReadWrite:
      return kWriteGrant;
    case GrantKind::Device:
    case GrantKind::Stream:
      return kDeviceGrant;
    case GrantKind::SharedMemory:
      return kSharedMemoryGrant;
  }
  return kNoGrant;
}

uint64_t grantedRights(int abi, GrantKind kind, bool directory) {
  uint64_t rights = 0;
  for (const AccessRight& right : kAccessRights) {
    const bool applies = directory || right.target == Target::AnyFile;
    if (right.abi <= abi && applies && (right.grants & grantBit(kind)) != 0) rights |= right.bit;
  }
  return rights;
}

bool mayBeMissing(GrantKind kind) {
  return kind == GrantKind::Device || kind == GrantKind::SharedMemory || kind == GrantKind::Stream;
}

Failure openPinned(const Grant& grant, UniqueFd* opened) {
  UniqueFd fd(open(grant.path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat found;
  if (!fd.valid() || fstat(fd.get(), &found) != 0) return failedNow("pin", grant.path);
  if (S_ISLNK(found.st_mode)) return failedWith(ELOOP, "pin", grant.path);
  if (!S_ISDIR(found.st_mode)) return failedWith(ENOTDIR, "pin", grant.path);
  if (found.st_dev != grant.device || found.st_ino != grant.inode) return failedWith(ESTALE, "pin", grant.path);
  *opened = static_cast<UniqueFd&&>(fd);
  return success();
}

Failure addGrant(int ruleset, int abi, const Grant& grant) {
  UniqueFd target;
  if (Failure failure = openGrant(grant, &target)) return failure;
  if (!target.valid()) return success();
  struct stat found;
  if (fstat(target.get(), &found) != 0) return failedNow("open-grant", grant.path);
  const PathBeneathAttr rule = {grantedRights(abi, grant.kind, S_ISDIR(found.st_mode)), target.get()};
  if (syscall(kSysAddRule, ruleset, kRulePathBeneath, &rule, 0) == 0) return success();
  // EBADFD: a pipe, which no rule can be about and none has to be (landlock_add_rule(2)).
  return grant.kind == GrantKind::Stream && errno == EBADFD ? success() : failedNow("add-rule", grant.path);
}

}  // namespace

Failure probeLandlock(LandlockSupport* support) {
  const long abi = syscall(kSysCreateRuleset, nullptr, 0, kCreateRulesetVersion);
  if (abi < 0) return failedNow("create-ruleset");
  if (abi < 1) return failedWith(EOPNOTSUPP, "create-ruleset");
  const long errata = syscall(kSysCreateRuleset, nullptr, 0, kCreateRulesetErrata);
  *support = {static_cast<int>(abi), errata < 0 ? 0 : static_cast<int>(errata)};
  return success();
}

Failure openGrant(const Grant& grant, UniqueFd* opened) {
  if (grant.kind == GrantKind::PinnedReadWrite) return openPinned(grant, opened);
  UniqueFd fd(open(grant.path, O_PATH | O_CLOEXEC));
  if (!fd.valid()) {
    return mayBeMissing(grant.kind) && errno == ENOENT ? success() : failedNow("open-grant", grant.path);
  }
  *opened = static_cast<UniqueFd&&>(fd);
  return success();
}

Failure restrictSelf(const LandlockSupport& support, const Grants& grants) {
  const RulesetAttr attr = {handledRights(support.abi), 0, handledScopes(support.abi)};
  UniqueFd ruleset(static_cast<int>(syscall(kSysCreateRuleset, &attr, sizeof attr, 0)));
  if (!ruleset.valid()) return failedNow("create-ruleset");
  for (size_t i = 0; i < grants.count; i++) {
    if (Failure failure = addGrant(ruleset.get(), support.abi, grants.items[i])) return failure;
  }
  if (syscall(kSysRestrictSelf, ruleset.get(), 0) != 0) return failedNow("restrict-self");
  return success();
}

}  // namespace dsh
