// The kernel's Landlock interface: numbers, structs, and what came with which ABI. The launcher and the Node binding
// both go by these tables.
//
// Declared here because distribution headers lag behind kernels (linux/landlock.h of 6.1 ends at ABI 2).
// Source of every bit, field and flag: include/uapi/linux/landlock.h of Linux 7.3; of the ABI that brought it: that
// header and Documentation/userspace-api/landlock.rst, "Previous limitations"; see also landlock(7).
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
constexpr int kRuleNetPort = 2;  // ABI 4

// struct landlock_ruleset_attr. A kernel that knows fewer fields accepts the longer struct while the rest is zero.
struct RulesetAttr {
  uint64_t handledAccessFs;   // ABI 1
  uint64_t handledAccessNet;  // ABI 4
  uint64_t scoped;            // ABI 6
  uint64_t quietAccessFs;     // ABI 10, like the two below: what is not logged. Always zero here
  uint64_t quietAccessNet;
  uint64_t quietScoped;
};
static_assert(sizeof(RulesetAttr) == 48);
static_assert(offsetof(RulesetAttr, handledAccessFs) == 0);
static_assert(offsetof(RulesetAttr, handledAccessNet) == 8);
static_assert(offsetof(RulesetAttr, scoped) == 16);
static_assert(offsetof(RulesetAttr, quietAccessFs) == 24);
static_assert(offsetof(RulesetAttr, quietAccessNet) == 32);
static_assert(offsetof(RulesetAttr, quietScoped) == 40);

// struct landlock_path_beneath_attr.
struct __attribute__((packed)) PathBeneathAttr {
  uint64_t allowedAccess;
  int32_t parentFd;
};
static_assert(sizeof(PathBeneathAttr) == 12);
static_assert(offsetof(PathBeneathAttr, parentFd) == 8);

// struct landlock_net_port_attr. ABI 4.
struct NetPortAttr {
  uint64_t allowedAccess;
  uint64_t port;  // host byte order; EINVAL above 65535
};
static_assert(sizeof(NetPortAttr) == 16);
static_assert(offsetof(NetPortAttr, port) == 8);

// The first release with an ABI. No release has to have every number: a kernel reports the highest it has.
struct AbiRelease {
  int abi;
  const char* kernel;
};

// Sources: landlock(7), "VERSIONS", for 1 to 7. Seen: Debian's kernels 7.0.13, 7.1.13, 7.2.12 and 7.3.4 report 8 to 11.
constexpr AbiRelease kAbiReleases[] = {
    {1, "5.13"}, {2, "5.19"}, {3, "6.2"}, {4, "6.7"}, {5, "6.10"}, {6, "6.12"},
    {7, "6.15"}, {8, "7.0"},  {9, "7.1"}, {10, "7.2"}, {11, "7.3"},
};

// What the launcher does with a file right: which of its grants carry it (see GrantKind), or that it leaves it alone.
constexpr uint8_t kNoGrant = 0;
constexpr uint8_t kReadGrant = 1u << 0;
constexpr uint8_t kWriteGrant = 1u << 1;
constexpr uint8_t kDeviceGrant = 1u << 2;
constexpr uint8_t kSharedMemoryGrant = 1u << 3;  // what shm_open(3), sem_open(3) and their unlinking use
constexpr uint8_t kLeftAlone = 1u << 7;  // not handled, so allowed everywhere

// A rule on a file accepts only rights that mean something for a file; the others make it EINVAL.
enum class Target : uint8_t { AnyFile, DirectoryOnly };

struct AccessRight {
  uint64_t bit;
  const char* name;  // LANDLOCK_ACCESS_FS_*, in lower case
  int abi;           // the first ABI that handles it
  Target target;
  uint8_t launcher;
};

// Complete up to ABI 11; 4, 6 to 8, 10 and 11 added no file right. A later kernel is used as if it ended there.
// The launcher denies what it handles wherever no grant carries it. Device nodes are never granted: a node made in a
// writable directory would reach a whole disk past every other rule.
constexpr AccessRight kAccessRights[] = {
    {1ull << 0, "execute", 1, Target::AnyFile, kReadGrant | kWriteGrant},
    {1ull << 1, "write_file", 1, Target::AnyFile, kWriteGrant | kDeviceGrant | kSharedMemoryGrant},
    {1ull << 2, "read_file", 1, Target::AnyFile, kReadGrant | kWriteGrant | kDeviceGrant | kSharedMemoryGrant},
    {1ull << 3, "read_dir", 1, Target::DirectoryOnly, kReadGrant | kWriteGrant},
    {1ull << 4, "remove_dir", 1, Target::DirectoryOnly, kWriteGrant},
    {1ull << 5, "remove_file", 1, Target::DirectoryOnly, kWriteGrant | kSharedMemoryGrant},
    {1ull << 6, "make_char", 1, Target::DirectoryOnly, kNoGrant},
    {1ull << 7, "make_dir", 1, Target::DirectoryOnly, kWriteGrant},
    {1ull << 8, "make_reg", 1, Target::DirectoryOnly, kWriteGrant | kSharedMemoryGrant},
    {1ull << 9, "make_sock", 1, Target::DirectoryOnly, kWriteGrant},
    {1ull << 10, "make_fifo", 1, Target::DirectoryOnly, kWriteGrant},
    {1ull << 11, "make_block", 1, Target::DirectoryOnly, kNoGrant},
    {1ull << 12, "make_sym", 1, Target::DirectoryOnly, kWriteGrant},
    // Unhandled (ABI 1), linking and renaming across directories is denied everywhere.
    {1ull << 13, "refer", 2, Target::DirectoryOnly, kWriteGrant},
    {1ull << 14, "truncate", 3, Target::AnyFile, kWriteGrant | kDeviceGrant | kSharedMemoryGrant},
    {1ull << 15, "ioctl_dev", 5, Target::AnyFile, kDeviceGrant},
    // Reaching a socket by its path. The launcher's grants speak of reading and changing files. Which services a command
    // may talk to is another question, which nobody has asked it: handled, D-Bus, a local database or docker.sock would
    // stop answering in a read-only command with the next kernel, and answer again under --rw of their directory.
    {1ull << 16, "resolve_unix", 9, Target::AnyFile, kLeftAlone},
};

// Bits that mean one thing each: network rights, scopes, flags.
struct NamedBit {
  uint64_t bit;
  const char* name;
  int abi;
};

// LANDLOCK_ACCESS_NET_*. The launcher handles none: networks are left as they are.
constexpr NamedBit kNetRights[] = {
    {1ull << 0, "bind_tcp", 4},
    {1ull << 1, "connect_tcp", 4},
    {1ull << 2, "bind_udp", 10},
    {1ull << 3, "connect_send_udp", 10},
};

// LANDLOCK_SCOPE_*: what may not reach outside the domain. The launcher sets all of them.
constexpr NamedBit kScopes[] = {
    {1ull << 0, "abstract_unix_socket", 6},
    {1ull << 1, "signal", 6},
};

// LANDLOCK_RESTRICT_SELF_*. The launcher sets none: it has one thread, sets no_new_privs beforehand, and leaves logs as
// they are by default.
constexpr NamedBit kRestrictSelfFlags[] = {
    {1ull << 0, "log_same_exec_off", 7},
    {1ull << 1, "log_new_exec_on", 7},
    {1ull << 2, "log_subdomains_off", 7},
    {1ull << 3, "tsync", 8},
    {1ull << 4, "no_new_privs", 11},
};

// LANDLOCK_ADD_RULE_*. Set by nobody here.
constexpr NamedBit kAddRuleFlags[] = {
    {1ull << 0, "quiet", 10},
};

}  // namespace dsh

#endif
