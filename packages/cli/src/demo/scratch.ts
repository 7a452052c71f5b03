/** A private file tree for one round of the demo. */

import { access, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NOTES } from './cases.ts'

/** `/var/tmp` first: a confined command has a `/tmp` of its own and would not see the tree there. */
const SCRATCH_PARENTS = ['/var/tmp', tmpdir()] as const

export interface Scratch {
  /** Canonical. */
  readonly workspaceRoot: string
  remove(): Promise<void>
}

/** Makes the tree; rejects with the last parent's error when there is no place for it. */
export async function makeScratch(): Promise<Scratch> {
  const root = await realpath(await makeRoot())
  const workspaceRoot = join(root, 'workspace')
  await mkdir(join(root, 'outside'))
  await mkdir(workspaceRoot)
  await writeFile(join(workspaceRoot, 'notes.txt'), `${NOTES}\n`)
  return { workspaceRoot, remove: () => rm(root, { recursive: true }) }
}

/** Whether `file`, relative to the workspace, is there. */
export async function isThere(scratch: Scratch, file: string): Promise<boolean> {
  return access(join(scratch.workspaceRoot, file)).then(
    () => true,
    () => false,
  )
}

async function makeRoot(): Promise<string> {
  const [first, second] = SCRATCH_PARENTS
  return mkdtemp(join(first, 'dsh-demo-')).catch(() => mkdtemp(join(second, 'dsh-demo-')))
}
