/** The pretended kernels themselves: each takes what its ABI has, and nothing of the next; children see the same. */

import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { missingNeeds } from './needs.ts'
import { isRequired } from './required-backends.ts'
import {
  canSimulateKernels,
  KERNELS_WITHOUT_LANDLOCK,
  type KernelName,
  LANDLOCK_KERNELS,
  simulating,
} from './simulated-kernels.ts'

/** Prints, as one JSON object, what the three calls answer: a number, or the name of an errno. */
const ASK = `
import ctypes, errno, json, struct
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    result = libc.syscall(number, *args)
    return result if result >= 0 else errno.errorcode[ctypes.get_errno()]
def creates(*fields):
    text = struct.pack('%dQ' % len(fields), *fields)
    made = call(444, text, ctypes.c_size_t(len(text)), 0)
    return made if isinstance(made, str) else 'ok'
ruleset = call(444, struct.pack('Q', 1), ctypes.c_size_t(8), 0)
libc.prctl(38, 1, 0, 0, 0)
print(json.dumps({
    'abi': call(444, None, ctypes.c_size_t(0), 1),
    'errata': call(444, None, ctypes.c_size_t(0), 2),
    'rights': [bit for bit in range(12, 18) if creates(1 << bit) == 'ok'],
    'unknown right': creates(1 << 40),
    'network': creates(1, 1),
    'scopes': creates(1, 0, 1),
    'more fields': creates(1, 0, 0, 1),
    'zero fields': creates(1, 0, 0, 0, 0),
    'unknown rule': call(445, ruleset, 99, None, 0),
    'flags': [flag for flag in (1, 2, 4, 8) if call(446, -1, flag) != 'EINVAL'],
}))
`

function answers(before: readonly string[]): Record<string, unknown> {
  const [program = '', ...args] = [...before, 'python3', '-c', ASK]
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return stdout === '' ? { failed: stderr } : JSON.parse(stdout)
}

/** Source: landlock(7), "VERSIONS", and landlock_create_ruleset(2), "ERRORS". */
const FACTS = [
  { abi: 1, rights: [12], network: 'E2BIG', scopes: 'E2BIG', flags: [] },
  { abi: 2, rights: [12, 13], network: 'E2BIG', scopes: 'E2BIG', flags: [] },
  { abi: 3, rights: [12, 13, 14], network: 'E2BIG', scopes: 'E2BIG', flags: [] },
  { abi: 4, rights: [12, 13, 14], network: 'ok', scopes: 'E2BIG', flags: [] },
  { abi: 5, rights: [12, 13, 14, 15], network: 'ok', scopes: 'E2BIG', flags: [] },
  { abi: 6, rights: [12, 13, 14, 15], network: 'ok', scopes: 'ok', flags: [] },
  { abi: 7, rights: [12, 13, 14, 15], network: 'ok', scopes: 'ok', flags: [1, 2, 4] },
] as const

const lacks = missingNeeds(['python3']).length > 0 || !canSimulateKernels()
/** A pretended kernel has at most what the running one has. */
const running = lacks ? 0 : Number(answers([])['abi'])

describe.skipIf(lacks && !isRequired('landlock'))('a pretended kernel', () => {
  const known = FACTS.filter(({ abi }) => abi <= running)

  it.each(known)('ABI $abi takes what it has, and nothing of the next', ({ abi, ...facts }) => {
    const kernel = LANDLOCK_KERNELS[abi - 1]
    expect(kernel).toBe(`abi-${abi}`)
    expect(answers(simulating(`abi-${abi}`))).toEqual({
      abi,
      ...facts,
      errata: answers([])['errata'],
      'unknown right': 'EINVAL',
      'more fields': 'E2BIG',
      'zero fields': 'ok',
      'unknown rule': 'EINVAL',
    })
  })

  it('is the same for a child in a session of its own', () => {
    const child = (kernel: KernelName) => answers([...simulating(kernel), 'setsid', '--wait'])['abi']
    expect(child('abi-2')).toBe(2)
    // On Linux ENOTSUP is another name of EOPNOTSUPP (errno(3)).
    expect(KERNELS_WITHOUT_LANDLOCK.map(child)).toEqual(['ENOSYS', 'ENOTSUP', 'EPERM'])
  })
})
