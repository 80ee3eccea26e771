// Agents of released versions know nothing of join rules, and join by them: on the wire it is a token like any other.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { agentEnvironment } from '../support/agent-environment.ts'
import { startDevCaProcess } from '../support/dev-ca-process.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { runProgram, startProgram, waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { assertLogVerifies } from './host-story.ts'
import { listPairings, OURS, startHubOf } from './pairings.ts'

const released = (await listPairings()).filter(({ programs }) => programs.hub === OURS)
const agents = [
  { name: 'this agent', skip: false as const, program: 'svc-agent' },
  ...released.map(({ name, skip, programs }) => ({
    name,
    skip,
    program: join(programs.agent, 'svc-agent'),
  })),
]

interface Shown {
  readonly hosts: number
  readonly state: string
  readonly joined: readonly { hostname: string; last_contact_at: string | null }[]
}

describe('[JNR-2] [JNR-11] hosts of one image', () => {
  let ca: RunningCa
  let hub: HubProcess
  before(async () => {
    ca = await startDevCaProcess()
    hub = await startHubOf(ca, OURS)
  })
  after(async () => {
    await hub[Symbol.asyncDispose]()
    await ca[Symbol.asyncDispose]()
  })

  const svc = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await hub.svc(...args)
    assert.equal(status, 0, stderr)
    return stdout
  }
  const show = async (rule: string): Promise<Shown> =>
    JSON.parse(await svc('join-rule', 'show', rule, '--json')) as Shown

  for (const [at, { name, skip, program }] of agents.entries()) {
    test(`${name}: as many join as may, and the next one is refused`, { skip }, async () => {
      const rule = `image-${at}`
      const domain = `d${at}.example.org`
      const asked = ['--pattern', `web-*.${domain}`, '--role', 'web', '--max-hosts', '2']
      const made = await svc('join-rule', 'create', rule, ...asked, '--json')
      const { token } = JSON.parse(made) as { token: string }
      await using directory = await temporaryDirectory()
      const environmentOf = (host: string) => ({
        ...agentEnvironment(hub, {
          hostname: `${host}.${domain}`,
          dataDir: join(directory.path, host),
        }),
        SVC_AGENT_POLL_INTERVAL: '200ms',
        SVC_ENROLL_TOKEN: token,
      })
      const enroll = (host: string) => runProgram(program, ['enroll'], environmentOf(host))
      const ends = await Promise.all(['web-1', 'web-2'].map(enroll))
      for (const { status, stderr } of ends) assert.equal(status, 0, stderr)
      const full = await enroll('web-3')
      assert.notEqual(full.status, 0)
      assert.match(full.stderr, /token_expired/)
      const other = await runProgram(program, ['enroll'], {
        ...environmentOf('db-1'),
        SVC_AGENT_ROLE: 'db',
      })
      assert.notEqual(other.status, 0)
      assert.equal((await show(rule)).state, 'full')

      const running = startProgram(program, ['run'], environmentOf('web-1'))
      try {
        await waitUntil('the first poll to be told of', async () => {
          const { joined } = await show(rule)
          return joined.some(({ last_contact_at: last }) => last !== null) || undefined
        })
      } finally {
        running.kill('SIGKILL')
        await running.ended
      }
      assert.deepEqual((await show(rule)).joined.map(({ hostname }) => hostname).toSorted(), [
        `web-1.${domain}`,
        `web-2.${domain}`,
      ])
      await svc('join-rule', 'end', rule, '--revoke-hosts', '--yes')
      const { stdout } = await hub.svc('agent', 'show', `web-1.${domain}`, '--json')
      assert.notEqual((JSON.parse(stdout) as { revoked_at: string | null }).revoked_at, null)
      await assertLogVerifies(hub)
    })
  }
})

async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'image-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
