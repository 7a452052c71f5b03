// What PROGRAM inherits of signals: nothing ignored, nothing blocked, unless the caller asks for it.
#ifndef DSH_SIGNALS_H
#define DSH_SIGNALS_H

#include "failure.h"

namespace dsh {

enum class StopSignals { Default, Ignored };

// Every signal gets its default action, or SIGTERM, SIGINT and SIGHUP are ignored; then all are unblocked.
// Step `reset-signals`.
Failure resetSignals(StopSignals stopSignals);

}  // namespace dsh

#endif
