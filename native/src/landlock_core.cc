#include "landlock_core.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "landlock_abi.h"

namespace dsh {
namespace {

constexpr uint64_t handledRights(int abi) {
  uint64_t rights = 0;
  for (const AccessRight& right : kAccessRights) {
    if (right.abi <= abi && right.launcher != kLeftAlone) rights |= right.bit;
  }
  return rights;
}

// What a command may do must not change with the kernel unless somebody decides so: a row that is added to the table
// fails here until its fate under the launcher is written down.
static_assert(handledRights(1) == 0x1fff);
static_assert(handledRights(2) == 0x3fff);
static_assert(handledRights(3) == 0x7fff && handledRights(4) == 0x7fff);
static_assert(handledRights(5) == 0xffff && handledRights(7) == 0xffff && handledRights(99) == 0xffff);

constexpr uint64_t handledScopes(int abi) {
  uint64_t scopes = 0;
  for (const NamedBit& scope : kScopes) {
    if (scope.abi <= abi) scopes |= scope.bit;
  }
  return scopes;
}
static_assert(handledScopes(5) == 0 && handledScopes(6) == 3 && handledScopes(99) == 3);

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
    if (right.abi <= abi && applies && (right.launcher & grantBit(kind)) != 0) rights |= right.bit;
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

Failure addGrant(const UniqueFd& ruleset, int abi, const Grant& grant) {
  UniqueFd target;
  if (Failure failure = openGrant(grant, &target)) return failure;
  if (!target.valid()) return success();
  struct stat found;
  if (fstat(target.get(), &found) != 0) return failedNow("open-grant", grant.path);
  const uint64_t rights = grantedRights(abi, grant.kind, S_ISDIR(found.st_mode));
  const Failure failure = addPathRule(ruleset, rights, target, grant.path);
  // EBADFD: a pipe, which no rule can be about and none has to be (landlock_add_rule(2)).
  return grant.kind == GrantKind::Stream && failure.error == EBADFD ? success() : failure;
}

}  // namespace

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
  const RulesetAttr attr = {handledRights(support.abi), 0, handledScopes(support.abi), 0, 0, 0};
  UniqueFd ruleset;
  if (Failure failure = createRuleset(attr, &ruleset)) return failure;
  for (size_t i = 0; i < grants.count; i++) {
    if (Failure failure = addGrant(ruleset, support.abi, grants.items[i])) return failure;
  }
  return enforceRuleset(ruleset, 0);
}

}  // namespace dsh
