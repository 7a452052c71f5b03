#include "report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace dsh {
namespace {

// Bytes of a path that are shown; no longer one can be opened (PATH_MAX).
constexpr size_t kShownPathBytes = 4096;

// Control bytes and `%` are always written as %XX, so that a name can neither end the line nor imitate an encoding.
enum class Spaces { Kept, Encoded };

// A line under construction. What does not fit is cut; there is room for an encoded path and every text around it.
class Line {
 public:
  void add(const char* text) {
    while (*text != '\0') put(*text++);
  }

  void addNumber(int number) {
    char digits[16];
    snprintf(digits, sizeof digits, "%d", number);
    add(digits);
  }

  void addEncoded(const char* text, Spaces spaces) {
    for (size_t i = 0; text[i] != '\0' && i < kShownPathBytes; i++) addByte(text[i], spaces);
  }

  // One write, since readers take what comes as one line. False, with errno, when it could not be written whole.
  bool writeTo(int fd) {
    length_ = length_ < sizeof text_ ? length_ : sizeof text_ - 1;
    text_[length_++] = '\n';
    ssize_t written = 0;
    do {
      written = write(fd, text_, length_);
    } while (written < 0 && errno == EINTR);
    if (written >= 0 && static_cast<size_t>(written) < length_) errno = EIO;
    return written == static_cast<ssize_t>(length_);
  }

 private:
  void put(char byte) {
    if (length_ < sizeof text_) text_[length_++] = byte;
  }

  void addByte(char byte, Spaces spaces) {
    const unsigned char code = static_cast<unsigned char>(byte);
    const bool plain = code > ' ' && code != 0x7f && code != '%';
    if (plain || (code == ' ' && spaces == Spaces::Kept)) {
      put(byte);
      return;
    }
    put('%');
    put("0123456789ABCDEF"[code >> 4]);
    put("0123456789ABCDEF"[code & 15]);
  }

  char text_[3 * kShownPathBytes + 512];
  size_t length_ = 0;
};

void addStatusPath(Line* line, const char* path) {
  if (path == nullptr) {
    line->add("-");
  } else if (strcmp(path, "-") == 0) {
    line->add("%2D");
  } else {
    line->addEncoded(path, Spaces::Encoded);
  }
}

// A reader that has gone away must be seen as EPIPE, not end the launcher with a status of its own.
void ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN); }

}  // namespace

void printFailure(const Failure& failure) {
  ignoreBrokenPipes();
  Line line;
  line.add("landlock-run: ");
  line.add(failure.step);
  if (failure.path != nullptr) {
    line.add(" ");
    line.addEncoded(failure.path, Spaces::Kept);
  }
  line.add(": ");
  line.add(strerror(failure.error));
  line.writeTo(STDERR_FILENO);
}

void printUsage(const char* message, const char* argument) {
  ignoreBrokenPipes();
  Line line;
  line.add("landlock-run: usage: ");
  line.add(message);
  if (argument != nullptr) {
    line.add(" ");
    line.addEncoded(argument, Spaces::Kept);
  }
  line.writeTo(STDERR_FILENO);
}

void reportFailure(int statusFd, const Failure& failure) {
  ignoreBrokenPipes();
  Line line;
  line.add("failed ");
  line.add(failure.step);
  line.add(" ");
  line.addNumber(failure.error);
  line.add(" ");
  addStatusPath(&line, failure.path);
  line.writeTo(statusFd);
}

void reportLeft(int statusFd, int processes) {
  ignoreBrokenPipes();
  Line line;
  line.add("left ");
  line.addNumber(processes);
  line.writeTo(statusFd);
}

void reportEnded(int statusFd, Ending ending, int number) {
  ignoreBrokenPipes();
  Line line;
  line.add(ending == Ending::Exited ? "exited " : "signaled ");
  line.addNumber(number);
  line.writeTo(statusFd);
}

Failure reportReady(int statusFd) {
  ignoreBrokenPipes();
  Line line;
  line.add("ready");
  Failure failure = line.writeTo(statusFd) ? success() : failedNow("status");
  signal(SIGPIPE, SIG_DFL);  // as PROGRAM inherits it
  return failure;
}

}  // namespace dsh
