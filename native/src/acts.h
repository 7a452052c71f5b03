// Single acts on the world outside, to be tried inside a confinement and without one. They prove what a confinement
// stops; nothing else uses them.
#ifndef DSH_ACTS_H
#define DSH_ACTS_H

namespace dsh {

enum class Tried { Done, UnknownAct };

// Tries each ACT SUBJECT pair of `words`, which a null ends, and prints `ACT ERRNO` for each, 0 for one that worked. A
// word that names no act ends it before anything was tried.
Tried tryActs(char** words);

}  // namespace dsh

#endif
