import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { execFileSync, spawnSync } from 'node:child_process'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSandboxedBash } from './create.ts'
import { splitEnvironment, withEnvironment } from './inside-environment.ts'
import { has, NEED_OF, skipWithout } from './testing/needs.ts'

const never = () => false
const namesInside = (environment: Record<string, string>, explicit: Record<string, string> = {}) =>
  Object.keys(splitEnvironment(environment, explicit, never).inside)

describe('what is set inside only', () => {
  it.each([
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'LD_AUDIT',
    'DYLD_INSERT_LIBRARIES',
    'GLIBC_TUNABLES',
    'GCONV_PATH',
    'LOCPATH',
    'BASH_ENV',
    'ENV',
    'BASH_FUNC_exec%%',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'PERL5OPT',
    'PERL5LIB',
    'RUBYOPT',
    'NODE_OPTIONS',
  ])('%s, ambient or explicit', (name) => {
    expect(namesInside({ [name]: 'x' })).toEqual([name])
    expect(namesInside({ [name]: 'x' }, { [name]: 'x' })).toEqual([name])
  })

  it.each(['TMPDIR', 'TMP', 'TEMP', 'TMPPREFIX'])('%s, when the caller set it', (name) => {
    expect(namesInside({ [name]: '/t' }, { [name]: '/t' })).toEqual([name])
    expect(namesInside({ [name]: '/t' })).toEqual([])
  })

  it.each([
    'HOME',
    'LDFLAGS',
    'OLD_LD_PRELOAD',
    'BASH',
    'ENVIRONMENT',
    'NODE_ENV',
    'RUBY_VERSION',
    'PYTHONUNBUFFERED',
    '__proto__',
  ])('but not %s', (name) => {
    const environment = Object.fromEntries([[name, 'x']])
    expect(splitEnvironment(environment, {}, never)).toEqual({ outside: environment, inside: {} })
  })

  it('a name of Object.prototype is not taken for an explicit one', () => {
    expect(namesInside({ TMPDIR: '/t' }, Object.create({ TMPDIR: '/t' }) as Record<string, string>)).toEqual(
      [],
    )
  })
})

describe('the PATH of a runner', () => {
  const split = (PATH: string) =>
    splitEnvironment({ PATH, A: '1' }, {}, (directory) => directory.startsWith('/ws'))

  it('is the whole one when nothing on it can be written', () => {
    expect(split('/usr/local/bin:/usr/bin')).toEqual({
      outside: { PATH: '/usr/local/bin:/usr/bin', A: '1' },
      inside: {},
    })
  })

  it.each([
    ['/ws/node_modules/.bin:/usr/bin', '/usr/bin'],
    ['/usr/bin:bin:.:', '/usr/bin'],
    ['/ws/bin', '/usr/bin:/bin'],
    ['', '/usr/bin:/bin'],
  ])('loses what can, which the command keeps: %j', (path, outside) => {
    expect(split(path)).toEqual({ outside: { PATH: outside, A: '1' }, inside: { PATH: path } })
  })
})

it('env(1) sets them, whatever they hold', () => {
  expect(withEnvironment({}, ['bash'])).toEqual(['bash'])
  expect(withEnvironment({ LD_PRELOAD: 'a b=c\n', TMPDIR: '/t' }, ['bash', '-c', 'x'])).toEqual([
    'env',
    'LD_PRELOAD=a b=c\n',
    'TMPDIR=/t',
    'bash',
    '-c',
    'x',
  ])
})

/** Writes `loaded` into the directory that MARK names, for each process that it is loaded into. */
const LIBRARY = `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void mark(void) {
  char path[512], name[256];
  ssize_t length = readlink("/proc/self/exe", name, sizeof name - 1);
  if (getenv("MARK") == NULL || length < 0) return;
  name[length] = 0;
  char *base = name;
  for (char *at = name; *at; at++) if (*at == '/') base = at + 1;
  snprintf(path, sizeof path, "%s/%s", getenv("MARK"), base);
  close(open(path, O_CREAT | O_WRONLY, 0600));
}`

describe('a preloaded library', () => {
  let built: string
  let scratch: string
  let marks: string

  beforeAll(() => {
    built = realpathSync(mkdtempSync('/var/tmp/dsh-test-so-'))
    if (!has('a C compiler')) return
    execFileSync('gcc', ['-shared', '-fPIC', '-x', 'c', '-', '-o', join(built, 'mark.so')], {
      input: LIBRARY,
    })
  })
  afterAll(() => rmSync(built, { recursive: true }))
  beforeEach(({ skip }) => {
    scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-preload-'))
    marks = join(scratch, 'marks')
    mkdirSync(marks)
    skipWithout(skip, 'a C compiler')
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    rmSync(scratch, { recursive: true })
  })

  const loadedInto = (name: string) => existsSync(join(marks, name))

  it('would load into bubblewrap, had it that environment', ({ skip }) => {
    skipWithout(skip, 'bwrap')
    spawnSync('/usr/bin/bwrap', ['--version'], { env: { LD_PRELOAD: join(built, 'mark.so'), MARK: marks } })
    expect(loadedInto('bwrap')).toBe(true)
  })

  it.for(['bwrap', 'landlock'] as const)(
    'loads into the command and no runner (%s), explicit or ambient',
    async (backend, { skip }) => {
      skipWithout(skip, NEED_OF[backend])
      const bash = await createSandboxedBash({ mode: 'workspace-write', workspaceRoot: scratch, backend })
      try {
        const variables = { LD_PRELOAD: join(built, 'mark.so'), MARK: marks }
        await bash.run(bash.resolve({ command: 'true', env: variables }))
        expect(loadedInto('bash')).toBe(true)
        expect(loadedInto('bwrap')).toBe(false)
        rmSync(join(marks, 'bash'))

        for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
        await bash.run(bash.resolve({ command: 'true' }))
        expect(loadedInto('bash')).toBe(true)
        expect(loadedInto('bwrap')).toBe(false)
      } finally {
        vi.unstubAllEnvs()
        await bash.dispose()
      }
    },
  )
})
