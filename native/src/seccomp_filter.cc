#include "seccomp_filter.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dsh {
namespace {

// The kernel's interface as it is used here. Declared here, as Landlock's is.
// Source: seccomp(2), include/uapi/linux/{seccomp,filter,bpf_common,audit}.h.

constexpr unsigned kSetModeFilter = 1;
// Before 5.16 a filter turns on mitigations that slow the whole program down. They are for programs that run foreign
// code within themselves, which is not what this filter is about. Linux 4.17.
constexpr unsigned kFlagSpecAllow = 1u << 2;

constexpr uint32_t kReturnAllow = 0x7fff0000;
constexpr uint32_t kReturnErrno = 0x00050000;

// struct seccomp_data.
struct CallData {
  int32_t number;
  uint32_t architecture;
  uint64_t instructionPointer;
  uint64_t arguments[6];
};
static_assert(sizeof(CallData) == 64);
static_assert(offsetof(CallData, architecture) == 4);
static_assert(offsetof(CallData, arguments) == 16);

// struct sock_filter.
struct Instruction {
  uint16_t code;
  uint8_t ifTrue;
  uint8_t ifFalse;
  uint32_t operand;
};
static_assert(sizeof(Instruction) == 8);

// struct sock_fprog.
struct Program {
  unsigned short length;
  const Instruction* code;
};
static_assert(offsetof(Program, code) == sizeof(void*));

constexpr uint16_t kLoadWord = 0x20;       // BPF_LD | BPF_W | BPF_ABS
constexpr uint16_t kAnd = 0x54;            // BPF_ALU | BPF_AND | BPF_K
constexpr uint16_t kJump = 0x05;           // BPF_JMP | BPF_JA, by 32 bits; other jumps have 8
constexpr uint16_t kJumpIfEqual = 0x15;    // BPF_JMP | BPF_JEQ | BPF_K
constexpr uint16_t kJumpIfAtLeast = 0x35;  // BPF_JMP | BPF_JGE | BPF_K
constexpr uint16_t kJumpIfAnyBit = 0x45;   // BPF_JMP | BPF_JSET | BPF_K
constexpr uint16_t kReturn = 0x06;         // BPF_RET | BPF_K

// How a kernel may be called. One kernel takes several ways: a program chooses with each call.
constexpr size_t kCallingCount = 4;
constexpr uint32_t kCallings[kCallingCount] = {
    // AUDIT_ARCH_*
    0xc000003e,  // x86_64, and x32, which is the same numbers with a bit set, but for those from 512 on
    0x40000003,  // i386
    0xc00000b7,  // aarch64
    0x40000028,  // arm
};
constexpr size_t kX86_64 = 0;
// __X32_SYSCALL_BIT. It is put aside: kernels before 5.4 took the numbers of either with and without it.
constexpr uint32_t kX32Bit = 0x40000000;

// Those of this machine: no kernel takes the calls of another.
#if defined(__x86_64__) || defined(__i386__)
constexpr size_t kOwnCallings[] = {0, 1};
#else
constexpr size_t kOwnCallings[] = {2, 3};
#endif

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__arm__)
constexpr bool kListed = true;
// Halves of an argument are told apart by where they lie.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
#else
constexpr bool kListed = false;
#endif

constexpr uint8_t kLimits = 1u << 0;
constexpr uint8_t kSurface = 1u << 1;
constexpr uint8_t kMetadata = 1u << 2;
constexpr uint8_t kNodes = 1u << 3;

struct GroupName {
  const char* name;
  uint8_t group;
};
constexpr GroupName kGroupNames[] = {
    {"limits-of-others", kLimits},
    {"kernel-surface", kSurface},
    {"metadata", kMetadata},
    {"device-nodes", kNodes},
};

// The call has no number there.
constexpr uint16_t kNone = UINT16_MAX;

enum class When : uint8_t {
  Always,
  OthersLimits,  // of prlimit64: the process is not named as 0, and there is a new limit
  MakesNode,     // of mknod: the mode is that of a device
  MakesNodeAt,   // the same of mknodat
  LeavesNode,    // of renameat2: RENAME_WHITEOUT
};

// A call that fails with `error` when one of `groups` is denied.
struct Call {
  uint8_t groups;
  uint8_t error;
  uint16_t numbers[kCallingCount];  // in the order of kCallings
  When when = When::Always;
};

// Other calls that act on a process by number either ask whether it may be traced or signaled, which Landlock's scopes
// answer, or take a thread of the caller's own by the same argument (setpriority(2), sched_setaffinity(2),
// ioprio_set(2)).
//
// kernel-surface fails with EPERM: what the kernel itself says where it keeps these from ordinary users
// (kernel.unprivileged_bpf_disabled, vm.unprivileged_userfaultfd, kernel.io_uring_disabled), and what container runtimes
// have said for years, so that programs have their other way ready. metadata fails with EACCES, as what Landlock denies.
//
// A ring does setxattr and much else without a call that a filter sees, so metadata denies rings too; one that a process
// outside made and handed on (SCM_RIGHTS) is as good, hence not its making alone.
//
// Source of numbers: arch/x86/entry/syscalls/syscall_{64,32}.tbl, include/uapi/asm-generic/unistd.h,
// arch/arm/tools/syscall.tbl; Linux 6.18.
constexpr Call kCalls[] = {
    // prlimit64(pid, resource, new_limit, old_limit)
    {kLimits, EPERM, {302, 340, 261, 369}, When::OthersLimits},  // prlimit64

    // Landlock takes a whiteout, the device that needs no capability, for a plain file on kernels from August 2026 on.
    {kNodes, EPERM, {133, 14, kNone, 14}, When::MakesNode},       // mknod
    {kNodes, EPERM, {259, 297, 33, 324}, When::MakesNodeAt},      // mknodat
    {kNodes, EPERM, {316, 353, 276, 382}, When::LeavesNode},      // renameat2

    {kSurface, EPERM, {248, 286, 217, 309}},              // add_key
    {kSurface, EPERM, {249, 287, 218, 310}},              // request_key
    {kSurface, EPERM, {250, 288, 219, 311}},              // keyctl
    {kSurface, EPERM, {298, 336, 241, 364}},              // perf_event_open
    {kSurface, EPERM, {321, 357, 280, 386}},              // bpf
    {kSurface, EPERM, {323, 374, 282, 388}},              // userfaultfd
    {kSurface | kMetadata, EPERM, {425, 425, 425, 425}},  // io_uring_setup
    {kSurface | kMetadata, EPERM, {426, 426, 426, 426}},  // io_uring_enter
    {kSurface | kMetadata, EPERM, {427, 427, 427, 427}},  // io_uring_register

    // A queue is removed without Landlock being asked, and made before it is: it then fails, and the queue is there.
    {kSurface, EPERM, {240, 277, 180, 274}},  // mq_open
    {kSurface, EPERM, {241, 278, 181, 275}},  // mq_unlink
    // Landlock denies mount(2), and is not asked when a file system is made in the newer way: in a user namespace, an
    // overlay empties and makes directories that no rule opens, before anything is mounted. Seen: Linux 6.18.
    {kSurface, EPERM, {428, 428, 428, 428}},  // open_tree
    {kSurface, EPERM, {429, 429, 429, 429}},  // move_mount
    {kSurface, EPERM, {430, 430, 430, 430}},  // fsopen
    {kSurface, EPERM, {431, 431, 431, 431}},  // fsconfig
    {kSurface, EPERM, {432, 432, 432, 432}},  // fsmount
    {kSurface, EPERM, {433, 433, 433, 433}},  // fspick
    {kSurface, EPERM, {442, 442, 442, 442}},  // mount_setattr
    {kSurface, EPERM, {467, 467, 467, 467}},  // open_tree_attr

    {kMetadata, EACCES, {90, 15, kNone, 15}},             // chmod
    {kMetadata, EACCES, {91, 94, 52, 94}},                // fchmod
    {kMetadata, EACCES, {268, 306, 53, 333}},             // fchmodat
    {kMetadata, EACCES, {452, 452, 452, 452}},            // fchmodat2
    {kMetadata, EACCES, {92, 182, kNone, 182}},           // chown
    {kMetadata, EACCES, {93, 95, 55, 95}},                // fchown
    {kMetadata, EACCES, {94, 16, kNone, 16}},             // lchown
    {kMetadata, EACCES, {260, 298, 54, 325}},             // fchownat
    {kMetadata, EACCES, {kNone, 212, kNone, 212}},        // chown32
    {kMetadata, EACCES, {kNone, 207, kNone, 207}},        // fchown32
    {kMetadata, EACCES, {kNone, 198, kNone, 198}},        // lchown32
    {kMetadata, EACCES, {132, 30, kNone, 30}},            // utime
    {kMetadata, EACCES, {235, 271, kNone, 269}},          // utimes
    {kMetadata, EACCES, {261, 299, kNone, 326}},          // futimesat
    {kMetadata, EACCES, {280, 320, 88, 348}},             // utimensat
    {kMetadata, EACCES, {kNone, 412, kNone, 412}},        // utimensat_time64
    {kMetadata, EACCES, {188, 226, 5, 226}},              // setxattr
    {kMetadata, EACCES, {189, 227, 6, 227}},              // lsetxattr
    {kMetadata, EACCES, {190, 228, 7, 228}},              // fsetxattr
    {kMetadata, EACCES, {463, 463, 463, 463}},            // setxattrat
    {kMetadata, EACCES, {197, 235, 14, 235}},             // removexattr
    {kMetadata, EACCES, {198, 236, 15, 236}},             // lremovexattr
    {kMetadata, EACCES, {199, 237, 16, 237}},             // fremovexattr
    {kMetadata, EACCES, {466, 466, 466, 466}},            // removexattrat
    {kMetadata, EACCES, {469, 469, 469, 469}},            // file_setattr
};

constexpr uint32_t kRenameWhiteout = 1u << 2;  // rename(2)

// A request of ioctl that fails likewise. The kernel reads its low 32 bits alone.
struct Request {
  uint8_t groups;
  uint8_t error;
  uint32_t number;
};

constexpr uint16_t kIoctl[][kCallingCount] = {
    {16, 54, 29, 54},
    {514, kNone, kNone, kNone},  // x32
};

// Those with a `long` have a number each for 64 and for 32 bits; either kind of program may use either.
// Source: include/uapi/linux/{fs,fsverity,fscrypt,msdos_fs,btrfs,userfaultfd}.h, include/uapi/asm-generic/ioctls.h,
// fs/ext4/ext4.h.
constexpr Request kRequests[] = {
    {kSurface, EPERM, 0x5412},      // TIOCSTI: types into a terminal, as its user
    {kSurface, EPERM, 0x541c},      // TIOCLINUX: pastes into a console
    {kSurface, EPERM, 0xaa00},      // USERFAULTFD_IOC_NEW: userfaultfd by /dev/userfaultfd
    // These make and remove directories on btrfs, and Landlock is not asked. Seen: Linux 6.18.
    {kSurface, EPERM, 0x50009401},  // BTRFS_IOC_SNAP_CREATE
    {kSurface, EPERM, 0x50009417},  // BTRFS_IOC_SNAP_CREATE_V2
    {kSurface, EPERM, 0x5000940e},  // BTRFS_IOC_SUBVOL_CREATE
    {kSurface, EPERM, 0x50009418},  // BTRFS_IOC_SUBVOL_CREATE_V2
    {kSurface, EPERM, 0x5000940f},  // BTRFS_IOC_SNAP_DESTROY
    {kSurface, EPERM, 0x5000943f},  // BTRFS_IOC_SNAP_DESTROY_V2
    {kMetadata, EACCES, 0xc0c89425},  // BTRFS_IOC_SET_RECEIVED_SUBVOL
    {kMetadata, EACCES, 0xc0c09425},  // BTRFS_IOC_SET_RECEIVED_SUBVOL_32
    {kMetadata, EACCES, 0x40086602},  // FS_IOC_SETFLAGS
    {kMetadata, EACCES, 0x40046602},  // FS_IOC32_SETFLAGS
    {kMetadata, EACCES, 0x40087602},  // FS_IOC_SETVERSION
    {kMetadata, EACCES, 0x40047602},  // FS_IOC32_SETVERSION
    {kMetadata, EACCES, 0x6609},      // EXT4_IOC_MIGRATE: sets a flag
    {kMetadata, EACCES, 0x40086604},  // EXT4_IOC_SETVERSION
    {kMetadata, EACCES, 0x40046604},  // EXT4_IOC32_SETVERSION
    {kMetadata, EACCES, 0x401c5820},  // FS_IOC_FSSETXATTR
    {kMetadata, EACCES, 0x40806685},  // FS_IOC_ENABLE_VERITY
    {kMetadata, EACCES, 0x800c6613},  // FS_IOC_SET_ENCRYPTION_POLICY
    {kMetadata, EACCES, 0x40047211},  // FAT_IOCTL_SET_ATTRIBUTES
    {kMetadata, EACCES, 0x4008941a},  // BTRFS_IOC_SUBVOL_SETFLAGS
};

template <typename T, size_t N>
constexpr size_t count(const T (&)[N]) {
  return N;
}

// Where a search ends: at an errno to return, 0 to allow, or at a look at the arguments.
enum class Then : uint8_t { Return, LookAtLimits, LookAtNode, LookAtNodeAt, LookAtRename, LookAtRequest };

struct Target {
  Then then;
  uint8_t error;
};

struct Entry {
  uint16_t number;
  Target target;
};

// What a calling denies, by number.
class Entries {
 public:
  void add(uint16_t number, const Target& target) {
    if (number == kNone) return;
    size_t at = count_++;
    for (; at > 0 && items_[at - 1].number > number; at--) items_[at] = items_[at - 1];
    items_[at] = {number, target};
  }

  const Entry& operator[](size_t at) const { return items_[at]; }
  size_t size() const { return count_; }

 private:
  Entry items_[count(kCalls) + count(kIoctl)];
  size_t count_ = 0;
};

Then lookFor(When when) {
  switch (when) {
    case When::Always:
      return Then::Return;
    case When::OthersLimits:
      return Then::LookAtLimits;
    case When::MakesNode:
      return Then::LookAtNode;
    case When::MakesNodeAt:
      return Then::LookAtNodeAt;
    case When::LeavesNode:
      return Then::LookAtRename;
  }
  return Then::Return;
}

Entries entriesFor(size_t calling, uint8_t groups) {
  Entries entries;
  for (const Call& call : kCalls) {
    if ((call.groups & groups) != 0) entries.add(call.numbers[calling], {lookFor(call.when), call.error});
  }
  bool anyRequest = false;
  for (const Request& request : kRequests) anyRequest = anyRequest || (request.groups & groups) != 0;
  if (!anyRequest) return entries;
  for (const auto& numbers : kIoctl) entries.add(numbers[calling], {Then::LookAtRequest, 0});
  return entries;
}

// Entries that are compared one by one, below which halving saves nothing.
constexpr size_t kShortSearch = 3;

// A program: by architecture first, then halving the numbers that are denied there. A call that is not denied is decided
// by architecture and number alone, so that kernels from 5.11 on remember it and run no filter for it.
// Within what belongs to an architecture every jump goes forward and fits 8 bits; if one did not, there is no program.
class Builder {
 public:
  explicit Builder(uint8_t groups) : groups_(groups) {}

  Program build() {
    load(offsetof(CallData, architecture));
    for (const size_t calling : kOwnCallings) addCalling(calling);
    put({kReturn, 0, 0, kReturnErrno | ENOSYS});
    return {static_cast<unsigned short>(length_), code_};
  }

  bool fits() const { return fits_; }

 private:
  void addCalling(size_t calling) {
    put({kJumpIfEqual, 1, 0, kCallings[calling]});
    const size_t over = put({kJump, 0, 0, 0});
    load(offsetof(CallData, number));
    if (calling == kX86_64) put({kAnd, 0, 0, ~kX32Bit});
    const Entries entries = entriesFor(calling, groups_);
    addSearch(entries, 0, entries.size());
    code_[over].operand = static_cast<uint32_t>(length_ - over - 1);
  }

  void addSearch(const Entries& entries, size_t from, size_t to) {
    if (to - from <= kShortSearch) return addShortSearch(entries, from, to);
    const size_t middle = from + (to - from) / 2;
    const size_t turn = put({kJumpIfAtLeast, 0, 0, entries[middle].number});
    addSearch(entries, from, middle);
    code_[turn].ifTrue = distance(turn);
    addSearch(entries, middle, to);
  }

  void addShortSearch(const Entries& entries, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
      const size_t other = put({kJumpIfEqual, 0, 0, entries[i].number});
      addTarget(entries[i].target);
      code_[other].ifFalse = distance(other);
    }
    allow();
  }

  void addTarget(const Target& target) {
    switch (target.then) {
      case Then::Return:
        return deny(target.error);
      case Then::LookAtLimits:
        return addLimits(target.error);
      case Then::LookAtNode:
        return addNode(1, target.error);
      case Then::LookAtNodeAt:
        return addNode(2, target.error);
      case Then::LookAtRename:
        return addRename(target.error);
      case Then::LookAtRequest:
        return addRequests();
    }
  }

  // prlimit64: the kernel reads the low half of the process's number, and all of the pointer to a new limit.
  void addLimits(uint8_t error) {
    load(argument(0));
    put({kJumpIfAnyBit, 1, 0, UINT32_MAX});
    allow();
    load(argument(2));
    put({kJumpIfAnyBit, 3, 0, UINT32_MAX});
    load(argument(2) + sizeof(uint32_t));
    put({kJumpIfAnyBit, 1, 0, UINT32_MAX});
    allow();
    deny(error);
  }

  // The kernel reads the low 16 bits of a mode.
  void addNode(size_t mode, uint8_t error) {
    load(argument(mode));
    put({kAnd, 0, 0, S_IFMT});
    put({kJumpIfEqual, 2, 0, S_IFCHR});
    put({kJumpIfEqual, 1, 0, S_IFBLK});
    allow();
    deny(error);
  }

  void addRename(uint8_t error) {
    load(argument(4));
    put({kJumpIfAnyBit, 1, 0, kRenameWhiteout});
    allow();
    deny(error);
  }

  void addRequests() {
    load(argument(1));
    for (const Request& request : kRequests) {
      if ((request.groups & groups_) == 0) continue;
      put({kJumpIfEqual, 0, 1, request.number});
      deny(request.error);
    }
    allow();
  }

  // Where the low half lies.
  static size_t argument(size_t index) { return offsetof(CallData, arguments) + index * sizeof(uint64_t); }

  void load(size_t offset) { put({kLoadWord, 0, 0, static_cast<uint32_t>(offset)}); }
  void allow() { put({kReturn, 0, 0, kReturnAllow}); }
  void deny(uint8_t error) { put({kReturn, 0, 0, kReturnErrno | error}); }

  // From a jump to what comes next.
  uint8_t distance(size_t jump) {
    const size_t distance = length_ - jump - 1;
    fits_ = fits_ && distance <= UINT8_MAX;
    return static_cast<uint8_t>(distance);
  }

  size_t put(const Instruction& instruction) {
    fits_ = fits_ && length_ < count(code_);
    if (fits_) code_[length_++] = instruction;
    return fits_ ? length_ - 1 : 0;
  }

  const uint8_t groups_;
  bool fits_ = true;
  Instruction code_[1024];
  size_t length_ = 0;
};

}  // namespace

uint8_t callGroup(const char* name) {
  for (const GroupName& known : kGroupNames) {
    if (strcmp(known.name, name) == 0) return known.group;
  }
  return kNoCallGroup;
}

Failure denyCalls(uint8_t groups) {
  if (groups == kNoCallGroup) return success();
  if (!kListed) return failedWith(EOPNOTSUPP, "seccomp");
  Builder builder(groups);
  const Program program = builder.build();
  if (!builder.fits()) return failedWith(EOVERFLOW, "seccomp");
  const bool installed = syscall(SYS_seccomp, kSetModeFilter, kFlagSpecAllow, &program) == 0;
  return installed ? success() : failedNow("seccomp");
}

}  // namespace dsh
