#include "landlock_calls.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace dsh {

Failure probeLandlock(LandlockSupport* support) {
  const long abi = syscall(kSysCreateRuleset, nullptr, 0, kCreateRulesetVersion);
  if (abi < 0) return failedNow("create-ruleset");
  if (abi < 1) return failedWith(EOPNOTSUPP, "create-ruleset");
  const long errata = syscall(kSysCreateRuleset, nullptr, 0, kCreateRulesetErrata);
  *support = {static_cast<int>(abi), errata < 0 ? 0 : static_cast<int>(errata)};
  return success();
}

Failure createRuleset(const RulesetAttr& attr, UniqueFd* ruleset) {
  UniqueFd created(static_cast<int>(syscall(kSysCreateRuleset, &attr, sizeof attr, 0)));
  if (!created.valid()) return failedNow("create-ruleset");
  *ruleset = static_cast<UniqueFd&&>(created);
  return success();
}

Failure addPathRule(const UniqueFd& ruleset, uint64_t rights, const UniqueFd& target, const char* path) {
  const PathBeneathAttr rule = {rights, target.get()};
  const long result = syscall(kSysAddRule, ruleset.get(), kRulePathBeneath, &rule, 0);
  return result == 0 ? success() : failedNow("add-rule", path);
}

Failure addPortRule(const UniqueFd& ruleset, uint64_t rights, uint64_t port) {
  const NetPortAttr rule = {rights, port};
  const long result = syscall(kSysAddRule, ruleset.get(), kRuleNetPort, &rule, 0);
  return result == 0 ? success() : failedNow("add-rule");
}

Failure enforceRuleset(const UniqueFd& ruleset, uint32_t flags) {
  if (!ruleset.valid()) return failedWith(EBADF, "restrict-self");
  return syscall(kSysRestrictSelf, ruleset.get(), flags) == 0 ? success() : failedNow("restrict-self");
}

}  // namespace dsh
