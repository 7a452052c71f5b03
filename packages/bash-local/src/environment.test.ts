import { describe, expect, it } from 'vitest'
import { childEnv, checkEnvironment, ENV_OVERRIDES } from './environment.ts'

/** The names of `ambient` that reach a command. */
function surviving(ambient: NodeJS.ProcessEnv): string[] {
  const overrides = ['SHLVL', ...Object.keys(ENV_OVERRIDES)]
  return Object.keys(childEnv({}, ambient)).filter((name) => !overrides.includes(name))
}

describe('scrub', () => {
  it.each([
    'OPENAI_API_KEY',
    'DB_PASSWORD',
    'client_secret',
    'NPM_TOKEN',
    'KEYMAP',
    'MYSQL_PASSWD',
    'GPG_PASSPHRASE',
    'DB_PASS',
    'PASS',
    'MYSQL_PWD',
    'GITHUB_PAT',
    'PAT',
    'AZURE_PAT_PROD',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'SESSION_COOKIE',
    'MY_JWT',
    'BEARER',
    'npm_config__auth',
    'DOCKER_AUTH_CONFIG',
    'SSH_AUTH_SOCK',
    'DATABASE_URL',
    'REDIS_URI',
    'SENTRY_DSN',
    'AZURE_STORAGE_CONNECTION_STRING',
    'SLACK_WEBHOOK_URL',
    'DSH_HOME',
    'dsh_home',
    'Dsh_X',
  ])('withholds %s', (name) => {
    expect(surviving({ [name]: 'value' })).toEqual([])
  })

  it.each([
    'PATH',
    'NODE_PATH',
    'MANPATH',
    'HOME',
    'PWD',
    'OLDPWD',
    'GIT_ASKPASS',
    'SSH_ASKPASS',
    'XDG_RUNTIME_DIR',
    'XDG_CONFIG_HOME',
    'COMPASS',
    'PATTERN',
    'CI_PROJECT_URL',
    'NODE_OPTIONS',
    'LANG',
    'DSHELL',
  ])('keeps %s', (name) => {
    expect(surviving({ [name]: 'value' })).toEqual([name])
  })

  it.each([
    ['PIP_INDEX', 'https://user:pw@example.test/simple', []],
    ['PIP_INDEX', 'https://example.test/simple', ['PIP_INDEX']],
    ['REMOTE', 'ssh://git@example.test/x', ['REMOTE']],
    ['TARGET', 'https://example.test/a:b@c', ['TARGET']],
    ['https_proxy', 'http://user:pw@proxy.test:1', ['https_proxy']],
  ])('%s=%s leaves %j', (name, value, names) => {
    expect(surviving({ [name]: value })).toEqual(names)
  })
})

describe('precedence', () => {
  it('is ambient, overrides, env, dshEnv', () => {
    const ambient = { PAGER: 'less', LANG: 'C', A: 'ambient', DSH_OLD: 'stale', API_KEY: 'ambient' }
    const env = { A: 'env', TERM: 'xterm', API_KEY: 'named' }
    expect(childEnv({ env, dshEnv: { DSH_SHELL: '1' } }, ambient)).toEqual({
      SHLVL: '1',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      NO_COLOR: '1',
      TERM: 'xterm',
      LANG: 'C',
      A: 'env',
      API_KEY: 'named',
      DSH_SHELL: '1',
    })
  })

  it('keeps a variable named __proto__ a variable', () => {
    const ambient: NodeJS.ProcessEnv = Object.fromEntries([['__proto__', 'value']])
    expect(Object.entries(childEnv({}, ambient))).toContainEqual(['__proto__', 'value'])
  })
})

describe('checks', () => {
  it.each([
    [{ env: { DSH_HOME: 'x' } }, "env must not set DSH_HOME: DSH_* is the harness's own, pass it in dshEnv"],
    [{ env: { dsh_home: 'x' } }, "env must not set dsh_home: DSH_* is the harness's own, pass it in dshEnv"],
    [{ dshEnv: { HOME: 'x' } }, 'dshEnv must not set HOME: it takes DSH_* names only, pass it in env'],
    [{ dshEnv: { dsh_x: 'x' } }, 'dshEnv must not set dsh_x: it takes DSH_* names only, pass it in env'],
    [{ env: { '': 'x' } }, 'env has the name "": a name is not empty and holds no "=" or NUL'],
    [{ env: { 'A=B': 'x' } }, 'env has the name "A=B": a name is not empty and holds no "=" or NUL'],
    [{ env: { 'A\0': 'x' } }, 'env has the name "A\\u0000": a name is not empty and holds no "=" or NUL'],
    [{ env: { A: 'x\0y' } }, 'env.A must not contain a NUL byte'],
    [{ env: { A: 1 } }, 'env.A must be a string'],
  ])('%j', (request, message) => {
    expect(() => checkEnvironment(request as never)).toThrow(new TypeError(message))
  })
})
