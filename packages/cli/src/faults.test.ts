import { BashWorkdirError } from 'dsh-bash'
import { SandboxPolicyError, SandboxUnavailableError } from 'dsh-sandbox'
import { ProfileError } from 'dsh-sandbox-profiles'
import { expect, it } from 'vitest'
import { UsageError } from './arguments.ts'
import { faultOf } from './faults.ts'
import { OutputError } from './output.ts'
import { StdinError } from './stdin.ts'

it.each([
  [new UsageError('no'), { status: 2, code: 'USAGE', text: 'no' }],
  [
    new ProfileError('x', 'is odd'),
    { status: 2, code: 'SANDBOX_PROFILE_INVALID', text: 'profile "x" is odd' },
  ],
  [new OutputError('full'), { status: 1, code: 'OUTPUT_LOST', text: 'full' }],
  [new StdinError('binary'), { status: 125, code: 'STDIN_UNUSABLE', text: 'binary' }],
  [
    new SandboxUnavailableError('read-only', 'bwrap: not found'),
    {
      status: 125,
      code: 'SANDBOX_UNAVAILABLE',
      text:
        'no sandbox backend can enforce read-only here; the command was not run (bwrap: not found); ' +
        'see dsh-sandbox doctor',
    },
  ],
  [
    new SandboxPolicyError('root-missing', '/ws', '/ws does not exist'),
    { status: 125, code: 'SANDBOX_POLICY_REFUSED', text: '/ws does not exist' },
  ],
  [
    new BashWorkdirError('ENOENT', '/gone'),
    { status: 125, code: 'ENOENT', text: 'working directory /gone does not exist; nothing was run' },
  ],
  [
    Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'pipe2' }),
    { status: 125, code: 'EMFILE', text: 'the command could not be run: EMFILE: too many open files' },
  ],
  [
    Object.assign(new Error('spawn nosuch ENOENT'), { code: 'ENOENT', syscall: 'spawn nosuch' }),
    { status: 127, code: 'ENOENT', text: 'the command could not be run: spawn nosuch ENOENT' },
  ],
  [
    Object.assign(new Error('spawn /etc/passwd EACCES'), { code: 'EACCES', syscall: 'spawn /etc/passwd' }),
    { status: 126, code: 'EACCES', text: 'the command could not be run: spawn /etc/passwd EACCES' },
  ],
])('%s is a fault', (error, fault) => {
  expect(faultOf(error)).toStrictEqual(fault)
})

it.each([new TypeError('ours'), new Error('ours'), 'ours', undefined])('%s is our own mistake', (error) => {
  expect(faultOf(error)).toBeUndefined()
})
