import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { AGENT_FLAGS, AGENT_MALLOC } from './build/agent-flags.ts'
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

for (const [place, line] of [
  ['bin/svc-agent', (assignment: string) => `export ${assignment}`],
  ['deploy/systemd/svc-agent.service', (assignment: string) => `Environment=${assignment}`],
  ['deploy/Containerfile', (assignment: string) => `ENV ${assignment}`],
] as const) {
  test(`${place} tells malloc how to serve an agent`, async () => {
    const lines = (await readFile(new URL(`../${place}`, import.meta.url), 'utf8')).split('\n')
    const assignments = Object.entries(AGENT_MALLOC).map(([name, value]) => `${name}=${value}`)
    assert.equal(assignments.length, 2)
    for (const assignment of assignments) assert.ok(lines.includes(line(assignment)), assignment)
  })
}
