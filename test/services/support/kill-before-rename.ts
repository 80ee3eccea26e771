// Loaded into a process before its program (NODE_OPTIONS=--import): kills it, as kill -9 does, at the very moment when it
// is about to give a file the name that TEST_KILL_BEFORE_RENAME says the end of.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const nameEnd = process.env['TEST_KILL_BEFORE_RENAME'] ?? ''
const rename = fs.promises.rename

fs.promises.rename = async (from, to) => {
  if (String(to).endsWith(nameEnd)) {
    process.kill(process.pid, 'SIGKILL')
    // Nothing more of it is to be seen, should the signal take a moment.
    await new Promise(() => undefined)
  }
  await rename(from, to)
}
syncBuiltinESMExports()
