#include "acts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "unique_fd.h"

namespace dsh {
namespace {

// As a subject, or before one: an act on something of one's own, which is made first.
constexpr char kOwn = '+';

int errnoUnless(bool worked) { return worked ? 0 : errno; }

int tryOpen(const char* path, int flags) { return errnoUnless(UniqueFd(open(path, flags | O_CLOEXEC, 0600)).valid()); }

int writeFile(const char* path) {
  const UniqueFd fd(open(path, O_WRONLY | O_APPEND | O_CLOEXEC));
  return errnoUnless(fd.valid() && write(fd.get(), "x", 1) == 1);
}

int createFile(const char* path) { return tryOpen(path, O_CREAT | O_EXCL | O_WRONLY); }
int createDirectory(const char* path) { return errnoUnless(mkdir(path, 0700) == 0); }
int createLink(const char* path) { return errnoUnless(symlink("nowhere", path) == 0); }
// To a second name beside the first.
int linkFile(const char* path) {
  char beside[4096];
  const int length = snprintf(beside, sizeof beside, "%s.linked", path);
  if (length < 0 || static_cast<size_t>(length) >= sizeof beside) return ENAMETOOLONG;
  return errnoUnless(link(path, beside) == 0);
}

int removeFile(const char* path) { return errnoUnless(unlink(path) == 0); }
int removeDirectory(const char* path) { return errnoUnless(rmdir(path) == 0); }

// To a name beside the old one.
int renameFile(const char* path) {
  char beside[4096];
  const int length = snprintf(beside, sizeof beside, "%s.renamed", path);
  if (length < 0 || static_cast<size_t>(length) >= sizeof beside) return ENAMETOOLONG;
  return errnoUnless(rename(path, beside) == 0);
}

// Two ways that need no descriptor open for writing, which the right to write would answer.
int truncatePath(const char* path) { return errnoUnless(truncate(path, 0) == 0); }
int truncateOpening(const char* path) { return tryOpen(path, O_RDONLY | O_TRUNC); }

int changeMode(const char* path) { return errnoUnless(chmod(path, 0711) == 0); }

int changeTimes(const char* path) {
  const timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
  return errnoUnless(utimensat(AT_FDCWD, path, times, 0) == 0);
}

// To whom it belongs already: nobody needs a capability for that, and no confinement is asked less for it.
int changeOwner(const char* path) { return errnoUnless(chown(path, geteuid(), getegid()) == 0); }

int setAttribute(const char* path) { return errnoUnless(setxattr(path, "user.dsh", "x", 1, 0) == 0); }

int makeFifo(const char* path) { return errnoUnless(mkfifo(path, 0600) == 0); }

// The address of a path, or of an abstract name, which begins with a NUL byte (unix(7)).
struct UnixAddress {
  sockaddr_un value = {};
  socklen_t length = 0;
};

enum class Name { Path, Abstract };

// An address holds 107 bytes and a path many more, so the directory is entered and the rest is named from there.
const char* enterDirectoryOf(const char* path) {
  const char* slash = strrchr(path, '/');
  if (slash == nullptr || slash == path) return path;
  char directory[4096];
  const int length = snprintf(directory, sizeof directory, "%.*s", static_cast<int>(slash - path), path);
  const bool entered = length > 0 && static_cast<size_t>(length) < sizeof directory && chdir(directory) == 0;
  return entered ? slash + 1 : path;
}

bool readAddress(const char* name, Name kind, UnixAddress* address) {
  if (kind == Name::Path) name = enterDirectoryOf(name);
  // A path is ended by a NUL byte, an abstract name by the length.
  const size_t length = strlen(name) + 1;
  if (length > sizeof address->value.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  address->value.sun_family = AF_UNIX;
  memcpy(address->value.sun_path + (kind == Name::Abstract ? 1 : 0), name, length - 1);
  address->length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  return true;
}

const sockaddr* general(const UnixAddress& address) { return reinterpret_cast<const sockaddr*>(&address.value); }

UniqueFd bindSocket(int type, const sockaddr* address, socklen_t length) {
  UniqueFd fd(socket(address->sa_family, type | SOCK_CLOEXEC, 0));
  if (fd.valid() && bind(fd.get(), address, length) != 0) return UniqueFd();
  return fd;
}

// The device that overlays take for "not there"; the one that needs no capability (mknod(2), Linux 5.8).
int makeWhiteout(const char* path) { return errnoUnless(mknod(path, S_IFCHR | 0600, 0) == 0); }

int makeSocket(const char* path) {
  UnixAddress address;
  if (!readAddress(path, Name::Path, &address)) return errno;
  return errnoUnless(bindSocket(SOCK_STREAM, general(address), address.length).valid());
}

// A request that no driver knows. What the driver says to it is not what is asked here: only EACCES and EPERM are ours.
int controlDevice(const char* path) {
  constexpr unsigned long kUnknownRequest = 0x6473;
  const UniqueFd fd(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) return errno;
  const bool barred = ioctl(fd.get(), kUnknownRequest, 0) != 0 && (errno == EACCES || errno == EPERM);
  return barred ? errno : 0;
}

pid_t startSleeper() {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  for (;;) pause();
}

void endSleeper(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, __WALL);
}

// Runs `act` on the process with that number, or on a child of its own.
int onProcess(const char* subject, int (*act)(pid_t)) {
  if (*subject != kOwn) return act(static_cast<pid_t>(strtol(subject, nullptr, 10)));
  const pid_t own = startSleeper();
  if (own < 0) return errno;
  const int error = act(own);
  endSleeper(own);
  return error;
}

int terminate(pid_t pid) { return errnoUnless(kill(pid, SIGTERM) == 0); }

// Seized, and let go of by closing: the traced process never stops.
int seize(pid_t pid) {
  if (ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) != 0) return errno;
  ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr);
  waitpid(pid, nullptr, __WALL);
  ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
  return 0;
}

int look(pid_t pid) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  return tryOpen(path, O_RDONLY);
}

int signalProcess(const char* subject) { return onProcess(subject, terminate); }
int traceProcess(const char* subject) { return onProcess(subject, seize); }
int seeProcess(const char* subject) { return onProcess(subject, look); }

// Receives what is sent there.
UniqueFd receiveAt(int type, const sockaddr* address, socklen_t length) {
  UniqueFd fd = bindSocket(type, address, length);
  if (fd.valid() && type == SOCK_STREAM && listen(fd.get(), 1) != 0) return UniqueFd();
  return fd;
}

int reach(int type, const sockaddr* address, socklen_t length) {
  const UniqueFd fd(socket(address->sa_family, type | SOCK_CLOEXEC, 0));
  if (!fd.valid() || connect(fd.get(), address, length) != 0) return errno;
  // A receiver of streams may hang up as soon as it is reached.
  return errnoUnless(type == SOCK_STREAM || send(fd.get(), "x", 1, 0) == 1);
}

int connectUnix(const char* subject, Name kind) {
  const bool own = *subject == kOwn;
  UnixAddress address;
  if (!readAddress(own ? subject + 1 : subject, kind, &address)) return errno;
  UniqueFd receiver;
  if (own) {
    receiver = receiveAt(SOCK_STREAM, general(address), address.length);
    if (!receiver.valid()) return errno;
  }
  return reach(SOCK_STREAM, general(address), address.length);
}

int connectPath(const char* path) { return connectUnix(path, Name::Path); }
int connectAbstract(const char* name) { return connectUnix(name, Name::Abstract); }

// Loopback alone; a port of one's own is whichever is free.
int reachPort(const char* subject, int type) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr* any = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  UniqueFd receiver;
  if (*subject == kOwn) {
    receiver = receiveAt(type, any, length);
    if (!receiver.valid() || getsockname(receiver.get(), any, &length) != 0) return errno;
  } else {
    address.sin_port = htons(static_cast<uint16_t>(strtol(subject, nullptr, 10)));
  }
  return reach(type, any, length);
}

int connectTcp(const char* port) { return reachPort(port, SOCK_STREAM); }
int sendUdp(const char* port) { return reachPort(port, SOCK_DGRAM); }

int readFile(const char* path) { return tryOpen(path, O_RDONLY); }

struct Act {
  const char* name;
  int (*attempt)(const char* subject);  // 0, or an errno
};

constexpr Act kActs[] = {
    {"write", writeFile},
    {"create", createFile},
    {"mkdir", createDirectory},
    {"symlink", createLink},
    {"link", linkFile},
    {"unlink", removeFile},
    {"rmdir", removeDirectory},
    {"rename", renameFile},
    {"truncate", truncatePath},
    {"open-truncate", truncateOpening},
    {"chmod", changeMode},
    {"utimes", changeTimes},
    {"chown", changeOwner},
    {"setxattr", setAttribute},
    {"mkfifo", makeFifo},
    {"mksocket", makeSocket},
    {"whiteout", makeWhiteout},
    {"ioctl", controlDevice},
    {"signal", signalProcess},
    {"trace", traceProcess},
    {"see", seeProcess},
    {"connect-path", connectPath},
    {"connect-abstract", connectAbstract},
    {"tcp", connectTcp},
    {"udp", sendUdp},
    {"read", readFile},
};

const Act* findAct(const char* name) {
  for (const Act& act : kActs) {
    if (strcmp(act.name, name) == 0) return &act;
  }
  return nullptr;
}

}  // namespace

Tried tryActs(char** words) {
  for (char** word = words; *word != nullptr; word += 2) {
    if (findAct(*word) == nullptr || word[1] == nullptr) return Tried::UnknownAct;
  }
  for (char** word = words; *word != nullptr; word += 2) {
    printf("%s %d\n", word[0], findAct(word[0])->attempt(word[1]));
    fflush(stdout);  // an act on this process itself is to be seen as one that was not answered
  }
  return Tried::Done;
}

}  // namespace dsh
