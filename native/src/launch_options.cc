#include "launch_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "stdio_grants.h"

namespace dsh {

const char kHelp[] =
    "landlock-run [OPTION]... -- PROGRAM [ARG]...   run PROGRAM confined\n"
    "landlock-run --probe                           print `landlock abi=N errata=M`\n"
    "landlock-run --try ACT SUBJECT [ACT SUBJECT]... try single acts and print `ACT ERRNO` for each\n"
    "landlock-run --help                            print this\n"
    "\n"
    "  --ro PATH                     execute and read beneath PATH\n"
    "  --rw PATH                     and write, except device nodes and device ioctls\n"
    "  --rw-pinned DEV:INO PATH      as --rw, if PATH is the directory with that device and inode\n"
    "  --dev PATH                    read, write and ioctl a device; skipped when it does not exist\n"
    "  --shm PATH                    make, use and remove plain files in PATH; skipped likewise\n"
    "  --no-landlock                 everything but the Landlock rules\n"
    "  --deny GROUP                  PROGRAM makes none of these system calls: limits-of-others,\n"
    "                                kernel-surface, device-nodes, metadata\n"
    "  --passive                     only close descriptors, then run PROGRAM\n"
    "  --ignore-signals              with --passive: PROGRAM ignores SIGTERM, SIGINT and SIGHUP\n"
    "  --private-mounts              with --passive: no later mount of the host reaches PROGRAM\n"
    "  --supervise                   stay as PROGRAM's parent: pass signals on, leave nobody behind\n"
    "  --guard                       with --supervise: nobody either when the launcher itself is killed\n"
    "  --setenv NAME=VALUE           set a variable in PROGRAM's environment\n"
    "  --status-fd N                 report `ready` or `failed STEP ERRNO PATH` on descriptor N,\n"
    "                                and supervised `left N`, if any, and `exited N` or `signaled N`\n"
    "                                at the end\n"
    "\n"
    "Exit status: PROGRAM's own; 127 not found, 126 not executable, 125 any other failure.\n";

namespace {

struct Number {
  unsigned long long value;
  const char* end;
  bool valid;
};

// Decimal digits only: strtoull alone would take spaces and signs.
Number readDecimal(const char* text) {
  if (*text < '0' || *text > '9') return {0, text, false};
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  return {value, end, errno == 0};
}

class Parser {
 public:
  Parser(int argc, char** argv, LaunchOptions* options) : argc_(argc), argv_(argv), options_(options) {}

  UsageError parse() {
    if (argc_ < 2) return {"PROGRAM is missing; see --help"};
    if (argc_ == 2 && strcmp(argv_[1], "--help") == 0) return choose(Action::Help);
    if (argc_ == 2 && strcmp(argv_[1], "--probe") == 0) return choose(Action::Probe);
    if (argc_ >= 2 && strcmp(argv_[1], "--try") == 0) return readActs();
    if (!allocate()) return {"out of memory"};
    for (const char* option = next(); option != nullptr; option = next()) {
      if (strcmp(option, "--") == 0) return readProgram();
      UsageError error = readOption(option);
      if (error.message != nullptr) return error;
    }
    return {"-- and PROGRAM are missing"};
  }

 private:
  UsageError choose(Action action) {
    options_->action = action;
    return {};
  }

  UsageError readActs() {
    options_->program = argv_ + 2;
    return argc_ % 2 == 0 && argc_ > 2 ? choose(Action::Try) : UsageError{"ACT SUBJECT expected after", argv_[1]};
  }

  // As many of each as there are arguments, so that argv is the only limit, and room for those of the streams.
  bool allocate() {
    const size_t room = static_cast<size_t>(argc_) + kMaxStdioGrants;
    options_->grants = static_cast<Grant*>(calloc(room, sizeof(Grant)));
    options_->variables = static_cast<char**>(calloc(room, sizeof(char*)));
    return options_->grants != nullptr && options_->variables != nullptr;
  }

  char* next() { return at_ < argc_ ? argv_[at_++] : nullptr; }

  UsageError readOption(const char* option) {
    if (strcmp(option, "--passive") == 0) return set(&options_->passive, true);
    if (strcmp(option, "--ignore-signals") == 0) return set(&options_->ignoreSignals, true);
    if (strcmp(option, "--private-mounts") == 0) return set(&options_->privateMounts, true);
    if (strcmp(option, "--no-landlock") == 0) return set(&options_->landlock, false);
    if (strcmp(option, "--supervise") == 0) return set(&options_->supervise, true);
    if (strcmp(option, "--guard") == 0) return set(&options_->guard, true);
    if (strcmp(option, "--ro") == 0) return readGrant(option, GrantKind::ReadOnly);
    if (strcmp(option, "--rw") == 0) return readGrant(option, GrantKind::ReadWrite);
    if (strcmp(option, "--dev") == 0) return readGrant(option, GrantKind::Device);
    if (strcmp(option, "--shm") == 0) return readGrant(option, GrantKind::SharedMemory);
    if (strcmp(option, "--rw-pinned") == 0) return readPinned(option);
    if (strcmp(option, "--deny") == 0) return readCallGroup(option);
    if (strcmp(option, "--setenv") == 0) return readVariable(option);
    if (strcmp(option, "--status-fd") == 0) return readStatusFd(option);
    return {"unknown option", option};
  }

  UsageError set(bool* flag, bool value) {
    *flag = value;
    return {};
  }

  UsageError readGrant(const char* option, GrantKind kind) { return addGrant(option, {kind, next(), 0, 0}); }

  UsageError readPinned(const char* option) {
    const char* pin = next();
    if (pin == nullptr) return {"a value is missing after", option};
    const Number device = readDecimal(pin);
    if (!device.valid || *device.end != ':') return {"DEV:INO expected, not", pin};
    const Number inode = readDecimal(device.end + 1);
    if (!inode.valid || *inode.end != '\0') return {"DEV:INO expected, not", pin};
    return addGrant(option, {GrantKind::PinnedReadWrite, next(), device.value, inode.value});
  }

  UsageError addGrant(const char* option, const Grant& grant) {
    if (grant.path == nullptr) return {"a value is missing after", option};
    options_->grants[options_->grantCount++] = grant;
    return {};
  }

  UsageError readCallGroup(const char* option) {
    const char* name = next();
    if (name == nullptr) return {"a value is missing after", option};
    const uint8_t group = callGroup(name);
    if (group == kNoCallGroup) return {"no group of calls is named", name};
    options_->deniedCalls = static_cast<uint8_t>(options_->deniedCalls | group);
    return {};
  }

  UsageError readVariable(const char* option) {
    char* variable = next();
    if (variable == nullptr) return {"a value is missing after", option};
    const char* equals = strchr(variable, '=');
    if (equals == nullptr || equals == variable) return {"NAME=VALUE expected, not", variable};
    options_->variables[options_->variableCount++] = variable;
    return {};
  }

  UsageError readStatusFd(const char* option) {
    const char* text = next();
    if (text == nullptr) return {"a value is missing after", option};
    if (options_->statusFd != kNoFd) return {"given twice:", option};
    const Number fd = readDecimal(text);
    if (!fd.valid || *fd.end != '\0' || fd.value < kFirstExtraFd || fd.value > INT_MAX) {
      return {"a descriptor of 3 or more expected, not", text};
    }
    options_->statusFd = static_cast<int>(fd.value);
    return {};
  }

  UsageError readProgram() {
    if (at_ >= argc_) return {"PROGRAM is missing after --"};
    options_->program = argv_ + at_;
    if (options_->guard && !options_->supervise) return {"--guard needs --supervise"};
    if (options_->supervise && options_->passive) return {"--passive has no process of its own to supervise from"};
    if (options_->ignoreSignals && !options_->passive) return {"--ignore-signals needs --passive"};
    if (options_->privateMounts && !options_->passive) return {"--private-mounts needs --passive"};
    // A restriction that was asked for and would not hold is a refusal.
    if (options_->passive && options_->grantCount > 0) return {"--passive confines nothing, so it takes no grants"};
    if (options_->passive && options_->deniedCalls != kNoCallGroup) {
      return {"--passive confines nothing, so it takes no --deny"};
    }
    return {};
  }

  const int argc_;
  char** const argv_;
  LaunchOptions* const options_;
  int at_ = 1;
};

}  // namespace

UsageError parseOptions(int argc, char** argv, LaunchOptions* options) { return Parser(argc, argv, options).parse(); }

}  // namespace dsh
