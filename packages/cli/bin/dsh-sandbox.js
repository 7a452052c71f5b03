#!/usr/bin/env node
// Committed, so that the package manager can link it before anything is built; the work is in ../dist/main.js.

let command
try {
  command = await import('../dist/main.js')
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
  process.stderr.write('dsh-sandbox: not built yet; run "npm run build" or "npm run demo" first\n')
  process.exit(1)
}
process.exit(await command.main(process.argv.slice(2)))
