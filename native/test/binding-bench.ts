/**
 * A scratch folder that holds the package as a consumer has it, and ways to run JavaScript against it in processes of
 * their own: what a ruleset does to a process cannot be taken back.
 */

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { run, type Ended, type Identity } from './bench.ts'
import { BUILT, has, skipWithout } from './needs.ts'

const SOURCES = join(import.meta.dirname, '..', 'src')

export interface BindingBench {
  /** The copy of landlock.node that the copied package finds. */
  readonly addon: string
  readonly faultRun: string
  /** Open to every user; empty before each test. */
  readonly folder: string
  /**
   * Runs the body of an async function with `landlock`, `fs`, `folder`, `addonPath` and `landlockUrl` in reach, and returns what it returns.
   * `front` is put before node. Throws when the process does not end well.
   */
  evaluate(
    body: string,
    options?: { readonly identity?: Identity; readonly front?: readonly string[] },
  ): unknown
  /** Runs a module in which the package has its own name, and returns what it prints. Temporary files go to `folder`. */
  runModule(text: string): string
  /** The same as evaluate, for a process that need not end well. */
  attempt(body: string, options?: { readonly identity?: Identity; readonly front?: readonly string[] }): Ended
}

/** The sources as Node 20 runs them, so that a test never meets an old build of them. */
function transpile(file: string): string {
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  }
  return ts.transpileModule(readFileSync(join(SOURCES, file), 'utf8'), { compilerOptions }).outputText
}

function copyPackage(folder: string): void {
  mkdirSync(join(folder, 'dist'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "exports": "./dist/index.js" }')
  for (const file of readdirSync(SOURCES)) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue
    writeFileSync(join(folder, 'dist', file.replace(/\.ts$/, '.js')), transpile(file))
  }
}

/** Every test of the file needs the binding. */
export function useBindingBench(): BindingBench {
  const scratch = realpathSync(mkdtempSync('/var/tmp/dsh-binding-'))
  const index = pathToFileURL(join(scratch, 'native', 'dist', 'index.js')).href
  const bench: BindingBench = {
    addon: join(scratch, 'build', 'Release', 'landlock.node'),
    faultRun: join(scratch, 'fault-run'),
    folder: join(scratch, 'folder'),
    attempt(body, { identity, front = [] } = {}) {
      const script = `
        import fs from 'node:fs'
        import * as landlock from ${JSON.stringify(index)}
        const folder = ${JSON.stringify(bench.folder)}
        const addonPath = ${JSON.stringify(bench.addon)}
        const landlockUrl = ${JSON.stringify(index)}
        /** What an act throws, in a few fields. */
        const thrown = (act) => {
          try { act(); return 'nothing' }
          catch (error) {
            const { name, step, errno, code, path, message } = error
            return { name, step, errno, code, path, message }
          }
        }
        const value = await (async () => {${body}})()
        fs.writeSync(1, JSON.stringify(value ?? null))`
      const node = [process.execPath, '--expose-gc', '--input-type=module', '--eval', script]
      return run([...front, ...node], identity === undefined ? {} : { identity })
    },
    runModule(text) {
      const file = join(scratch, 'module.mjs')
      writeFileSync(file, text)
      const { status, stdout, stderr } = run([process.execPath, file], { env: { TMPDIR: bench.folder } })
      if (status !== 0) throw new Error(`ended with ${status}: ${stderr}`)
      return stdout
    },
    evaluate(body, options) {
      const { status, signal, stdout, stderr } = bench.attempt(body, options)
      if (status !== 0) throw new Error(`ended with ${status ?? signal}: ${stderr}`)
      return JSON.parse(stdout)
    },
  }
  beforeAll(() => {
    chmodSync(scratch, 0o755)
    mkdirSync(join(scratch, 'node_modules'))
    symlinkSync('../native', join(scratch, 'node_modules', 'dsh-landlock'))
    copyPackage(join(scratch, 'native'))
    mkdirSync(join(scratch, 'build', 'Release'), { recursive: true })
    if (has('the launcher')) copyFileSync(join(BUILT, 'fault-run'), bench.faultRun)
  })
  beforeEach(({ skip }) => {
    skipWithout(skip, 'the binding')
    // A test may have damaged it. Removed first, since an ended process may not have let go of the old file.
    rmSync(bench.addon, { recursive: true, force: true })
    copyFileSync(join(BUILT, 'landlock.node'), bench.addon)
    rmSync(bench.folder, { recursive: true, force: true })
    mkdirSync(bench.folder)
    chmodSync(bench.folder, 0o777)
  })
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))
  return bench
}
