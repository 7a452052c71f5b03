#include "seccomp_filter.h"

#include <stddef.h>
#include <stdint.h>
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

constexpr uint16_t kLoadWord = 0x20;      // BPF_LD | BPF_W | BPF_ABS
constexpr uint16_t kJumpIfEqual = 0x15;   // BPF_JMP | BPF_JEQ | BPF_K
constexpr uint16_t kJumpIfAnyBit = 0x45;  // BPF_JMP | BPF_JSET | BPF_K
constexpr uint16_t kReturn = 0x06;        // BPF_RET | BPF_K

// How a kernel may be called. One kernel takes several ways: a program chooses with each call.
struct Calling {
  uint32_t architecture;  // AUDIT_ARCH_*
  uint32_t numberBase;    // added to every number
};
constexpr size_t kCallingCount = 5;
constexpr Calling kCallings[kCallingCount] = {
    {0xc000003e, 0},           // x86_64
    {0xc000003e, 0x40000000},  // x32: __X32_SYSCALL_BIT
    {0x40000003, 0},           // i386
    {0xc00000b7, 0},           // aarch64
    {0x40000028, 0},           // arm
};

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__arm__)
constexpr bool kListed = true;
// Halves of an argument are told apart by where they lie.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
#else
constexpr bool kListed = false;
#endif

enum class Is : uint8_t {
  Anything,
  NonZeroInt,  // of which the kernel reads the low half alone
  NonNull,     // a pointer
};

struct Condition {
  uint8_t argument;
  Is is;
};

// A call that fails with `error` when both conditions hold.
struct Rule {
  uint32_t numbers[kCallingCount];  // in the order of kCallings
  Condition when[2];
  uint8_t error;
};

// Other calls that act on a process by number either ask whether it may be traced or signaled, which Landlock's scopes
// answer, or take a thread of the caller's own by the same argument (setpriority(2), sched_setaffinity(2),
// ioprio_set(2)).
// Source of numbers: arch/x86/entry/syscalls/syscall_{64,32}.tbl, include/uapi/asm-generic/unistd.h,
// arch/arm/tools/syscall.tbl.
constexpr Rule kOwnLimits[] = {
    // prlimit64(pid, resource, new_limit, old_limit)
    {{302, 302, 340, 261, 369}, {{0, Is::NonZeroInt}, {2, Is::NonNull}}, EPERM},
};

constexpr size_t kLongestRule = 13;
constexpr size_t kRuleCount = sizeof kOwnLimits / sizeof kOwnLimits[0];
constexpr size_t kLongestProgram = kCallingCount * (kRuleCount * kLongestRule + 2) + 2;

// A program under construction: each rule in turn for each way of calling; what does not match goes on behind it.
class Builder {
 public:
  void addRule(const Rule& rule) {
    for (size_t i = 0; i < kCallingCount; i++) addRuleFor(kCallings[i], rule.numbers[i], rule);
  }

  // A call that has matched no rule works if it was made in a known way.
  Program finish() {
    load(offsetof(CallData, architecture));
    for (const Calling& calling : kCallings) {
      put({kJumpIfEqual, 0, 1, calling.architecture});
      put({kReturn, 0, 0, kReturnAllow});
    }
    put({kReturn, 0, 0, kReturnErrno | ENOSYS});
    return {static_cast<unsigned short>(length_), code_};
  }

 private:
  void addRuleFor(const Calling& calling, uint32_t number, const Rule& rule) {
    const size_t start = length_;
    load(offsetof(CallData, architecture));
    require(kJumpIfEqual, calling.architecture);
    load(offsetof(CallData, number));
    require(kJumpIfEqual, calling.numberBase + number);
    for (const Condition& condition : rule.when) addCondition(condition);
    put({kReturn, 0, 0, kReturnErrno | rule.error});
    leaveFrom(start);
  }

  void addCondition(const Condition& condition) {
    const size_t low = offsetof(CallData, arguments) + condition.argument * sizeof(uint64_t);
    if (condition.is == Is::Anything) return;
    load(low);
    if (condition.is == Is::NonNull) {
      put({kJumpIfAnyBit, 2, 0, UINT32_MAX});
      load(low + sizeof(uint32_t));
    }
    require(kJumpIfAnyBit, UINT32_MAX);
  }

  void load(size_t offset) { put({kLoadWord, 0, 0, static_cast<uint32_t>(offset)}); }

  // Goes on when true; else out of the rule, whose end is not known yet.
  void require(uint16_t jump, uint32_t operand) { put({jump, 0, kOutOfRule, operand}); }

  void leaveFrom(size_t start) {
    for (size_t i = start; i < length_; i++) {
      if (code_[i].ifFalse == kOutOfRule) code_[i].ifFalse = static_cast<uint8_t>(length_ - i - 1);
    }
  }

  void put(const Instruction& instruction) { code_[length_++] = instruction; }

  static constexpr uint8_t kOutOfRule = UINT8_MAX;
  Instruction code_[kLongestProgram];
  size_t length_ = 0;
};

}  // namespace

Failure keepToOwnLimits() {
  if (!kListed) return failedWith(EOPNOTSUPP, "seccomp");
  Builder builder;
  for (const Rule& rule : kOwnLimits) builder.addRule(rule);
  const Program program = builder.finish();
  const bool installed = syscall(SYS_seccomp, kSetModeFilter, kFlagSpecAllow, &program) == 0;
  return installed ? success() : failedNow("seccomp");
}

}  // namespace dsh
