// Test only: runs a command on a kernel that seems older, or that refuses certain calls. Needs no privilege; everything
// that the command starts inherits the rules.
//
//   fault-run RULE VALUE [RULE VALUE]... -- COMMAND [ARG]...
//     --landlock-abi N       Landlock answers as ABI N and refuses what came later; above the real one
//                            only the number is new
//     --landlock-errno E     the three Landlock calls fail with E
//     --no-userns E          a new user namespace fails with E (clone3 with ENOSYS)
//     --no-newns E           any new namespace fails with E (clone3 with ENOSYS)
//     --no-syscall NR=E      one call, by number, fails with E
//     --open-suffix TEXT=E   open or openat of a path that ends in TEXT fails with E
//
// A filter alone answers most rules. For a version and for paths the calls are handed to this process, which is the
// command's parent: under Yama only an ancestor may read the command's memory. It passes stop signals on, ends once no
// filtered process is left, and exits as the command did (128 + N for signal N); 125 when it cannot do its work.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, ASK_ERRATA = 2 };
enum { EXIT_BROKEN = 125, MAX_INSTRUCTIONS = 512, RULESET_FIELDS = 16 };

static const uint32_t NAMESPACE_FLAGS = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                                        CLONE_NEWUTS | CLONE_NEWCGROUP;

// What each ABI accepts. Source: landlock(7), and linux/landlock.h of 7.3 for what came after 7.
static const struct {
  int fs_rights;   // lowest bits of handled_access_fs
  int fields;      // 8-byte fields of the ruleset's struct
  int net_rights;  // lowest bits of handled_access_net
  int self_flags;  // lowest bits of the flags of landlock_restrict_self
  int rule_flags;  // lowest bits of the flags of landlock_add_rule
} ABI_FACTS[] = {
    {0, 0, 0, 0, 0},  {13, 1, 0, 0, 0}, {14, 1, 0, 0, 0}, {15, 1, 0, 0, 0}, {15, 2, 2, 0, 0}, {16, 2, 2, 0, 0},
    {16, 3, 2, 0, 0}, {16, 3, 2, 3, 0}, {16, 3, 2, 4, 0}, {17, 3, 2, 4, 0}, {17, 6, 4, 4, 1}, {17, 6, 4, 5, 1},
};
enum { HIGHEST_ABI = sizeof ABI_FACTS / sizeof ABI_FACTS[0] - 1 };

static struct {
  struct sock_filter code[MAX_INSTRUCTIONS];
  unsigned short length;
  int asks_supervisor;
} filter;

static int simulated_abi;  // as reported
static int rules_abi;      // as enforced: the highest listed one for higher numbers
static const char* open_suffix;
static int open_errno;
static pid_t command;

static void die(const char* what) {
  fprintf(stderr, "fault-run: %s: %s\n", what, strerror(errno));
  exit(EXIT_BROKEN);
}

static void refuse(const char* what, const char* value) {
  fprintf(stderr, "fault-run: %s %s\n", what, value);
  exit(EXIT_BROKEN);
}

// ---- the filter

static void emit(uint16_t code, uint32_t operand, uint8_t if_true, uint8_t if_false) {
  if (filter.length == MAX_INSTRUCTIONS) refuse("too many rules", "");
  filter.code[filter.length++] = (struct sock_filter){code, if_true, if_false, operand};
}

static void emit_load(size_t offset) { emit(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }
static void emit_return(uint32_t action) { emit(BPF_RET | BPF_K, action, 0, 0); }
static uint32_t failing(int error) { return SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA); }

static void on_call(long number, uint32_t action) {
  emit_load(offsetof(struct seccomp_data, nr));
  emit(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
  emit_return(action);
}

// `flags` are looked for in the low half of the first argument.
static void on_call_with_flags(long number, uint32_t flags, uint32_t action) {
  emit_load(offsetof(struct seccomp_data, nr));
  emit(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3);
  emit_load(offsetof(struct seccomp_data, args[0]));
  emit(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1);
  emit_return(action);
}

static void on_landlock(uint32_t action) {
  for (long number = CREATE_RULESET; number <= RESTRICT_SELF; number++) on_call(number, action);
}

static void on_namespaces(uint32_t flags, int error) {
  on_call_with_flags(SYS_clone, flags, failing(error));
  on_call_with_flags(SYS_unshare, flags, failing(error));
  on_call(SYS_clone3, failing(ENOSYS));  // its flags lie in memory; callers fall back to clone
}

// ---- the rules

static int read_number(const char* text) {
  char* end = NULL;
  const long number = strtol(text, &end, 10);
  if (end == text || *end != '\0' || number < 0 || number > 4095) refuse("not a number:", text);
  return (int)number;
}

// The text after the last `=`; cuts the value there.
static const char* cut_at_equals(char* value) {
  char* equals = strrchr(value, '=');
  if (equals == NULL) refuse("`=` is missing in", value);
  *equals = '\0';
  return equals + 1;
}

static void rule_landlock_abi(char* value) {
  simulated_abi = read_number(value);
  if (simulated_abi < 1) refuse("no such ABI:", value);
  rules_abi = simulated_abi < HIGHEST_ABI ? simulated_abi : HIGHEST_ABI;
  filter.asks_supervisor = 1;
  on_landlock(SECCOMP_RET_USER_NOTIF);
}

static void rule_landlock_errno(char* value) { on_landlock(failing(read_number(value))); }
static void rule_no_userns(char* value) { on_namespaces(CLONE_NEWUSER, read_number(value)); }
static void rule_no_newns(char* value) { on_namespaces(NAMESPACE_FLAGS, read_number(value)); }

static void rule_no_syscall(char* value) {
  const int error = read_number(cut_at_equals(value));
  on_call(read_number(value), failing(error));
}

static void rule_open_suffix(char* value) {
  open_errno = read_number(cut_at_equals(value));
  open_suffix = value;
  filter.asks_supervisor = 1;
  on_call(SYS_openat, SECCOMP_RET_USER_NOTIF);
#ifdef SYS_open
  on_call(SYS_open, SECCOMP_RET_USER_NOTIF);  // what musl uses where the kernel has it
#endif
}

static const struct {
  const char* name;
  void (*apply)(char* value);
} RULES[] = {
    {"--landlock-abi", rule_landlock_abi}, {"--landlock-errno", rule_landlock_errno},
    {"--no-userns", rule_no_userns},       {"--no-newns", rule_no_newns},
    {"--no-syscall", rule_no_syscall},     {"--open-suffix", rule_open_suffix},
};

static void apply_rule(const char* name, char* value) {
  for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
    if (strcmp(name, RULES[i].name) == 0) {
      RULES[i].apply(value);
      return;
    }
  }
  refuse("no such rule:", name);
}

// Returns the command's argv.
static char** read_rules(char** argv) {
  char** at = argv + 1;
  while (*at != NULL && strcmp(*at, "--") != 0) {
    if (at[1] == NULL) refuse("a value is missing after", *at);
    apply_rule(at[0], at[1]);
    at += 2;
  }
  if (*at == NULL || at[1] == NULL || filter.length == 0) refuse("usage:", "RULE VALUE... -- COMMAND [ARG]...");
  emit_return(SECCOMP_RET_ALLOW);
  return at + 1;
}

// The listener, or 0 when no supervisor is needed.
static int install_filter(void) {
  const struct sock_fprog program = {filter.length, filter.code};
  const unsigned flags = filter.asks_supervisor ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("no_new_privs");
  const long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (result < 0) die("seccomp");
  return (int)result;
}

// ---- the answers: a negative errno, a positive result, or 0 to let the kernel answer

static int64_t answer_create(pid_t pid, const __u64* args) {
  const uint32_t flags = (uint32_t)args[2];
  if (flags == ASK_VERSION) return args[0] != 0 || args[1] != 0 ? -EINVAL : simulated_abi;
  if (flags == ASK_ERRATA) return 0;
  if (flags != 0) return -EINVAL;
  uint64_t attr[RULESET_FIELDS] = {0};
  const size_t length = args[1] < sizeof attr ? (size_t)args[1] : sizeof attr;
  const struct iovec here = {attr, length};
  const struct iovec there = {(void*)(uintptr_t)args[0], length};
  if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)length) return -EFAULT;
  for (int i = ABI_FACTS[rules_abi].fields; i < RULESET_FIELDS; i++) {
    if (attr[i] != 0) return -E2BIG;
  }
  const int unknown_right = attr[0] >> ABI_FACTS[rules_abi].fs_rights != 0;
  const int unknown_net = attr[1] >> ABI_FACTS[rules_abi].net_rights != 0;
  return unknown_right || unknown_net || attr[2] >> 2 != 0 ? -EINVAL : 0;
}

static int64_t answer_open(pid_t pid, __u64 name) {
  char path[4097] = {0};
  size_t length = 0;
  // Byte ranges that end at a page, since the path may be the last thing that is mapped.
  while (length < 4096 && memchr(path, '\0', length) == NULL) {
    const uintptr_t address = (uintptr_t)name + length;
    size_t step = 4096 - address % 4096;
    if (step > 4096 - length) step = 4096 - length;
    const struct iovec here = {path + length, step};
    const struct iovec there = {(void*)address, step};
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)step) return 0;
    length += step;
  }
  const size_t path_length = strlen(path);
  const size_t suffix_length = strlen(open_suffix);
  if (path_length < suffix_length) return 0;
  return strcmp(path + path_length - suffix_length, open_suffix) == 0 ? -open_errno : 0;
}

static int64_t answer(const struct seccomp_notif* request) {
  const __u64* args = request->data.args;
  const pid_t pid = (pid_t)request->pid;
  switch (request->data.nr) {
    case CREATE_RULESET:
      return answer_create(pid, args);
    case ADD_RULE:
      if ((uint32_t)args[3] >> ABI_FACTS[rules_abi].rule_flags != 0) return -EINVAL;
      return (uint32_t)args[1] > (rules_abi < 4 ? 1u : 2u) ? -EINVAL : 0;
    case RESTRICT_SELF:
      return (uint32_t)args[1] >> ABI_FACTS[rules_abi].self_flags != 0 ? -EINVAL : 0;
    case SYS_openat:
      return answer_open(pid, args[1]);
#ifdef SYS_open
    case SYS_open:
      return answer_open(pid, args[0]);
#endif
    default:
      return 0;
  }
}

static void serve_one(int listener) {
  struct seccomp_notif request;
  memset(&request, 0, sizeof request);
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;  // the caller died meanwhile
  const int64_t value = answer(&request);
  struct seccomp_notif_resp response = {.id = request.id};
  if (value > 0) response.val = value;
  if (value < 0) response.error = (int)value;
  if (value == 0) response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void serve(int listener) {
  for (;;) {
    struct pollfd ready = {listener, POLLIN, 0};
    if (poll(&ready, 1, -1) < 0) {
      if (errno == EINTR) continue;
      die("poll");
    }
    if (ready.revents & POLLIN) serve_one(listener);
    if (ready.revents & POLLHUP) return;
  }
}

// ---- the command and its supervisor

union fd_message {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

static void send_fd(int socket, int fd) {
  union fd_message control = {.bytes = {0}};
  char byte = 0;
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  control.header = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
  if (sendmsg(socket, &message, 0) != 1) die("sendmsg");
}

static int receive_fd(int socket) {
  union fd_message control = {.bytes = {0}};
  char byte = 0;
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || control.header.cmsg_len != CMSG_LEN(sizeof(int))) return -1;
  int fd = -1;
  memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
  return fd;
}

static void become(char** argv) {
  execvp(argv[0], argv);
  die(argv[0]);
}

static void pass_on(int signal_number) {
  if (command > 0) kill(command, signal_number);
}

static int exit_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

static int supervise(char** argv) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) die("socketpair");
  command = fork();
  if (command < 0) die("fork");
  if (command == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int listener = install_filter();
    send_fd(sockets[1], listener);
    close(listener);
    become(argv);
  }
  close(sockets[1]);
  const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
  for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) signal(passed_on[i], pass_on);
  const int listener = receive_fd(sockets[0]);
  if (listener >= 0) serve(listener);
  int status = 0;
  while (waitpid(command, &status, 0) < 0) {
    if (errno != EINTR) die("waitpid");
  }
  return listener < 0 ? EXIT_BROKEN : exit_status(status);
}

int main(int argc, char** argv) {
  (void)argc;
  char** command_argv = read_rules(argv);
  if (filter.asks_supervisor) return supervise(command_argv);
  install_filter();
  become(command_argv);
}
