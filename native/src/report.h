// How the launcher speaks: one line on stderr for people, one on the status descriptor for the caller.
#ifndef DSH_REPORT_H
#define DSH_REPORT_H

#include "failure.h"

namespace dsh {

// `landlock-run: STEP PATH: TEXT` on stderr.
void printFailure(const Failure& failure);

// `landlock-run: usage: MESSAGE ARGUMENT` on stderr; `argument` may be null.
void printUsage(const char* message, const char* argument);

// `failed STEP ERRNO PATH` on the status descriptor. A caller that no longer reads is nobody's error here.
void reportFailure(int statusFd, const Failure& failure);

// `left N` on the status descriptor: processes that were there when PROGRAM had ended.
void reportLeft(int statusFd, int processes);

enum class Ending { Exited, Signaled };

// `exited N` or `signaled N` on the status descriptor, once PROGRAM has ended.
void reportEnded(int statusFd, Ending ending, int number);

// `ready` on the status descriptor. Step `status` when the caller no longer reads.
Failure reportReady(int statusFd);

}  // namespace dsh

#endif
