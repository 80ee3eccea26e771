import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { type EnrolledAgent, startEnrolledAgent } from '../../../test/support/enrolled-agent.ts'
import { pollOnce } from '../round/poll.ts'
import { recoverAndTakeUp, rotateIdentity } from './session.ts'

const UNKNOWN = { kind: 'refuse', status: 401, code: 'agent_not_registered' } as const
const MINUTE_MS = 60_000

async function startWithReceipts(): Promise<EnrolledAgent> {
  const agent = await startEnrolledAgent()
  agent.hub.receiptOf = (sha256) => `label\n${sha256}\n\n— a signature\n`
  return agent
}

const shownTo = ({ hub }: EnrolledAgent): (string | undefined)[] =>
  hub.requestsTo('receipt').map(({ headers }) => {
    const header = headers['x-identity-receipt']
    return typeof header === 'string' ? Buffer.from(header, 'base64').toString() : undefined
  })

describe('the receipt of an identity', () => {
  test('[BKP-14] is asked for once, and kept where nobody else reads it', async () => {
    await using agent = await startWithReceipts()
    const { hub, host } = agent
    const state = await host.openAgent()
    for (let round = 0; round < 3; round += 1)
      assert.deepEqual((await pollOnce(state)).problems, [])
    await pollOnce(await host.openAgent())
    assert.deepEqual(shownTo(agent), [undefined])
    const { identityReceiptFile } = host.paths
    const kept = JSON.parse(await readFile(identityReceiptFile, 'utf8')) as { receipt: string }
    assert.match(kept.receipt, /^label\n[0-9a-f]{64}\n/)
    assert.equal((await stat(identityReceiptFile)).mode & 0o777, 0o600)
    await rotateIdentity(state.session, 'manual')
    await pollOnce(state)
    assert.equal(hub.requestsTo('receipt').length, 2)
  })

  test('[BKP-14] of another certificate is not kept, and a damaged file counts as none', async () => {
    await using agent = await startWithReceipts()
    const { hub, host } = agent
    hub.receiptOf = () => `label\n${'a'.repeat(64)}\n\n— a signature\n`
    await writeFile(host.paths.identityReceiptFile, '{"sha256":')
    const state = await host.openAgent()
    await pollOnce(state)
    assert.equal(await readFile(host.paths.identityReceiptFile, 'utf8'), '{"sha256":')
  })

  test('[BKP-14] is not asked for again for an hour where the hub knows none', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const state = await host.openAgent()
    assert.deepEqual((await pollOnce(state)).problems, [])
    hub.receiptOf = (sha256) => `label\n${sha256}\n`
    host.clock.offsetMs += 59 * MINUTE_MS
    await pollOnce(state)
    assert.deepEqual(shownTo(agent), [])
    host.clock.offsetMs += 2 * MINUTE_MS
    await pollOnce(state)
    assert.deepEqual(shownTo(agent), [undefined])
  })

  test('[BKP-18] is shown to a hub that does not know the identity, and the round begins again', async () => {
    await using agent = await startWithReceipts()
    const { hub, host } = agent
    const state = await host.openAgent()
    await pollOnce(state)
    hub.misbehave('manifest', UNKNOWN)
    const { hasManifest } = await pollOnce(state)
    assert.equal(hasManifest, true)
    const [, shown] = shownTo(agent)
    assert.match(shown ?? '', /^label\n[0-9a-f]{64}\n/)
  })

  test('[BKP-18] is shown once a minute at most to a hub that does not take it', async () => {
    await using agent = await startWithReceipts()
    const { hub, host } = agent
    const state = await host.openAgent()
    await pollOnce(state)
    hub.misbehave('receipt', UNKNOWN, UNKNOWN)
    for (const minutes of [0, 0.5, 5]) {
      hub.misbehave('manifest', UNKNOWN)
      host.clock.offsetMs += minutes * MINUTE_MS
      assert.deepEqual((await pollOnce(state)).problems, [
        'the hub answered 401 agent_not_registered',
      ])
    }
    assert.equal(shownTo(agent).length, 3)
  })

  test('[BKP-18] is never shown for another refusal, and there may be none to show', async () => {
    await using agent = await startWithReceipts()
    const { hub, host } = agent
    const state = await host.openAgent()
    hub.misbehave('manifest', UNKNOWN)
    await pollOnce(state)
    assert.deepEqual(shownTo(agent), [])
    await pollOnce(state)
    hub.misbehave('manifest', { ...UNKNOWN, code: 'agent_revoked' })
    await pollOnce(state)
    assert.deepEqual(shownTo(agent), [undefined])
  })

  test('[BKP-18] [REC-1] goes with a recovery', async () => {
    await using agent = await startWithReceipts()
    const { hub, host } = agent
    const state = await host.openAgent()
    await recoverAndTakeUp(state.session)
    await pollOnce(state)
    await recoverAndTakeUp(state.session)
    const sent = hub.requestsTo('recover').map(({ body }) => (body as { receipt?: string }).receipt)
    assert.equal(sent[0], undefined)
    assert.match(sent[1] ?? '', /^label\n/)
  })
})
