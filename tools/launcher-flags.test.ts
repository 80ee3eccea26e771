import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { AGENT_FLAGS } from './build/agent-flags.ts'
import { HUB_FLAGS } from './build/hub-flags.ts'

for (const [program, flags] of [
  ['svc-agent', AGENT_FLAGS],
  ['svc-server', HUB_FLAGS],
] as const) {
  test(`${program} runs with the same flags from its source as where it is installed`, async () => {
    const launcher = await readFile(new URL(`../bin/${program}`, import.meta.url), 'utf8')
    const [, found] =
      /^exec "\$root\/node_modules\/.bin\/node" (.+) "\$root\/src/m.exec(launcher) ?? []
    assert.deepEqual(found?.split(' '), flags)
    assert.ok(flags.length > 0)
  })
}
