// The kernel's Landlock interface as this project uses it: numbers, structs, and which right came with which ABI.
//
// Declared here because distribution headers lag behind kernels (linux/landlock.h of 6.1 ends at ABI 2).
// Source: landlock(7), landlock_create_ruleset(2), Documentation/userspace-api/landlock.rst, include/uapi/linux/landlock.h.
#ifndef DSH_LANDLOCK_ABI_H
#define DSH_LANDLOCK_ABI_H

#include <stddef.h>
#include <stdint.h>

namespace dsh {

// The same on every architecture whose syscall table is the generic one for new calls (all but alpha).
constexpr long kSysCreateRuleset = 444;
constexpr long kSysAddRule = 445;
constexpr long kSysRestrictSelf = 446;

constexpr uint32_t kCreateRulesetVersion = 1u << 0;
constexpr uint32_t kCreateRulesetErrata = 1u << 1;  // 6.15, and stable kernels before it; EINVAL elsewhere
constexpr int kRulePathBeneath = 1;

// struct landlock_ruleset_attr. A kernel that knows fewer fields accepts the longer struct while the rest is zero.
struct RulesetAttr {
  uint64_t handledAccessFs;   // ABI 1
  uint64_t handledAccessNet;  // ABI 4; always zero here
  uint64_t scoped;            // ABI 6
};
static_assert(sizeof(RulesetAttr) == 24);
static_assert(offsetof(RulesetAttr, handledAccessNet) == 8);
static_assert(offsetof(RulesetAttr, scoped) == 16);

// struct landlock_path_beneath_attr.
struct __attribute__((packed)) PathBeneathAttr {
  uint64_t allowedAccess;
  int32_t parentFd;
};
static_assert(sizeof(PathBeneathAttr) == 12);
static_assert(offsetof(PathBeneathAttr, parentFd) == 8);

// ABI 6: abstract unix sockets and signals may not reach outside the domain.
constexpr int kScopedAbi = 6;
constexpr uint64_t kScopeAbstractUnixSocket = 1ull << 0;
constexpr uint64_t kScopeSignal = 1ull << 1;

// Which grants carry a right; see GrantKind.
constexpr uint8_t kNoGrant = 0;
constexpr uint8_t kReadGrant = 1u << 0;
constexpr uint8_t kWriteGrant = 1u << 1;
constexpr uint8_t kDeviceGrant = 1u << 2;
constexpr uint8_t kSharedMemoryGrant = 1u << 3;  // what shm_open(3), sem_open(3) and their unlinking use

// A rule on a file accepts only rights that mean something for a file; the others make it EINVAL.
enum class Target : uint8_t { AnyFile, DirectoryOnly };

struct AccessRight {
  uint64_t bit;
  const char* name;    // LANDLOCK_ACCESS_FS_*, in lower case
  int abi;             // the first ABI that handles it
  const char* kernel;  // the first release with that ABI
  Target target;
  uint8_t grants;
};

// Complete up to ABI 7 (6.15); ABI 4, 6 and 7 added no file right. A later kernel is used as if it ended there.
// Every right is handled, so each is denied where no grant carries it. Device nodes are never granted: a node made in a
// writable directory would reach a whole disk past every other rule.
constexpr AccessRight kAccessRights[] = {
    {1ull << 0, "execute", 1, "5.13", Target::AnyFile, kReadGrant | kWriteGrant},
    {1ull << 1, "write_file", 1, "5.13", Target::AnyFile, kWriteGrant | kDeviceGrant | kSharedMemoryGrant},
    {1ull << 2, "read_file", 1, "5.13", Target::AnyFile, kReadGrant | kWriteGrant | kDeviceGrant | kSharedMemoryGrant},
    {1ull << 3, "read_dir", 1, "5.13", Target::DirectoryOnly, kReadGrant | kWriteGrant},
    {1ull << 4, "remove_dir", 1, "5.13", Target::DirectoryOnly, kWriteGrant},
    {1ull << 5, "remove_file", 1, "5.13", Target::DirectoryOnly, kWriteGrant | kSharedMemoryGrant},
    {1ull << 6, "make_char", 1, "5.13", Target::DirectoryOnly, kNoGrant},
    {1ull << 7, "make_dir", 1, "5.13", Target::DirectoryOnly, kWriteGrant},
    {1ull << 8, "make_reg", 1, "5.13", Target::DirectoryOnly, kWriteGrant | kSharedMemoryGrant},
    {1ull << 9, "make_sock", 1, "5.13", Target::DirectoryOnly, kWriteGrant},
    {1ull << 10, "make_fifo", 1, "5.13", Target::DirectoryOnly, kWriteGrant},
    {1ull << 11, "make_block", 1, "5.13", Target::DirectoryOnly, kNoGrant},
    {1ull << 12, "make_sym", 1, "5.13", Target::DirectoryOnly, kWriteGrant},
    // Unhandled (ABI 1), linking and renaming across directories is denied everywhere.
    {1ull << 13, "refer", 2, "5.19", Target::DirectoryOnly, kWriteGrant},
    {1ull << 14, "truncate", 3, "6.2", Target::AnyFile, kWriteGrant | kDeviceGrant | kSharedMemoryGrant},
    {1ull << 15, "ioctl_dev", 5, "6.10", Target::AnyFile, kDeviceGrant},
};

}  // namespace dsh

#endif
