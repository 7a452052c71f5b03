// The one owner of a file descriptor.
#ifndef DSH_UNIQUE_FD_H
#define DSH_UNIQUE_FD_H

#include <errno.h>
#include <unistd.h>

namespace dsh {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }
  ~UniqueFd() { reset(); }

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  // Keeps errno, so that a failure can be reported after the owner has left its scope.
  void reset() {
    if (fd_ < 0) return;
    const int saved = errno;
    close(release());
    errno = saved;
  }

  int fd_ = -1;
};

}  // namespace dsh

#endif
