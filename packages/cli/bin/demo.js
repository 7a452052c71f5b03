#!/usr/bin/env node
// The demo as a program; "npm run demo" builds it first.

let loaded
try {
  loaded = await import('../dist/demo/demo.js')
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
  process.stderr.write('demo: not built yet; run "npm run demo" or "npm run build" first\n')
  process.exit(1)
}
process.exit(await loaded.demo())
