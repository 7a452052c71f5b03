// What native code says when a step does not work: the step, the errno, and the path it was about. Sentences are made
// elsewhere.
#ifndef DSH_FAILURE_H
#define DSH_FAILURE_H

#include <errno.h>

namespace dsh {

// A failed step, or none: `step` is null when all is well.
struct [[nodiscard]] Failure {
  const char* step = nullptr;
  int error = 0;
  const char* path = nullptr;  // borrowed; null when the step is about no path

  explicit operator bool() const { return step != nullptr; }
};

inline Failure success() { return {}; }
inline Failure failedWith(int error, const char* step, const char* path = nullptr) { return {step, error, path}; }
inline Failure failedNow(const char* step, const char* path = nullptr) { return {step, errno, path}; }

}  // namespace dsh

#endif
