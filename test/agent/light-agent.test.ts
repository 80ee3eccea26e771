// What an agent that waits has loaded: each library stays in memory on every host of a fleet.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ensureAgeKey } from '../../src/agent/identity/age-key.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { eventually, manifestEntry } from '../support/agent-host.ts'
import { startEnrolledAgent } from '../support/enrolled-agent.ts'

const MAIN = fileURLToPath(new URL('../../src/agent/main.ts', import.meta.url))

/** Notes the URL of each module when it is loaded. */
const NOTE_LOADED = `
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED, url + '\\n')
    return next(url, context)
  },
})
`

/** For commands, logs and the shapes of JSON. What else an agent may need, it loads when it needs it. */
const LIGHT = [
  '@pinojs/redact',
  'atomic-sleep',
  'commander',
  'on-exit-leak-free',
  'pino',
  'pino-std-serializers',
  'quick-format-unescaped',
  'safe-stable-stringify',
  'sonic-boom',
  'thread-stream',
  'typebox',
]

test('an agent that has installed a certificate and waits has loaded no library beyond the light ones', async () => {
  await using fixture = await startEnrolledAgent()
  const { hub, host } = fixture
  // As `enroll` leaves it.
  await ensureAgeKey(host.paths.ageKeyFile, systemClock)
  hub.entregas = [manifestEntry()]
  const hook = join(host.directory, 'note-loaded.mjs')
  await writeFile(hook, NOTE_LOADED)
  const loadedFile = join(host.directory, 'loaded')
  await writeFile(loadedFile, '', { mode: 0o666 })
  const child = spawn(process.execPath, ['--import', hook, MAIN, 'run'], {
    env: { ...host.env, LOADED: loadedFile },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  try {
    await eventually('the certificate', () => host.readOut('site.crt').catch(() => false))
    // The last that a start does: it tells whom to seal for, which the file of the key says without the library.
    await eventually('the recipient to be told', () => hub.recipients.length > 0)
  } finally {
    child.kill('SIGKILL')
    await exited
  }
  const loaded = (await readFile(loadedFile, 'utf8')).split('\n')
  assert.ok(loaded.some((url) => url.endsWith('/src/agent/hub/hub-stream.ts')))
  const libraries = loaded.flatMap(
    (url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [],
  )
  assert.deepEqual([...new Set(libraries)].toSorted(), LIGHT)
})
