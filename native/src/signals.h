// What PROGRAM inherits of signals: nothing ignored, nothing blocked, unless the caller asks for it. And what its
// supervisor does with them: block all, end by one.
#ifndef DSH_SIGNALS_H
#define DSH_SIGNALS_H

#include "failure.h"

namespace dsh {

enum class StopSignals { Default, Ignored };

// Every signal gets its default action, or SIGTERM, SIGINT and SIGHUP are ignored; then all are unblocked.
// Step `reset-signals`.
Failure resetSignals(StopSignals stopSignals);

// Step `block-signals`.
Failure blockSignals();

// Ends this process by this signal, whichever others are pending and blocked. Returns where the kernel spares it: the
// first process of a PID namespace.
void endBySignal(int number);

}  // namespace dsh

#endif
