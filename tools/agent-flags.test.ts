import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { AGENT_FLAGS } from './build/agent-flags.ts'

test('the agent runs with the same flags from its source as in the single executable', async () => {
  const launcher = await readFile(new URL('../bin/svc-agent', import.meta.url), 'utf8')
  const [, flags] =
    /^exec "\$root\/node_modules\/.bin\/node" (.+) "\$root\/src/m.exec(launcher) ?? []
  assert.deepEqual(flags?.split(' '), AGENT_FLAGS)
  assert.ok(AGENT_FLAGS.length > 0)
})
