import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeHub } from '../../../test/fakes/hub-server.ts'
import { AgentHost } from '../../../test/support/agent-host.ts'
import { pollOnce } from '../round/poll.ts'
import { lastRoundPath, parseLastRound, recordLastRound } from './round-outcome.ts'

describe('[UPD-11] the outcome of a round', () => {
  const table = [
    ['completed', () => undefined],
    ['network', (hub: FakeHub) => hub.stop()],
    ['server_error', (hub: FakeHub) => refuse(hub, 500, 'internal_error')],
    ['server_error', (hub: FakeHub) => refuse(hub, 503, 'unavailable')],
    ['other', (hub: FakeHub) => refuse(hub, 401, 'agent_revoked')],
    ['other', (hub: FakeHub) => refuse(hub, 429, 'rate_limited')],
  ] as const
  for (const [outcome, prepare] of table) {
    test(`is ${outcome}`, async () => {
      await using hub = await FakeHub.start()
      await using host = await AgentHost.create(hub)
      await host.enroll()
      const agent = await host.openAgent()
      await prepare(hub)
      assert.equal((await pollOnce(agent)).outcome, outcome)
    })
  }

  test('is one short line that only the agent may read', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'round-'))
    const at = new Date('2026-11-21T12:00:00Z')
    await recordLastRound(directory, { version: '0.1.1', outcome: 'network' }, at)
    const path = lastRoundPath(directory)
    const text = await readFile(path, 'utf8')
    assert.equal(text, 'version=0.1.1 outcome=network at=2026-11-21T12:00:00.000Z\n')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.deepEqual(parseLastRound(text), { version: '0.1.1', outcome: 'network' })
    for (const other of ['', text.trim(), `${text}more\n`, text.replace('network', 'fine')]) {
      assert.equal(parseLastRound(other), undefined)
    }
    await rm(directory, { recursive: true })
  })
})

function refuse(hub: FakeHub, status: number, code: string): void {
  hub.misbehave('manifest', { kind: 'refuse', status, code })
}
