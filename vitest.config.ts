import { defineConfig } from 'vitest/config'

// Workspace packages resolve to their TypeScript sources; vite's own server conditions follow ours.
const conditions = ['source', 'module', 'node', 'development|production']

const TESTS = [
  'packages/*/src/**/*.test.ts',
  'native/src/**/*.test.ts',
  'profiles/src/**/*.test.ts',
  'test-fixtures/src/**/*.test.ts',
]

// Set by .ci/run to a folder of kernels: those in virtual machines are tried then, and nothing else.
const inclusion = process.env['DSH_VM_KERNELS'] === undefined ? TESTS : ['test-fixtures/vm/**/*.test.ts']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: inclusion,
    pool: 'forks',
    testTimeout: 30_000,
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: 'build/vitest.json' }]] : ['default'],
  },
})
