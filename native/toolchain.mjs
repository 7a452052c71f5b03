/**
 * What is there to build with. In: the environment's CC, CXX and PATH. Out: the tools, or the names of those missing.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const CANDIDATES = {
  'C++ compiler': ['CXX', 'g++', 'c++', 'clang++'],
  'C compiler': ['CC', 'cc', 'gcc', 'clang'],
  make: ['MAKE', 'make', 'gmake'],
  python3: ['PYTHON', 'python3', 'python'],
}

/** A command as a shell would split it (`CXX="ccache g++"`). */
function words(command) {
  return command.split(' ').filter((word) => word !== '')
}

function answers(command) {
  const [program, ...args] = words(command)
  return program !== undefined && spawnSync(program, [...args, '--version'], { stdio: 'ignore' }).status === 0
}

/** The environment's own choice, which nothing replaces, or the first candidate that runs. */
function firstThatRuns([variable, ...names]) {
  const chosen = process.env[variable]
  return (chosen ? [chosen] : names).find(answers)
}

/** `{ cc, cxx, make, python }` as commands, or `{ missing }` as words for a sentence. */
export function findToolchain() {
  const found = Object.entries(CANDIDATES).map(([what, candidates]) => [what, firstThatRuns(candidates)])
  const missing = found.filter(([, command]) => command === undefined).map(([what]) => `no ${what}`)
  if (missing.length > 0) return { missing: missing.join(', ') }
  const commands = Object.fromEntries(found)
  return {
    cxx: commands['C++ compiler'],
    cc: commands['C compiler'],
    make: commands.make,
    python: commands.python3,
  }
}

/** The strongest way to link a program without shared libraries; distributions may lack the static C library. */
export function programLinkFlag(cxx) {
  const scratch = mkdtempSync(join(tmpdir(), 'dsh-link-'))
  const [program, ...args] = words(cxx)
  const links = (flag) =>
    spawnSync(program, [...args, '-x', 'c++', '-fPIE', flag, '-o', join(scratch, 'probe'), '-'], {
      input: 'int main() { return 0; }\n',
    }).status === 0
  try {
    return ['-static-pie', '-static'].find(links) ?? '-pie'
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
