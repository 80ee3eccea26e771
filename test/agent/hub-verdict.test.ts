import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost } from '../support/agent-host.ts'
import { readHubVerdict } from '../../src/agent/hub/hub-verdict.ts'
import { requireIdentity } from '../../src/agent/identity/identity.ts'
import { pollOnce, type PollState } from '../../src/agent/round/poll.ts'
import { formatStatus } from '../../src/agent/reporting/format-status.ts'
import { type AgentStatus, readStatus } from '../../src/agent/reporting/status.ts'

const REFUSALS = [
  ['agent_revoked', 'revoked'],
  ['certificate_superseded', 'superseded'],
  ['agent_not_registered', 'not_registered'],
] as const

async function withAgent(
  work: (fixture: { hub: FakeHub; host: AgentHost; state: PollState }) => Promise<void>,
): Promise<void> {
  await using hub = await FakeHub.start()
  await using host = await AgentHost.create(hub)
  await host.enroll(86_400_000)
  await work({ hub, host, state: await host.openAgent() })
}

function statusOf({ processed, session }: PollState): Promise<AgentStatus> {
  return readStatus(session.paths, {
    processed,
    outbox: session.outbox,
    now: session.hubTime.now(),
    verdict: session.verdicts.last,
    running: undefined,
  })
}

for (const [code, state] of REFUSALS) {
  test(`[AGT-50] an identity that the hub answers ${code} is ${state}, also for a status while no agent runs`, async () => {
    await withAgent(async ({ hub, host, state: agent }) => {
      const shown = await statusOf(agent)
      assert.deepEqual([shown.state, shown.hub], ['valid', null])
      await pollOnce(agent)
      const accepted = await statusOf(agent)
      assert.deepEqual([accepted.state, accepted.hub?.said], ['valid', 'accepted'])

      const refused = { kind: 'refuse', status: 401, code } as const
      hub.misbehave('manifest', refused)
      hub.misbehave('events', refused, refused)
      hub.misbehave('bundle', refused)
      hub.misbehave('recipient', refused)
      await pollOnce(agent)
      const status = await statusOf(agent)
      assert.equal(status.state, state)
      assert.equal(status.hub?.said, code)
      assert.match(
        formatStatus('en', status),
        new RegExp(`^state: ${state}\nhub: refused it: ${code}, at .*Z$`, 'm'),
      )
      const alone = JSON.parse((await host.command('status', '--json')).stdout) as AgentStatus
      assert.deepEqual([alone.state, alone.hub], [state, status.hub])

      // Another identity is another matter, and so is the word of a hub that lets it in.
      const verdict = await readHubVerdict(host.paths.stateDir)
      await host.enroll(86_400_000)
      const { leaf } = await requireIdentity(host.paths.identityDir)
      assert.notEqual(leaf.sha256, verdict?.sha256)
      const enrolled = await statusOf(agent)
      assert.deepEqual([enrolled.state, enrolled.hub], ['valid', null])
      await pollOnce(agent)
      assert.equal((await statusOf(agent)).hub?.said, 'accepted')
      assert.equal((await readHubVerdict(host.paths.stateDir))?.code, null)
    })
  })
}

test('[AGT-50] what a proxy in between answers is no word of the hub, and a file that cannot be read is none', async () => {
  await withAgent(async ({ hub, host, state }) => {
    await pollOnce(state)
    const before = await statusOf(state)
    for (const [status, code] of [
      [401, 'unknown'],
      [403, 'agent_revoked'],
      [503, 'unavailable'],
    ] as const) {
      hub.misbehave('manifest', { kind: 'refuse', status, code })
      host.clock.offsetMs += 60_000
      await pollOnce(state)
      assert.equal((await statusOf(state)).state, before.state)
    }
    for (const text of ['', '{', '[]', '{"sha256":1}', 'x'.repeat(5000)]) {
      await writeFile(join(host.paths.stateDir, 'hub-verdict.json'), text)
      assert.equal(await readHubVerdict(host.paths.stateDir), undefined)
    }
  })
})
