/** Proves what a backend says of itself, as a program: a JSON line for each word. In: the backend. */

import { createLocalSandboxProvider, type EffectProof } from 'dsh-sandbox-local'
import { backendNamed } from './corpus.ts'

/** One word of the backend. */
export interface ProvedWord extends EffectProof {
  readonly mode: string
}

const provider = createLocalSandboxProvider({ backend: backendNamed(process.argv[2]) })
try {
  for (const { modes } of await provider.selfTest())
    for (const { mode, effects } of modes)
      for (const effect of effects) console.log(JSON.stringify({ mode, ...effect } satisfies ProvedWord))
} finally {
  await provider.dispose()
}
