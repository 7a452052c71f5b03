// Test only: tries what an old kernel may or may not stop, and says how each act ended, one line each.
//
//   acts as UID COMMAND [ARG]...   becomes that user and executes COMMAND
//   acts victim NAME               listens on the abstract socket NAME, prints its pid, and waits to be ended
//   acts try PLACE [PID NAME]      the acts, in PLACE; on PID and NAME, if given. PLACE is `acts arrange PLACE`d before
//   acts arrange PLACE             what they act on
//
// A line is `ACT ok` or `ACT ERRNO`, in words (EACCES). Static, and needs nothing of its surroundings but a kernel.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char* what) {
  fprintf(stderr, "acts: %s: %s\n", what, strerror(errno));
  exit(125);
}

static void say(const char* act, long result) {
  printf("%s %s\n", act, result < 0 ? strerrorname_np(errno) : "ok");
}

static void enter(const char* place) {
  if (chdir(place) != 0) die(place);
}

// ---- acts on files, in the current directory

static void put(const char* path) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, "old\n", 4) != 4) die(path);
  close(fd);
}

static void arrange(const char* place) {
  static const char* const FILES[] = {"written",  "opened-empty", "cut",    "removed", "named",
                                      "one/moved", "one/linked",   "moded"};
  if (mkdir(place, 0700) != 0) die(place);
  enter(place);
  if (mkdir("one", 0700) != 0 || mkdir("two", 0700) != 0 || mkdir("removed-dir", 0700) != 0) die("mkdir");
  for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) put(FILES[i]);
}

static int open_and_close(const char* path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC, 0600);
  return fd < 0 ? fd : close(fd);
}

static int bind_here(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket");
  const int result = bind(fd, (const struct sockaddr*)&address, sizeof address);
  const int error = errno;
  close(fd);
  errno = error;
  return result;
}

static void try_files(void) {
  say("read", open_and_close("written", O_RDONLY));
  say("write", open_and_close("written", O_WRONLY));
  say("write-emptying", open_and_close("opened-empty", O_WRONLY | O_TRUNC));
  say("truncate", truncate("cut", 0));
  say("create", open_and_close("created", O_WRONLY | O_CREAT | O_EXCL));
  say("mkdir", mkdir("made-dir", 0700));
  say("remove", unlink("removed"));
  say("rmdir", rmdir("removed-dir"));
  say("rename", rename("named", "renamed"));
  say("rename-across", rename("one/moved", "two/moved"));
  say("link-across", link("one/linked", "two/linked"));
  say("symlink", symlink("written", "pointing"));
  say("fifo", mkfifo("pipe", 0600));
  say("socket", bind_here("socket"));
  say("whiteout", mknod("whiteout", S_IFCHR | 0600, makedev(0, 0)));
  say("mode", chmod("moded", 0640));
}

// ---- acts on devices and processes

static void try_device(void) {
  unsigned number = 0;
  const int fd = open("/dev/ptmx", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) die("/dev/ptmx");
  say("device-ioctl", ioctl(fd, TIOCGPTN, &number));
  close(fd);
}

static socklen_t abstract(const char* name, struct sockaddr_un* address) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  strncpy(address->sun_path + 1, name, sizeof address->sun_path - 2);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static int listen_on(const char* name) {
  struct sockaddr_un address;
  const socklen_t length = abstract(name, &address);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (const struct sockaddr*)&address, length) != 0 || listen(fd, 8) != 0) die(name);
  return fd;
}

static int connect_to(const char* name) {
  struct sockaddr_un address;
  const socklen_t length = abstract(name, &address);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket");
  const int result = connect(fd, (const struct sockaddr*)&address, length);
  const int error = errno;
  close(fd);
  errno = error;
  return result;
}

static void victim(const char* name) {
  listen_on(name);
  printf("%d\n", getpid());
  fflush(stdout);
  for (;;) pause();
}

static pid_t start_child(void) {
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    for (;;) pause();
  }
  return child;
}

static void try_own(void) {
  const pid_t child = start_child();
  say("signal-own", kill(child, SIGKILL));
  waitpid(child, NULL, 0);
  char name[32];
  snprintf(name, sizeof name, "own-%d", getpid());
  const int listener = listen_on(name);
  say("abstract-own", connect_to(name));
  close(listener);
}

// URG is ignored by whoever did not ask for it, so the victim serves every round.
static void try_others(pid_t pid, const char* name) {
  say("signal", kill(pid, SIGURG));
  say("abstract", connect_to(name));
}

static void become(const char* user, char** command) {
  const uid_t uid = (uid_t)strtoul(user, NULL, 10);
  if (uid != 0 && (setgroups(0, NULL) != 0 || setgid(uid) != 0 || setuid(uid) != 0)) die("setuid");
  execv(command[0], command);
  die(command[0]);
}

int main(int argc, char** argv) {
  const char* verb = argc > 2 ? argv[1] : "";
  if (strcmp(verb, "as") == 0 && argc > 3) become(argv[2], argv + 3);
  if (strcmp(verb, "victim") == 0) victim(argv[2]);
  if (strcmp(verb, "arrange") == 0) {
    arrange(argv[2]);
    return 0;
  }
  if (strcmp(verb, "try") == 0) {
    enter(argv[2]);
    try_files();
    if (argc == 5) {
      try_device();
      try_own();
      try_others((pid_t)atol(argv[3]), argv[4]);
    }
    return 0;
  }
  fputs("acts: as UID COMMAND | victim NAME | arrange PLACE | try PLACE [PID NAME]\n", stderr);
  return 125;
}
