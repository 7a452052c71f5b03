import { defineConfig } from 'vitest/config'

// Workspace packages resolve to their TypeScript sources; vite's own server conditions follow ours.
const conditions = ['source', 'module', 'node', 'development|production']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'native/src/**/*.test.ts',
      'profiles/src/**/*.test.ts',
      'test-fixtures/src/**/*.test.ts',
    ],
    pool: 'forks',
    testTimeout: 30_000,
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: 'build/vitest.json' }]] : ['default'],
  },
})
