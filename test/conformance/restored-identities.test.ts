// Identities that are newer than the backup from which a hub came back: docs/protocol.md BKP-14 to BKP-17.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { readEvents } from '../support/audit-log.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
  type Identity,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { type Recovery, sendRecovery } from '../support/send-recovery.ts'
import { startTestHub } from '../support/test-hub.ts'
import { shareRestored } from '../support/test-store.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, send, type WireReply } from '../support/wire-client.ts'

const { hub, ca } = useHub()

/** The hub that all tests share, unless there is another. */
interface At {
  readonly hub: Pick<TestHub, 'ports'>
}

interface Held extends Identity {
  readonly receipt: string
}

async function renew(host: Identity, hostname: string, at: At = { hub }): Promise<Held> {
  const { keyPem, csrPem } = await createKeyAndCsr(hostname)
  const reply = await post(withIdentity(at.hub, host), '/v1/certs/issue', { csr_pem: csrPem })
  assertOk(reply)
  return withReceipt(readIdentity(reply, keyPem), at)
}

async function withReceipt(identity: Identity, at: At = { hub }): Promise<Held> {
  const reply = await waitUntil('a receipt', async () => {
    const answer = await send(withIdentity(at.hub, identity), { path: '/v1/receipt' })
    return answer.status === 503 ? undefined : answer
  })
  assertOk(reply)
  return { ...identity, receipt: reply.json['receipt'] as string }
}

/** With the first request of a connection. */
function show(identity: Identity, receipt: string, at: At = { hub }): Promise<WireReply> {
  const headers = { 'x-identity-receipt': Buffer.from(receipt).toString('base64') }
  return send(withIdentity(at.hub, identity), { path: '/v1/manifest', headers })
}

const poll = (identity: Identity, at: At = { hub }): Promise<WireReply> =>
  send(withIdentity(at.hub, identity), { path: '/v1/manifest' })

describe('after a restore from an older backup', () => {
  const held: Record<string, Held> = {}
  const of = (name: string): Held => held[name] ?? assert.fail(name)

  before(async () => {
    const enrolled: Record<string, EnrolledHost> = {}
    for (const name of ['renewed', 'revoked', 'recovering', 'mixed']) {
      enrolled[name] = await enrollHost(hub, name)
    }
    const file = join(hub.directory, 'older')
    const { status, stderr } = await hub.svc('backup', file)
    assert.equal(status, 0, stderr)
    for (const [name, host] of Object.entries(enrolled)) held[name] = await renew(host, name)
    held['young'] = await withReceipt(await enrollHost(hub, 'young'))
    held['unused'] = await withReceipt(await enrollHost(hub, 'unused'))
    await hub.stop()
    await rename(hub.vaultRoot, `${hub.vaultRoot}.lost`)
    const restored = await hub.svc('restore', file)
    assert.equal(restored.status, 0, restored.stderr)
    await shareRestored(hub)
    await hub.start()
    // Its log has to be signed before a receipt can be looked at.
    await waitUntil('a checkpoint', async () => {
      const checkpoint = await hub.svc('checkpoint')
      return checkpoint.status === 0 || undefined
    })
  })

  const takenBack = async (name: string): Promise<Record<string, unknown>[]> => {
    const events = await readEvents(hub, 'identity_taken_back')
    return events
      .map(({ payload }) => payload as Record<string, unknown>)
      .filter(({ hostname }) => hostname === name)
  }

  test('[BKP-16] [BKP-17] a renewed identity is unknown until it shows its receipt, once', async () => {
    const renewed = of('renewed')
    assertRefused(await poll(renewed), 401, 'agent_not_registered')
    assertOk(await show(renewed, renewed.receipt))
    assertOk(await poll(renewed))
    assertOk(await show(renewed, renewed.receipt))
    const [entry, ...others] = await takenBack('renewed')
    assert.deepEqual(others, [])
    assert.deepEqual([entry?.['actor'], entry?.['new_agent']], ['hub', false])
    // Its receipt is of the new epoch now.
    const again = await withReceipt(renewed)
    assert.notEqual(again.receipt.split('\n')[1], renewed.receipt.split('\n')[1])
  })

  test('[BKP-17] a host that enrolled after the backup comes back as the agent that it was', async () => {
    const young = of('young')
    assertRefused(await poll(young), 401, 'agent_not_registered')
    assertOk(await show(young, young.receipt))
    const id = young.receipt.split('\n')[3]
    const [entry] = await takenBack('young')
    assert.deepEqual([entry?.['agente_id'], entry?.['new_agent']], [id, true])
    const { stdout } = await hub.svc('agente', 'show', 'young', '--json')
    const { id: shown, role } = JSON.parse(stdout) as { id: string; role: string }
    assert.deepEqual([shown, role], [id, 'web'])
    const next = await renew(young, 'young')
    assertOk(await poll(next))
  })

  test('[BKP-16] a receipt is worth nothing with another certificate, changed, or in another form', async () => {
    const mixed = of('mixed')
    const { receipt } = mixed
    const forged = [
      of('unused').receipt,
      receipt.replace('\nmixed\n', '\nunused\n'),
      receipt.replace('"web"', '"admin"'),
      receipt.replace(/^cartorio-identity/, 'cartorio-epoch'),
      receipt.slice(0, -1),
      '',
      'x'.repeat(5000),
    ]
    for (const text of forged) {
      assertRefused(await show(mixed, text), 401, 'agent_not_registered')
    }
    assert.deepEqual(await takenBack('mixed'), [])
    assertOk(await show(mixed, receipt))
  })

  test('[BKP-17] a revoked agent stays out', async () => {
    const { status, stderr } = await hub.svc('agente', 'revoke', 'revoked')
    assert.equal(status, 0, stderr)
    const revoked = of('revoked')
    assertRefused(await show(revoked, revoked.receipt), 401, 'agent_revoked')
    assert.deepEqual(await takenBack('revoked'), [])
  })

  test('[BKP-18] [REC-1] an identity is recovered by receipt and key, never by one of them', async () => {
    const host = of('recovering')
    const recover = async (more: Partial<Recovery>): Promise<WireReply> => {
      const { csrPem, keyPem } = await createKeyAndCsr('recovering')
      const reply = await sendRecovery(hub.ports.enroll, { host, csrPem, ...more })
      if (reply.status === 200) held['recovered'] = { ...host, ...readIdentity(reply, keyPem) }
      return reply
    }
    const { receipt } = host
    assertRefused(await recover({}), 401, 'recovery_refused')
    assertRefused(await recover({ receipt: of('unused').receipt }), 401, 'recovery_refused')
    const { keyPem: signingKeyPem } = await createKeyAndCsr('recovering')
    assertRefused(await recover({ receipt, signingKeyPem }), 401, 'recovery_refused')
    assert.deepEqual(await takenBack('recovering'), [])
    assertOk(await recover({ receipt }))
    assertOk(await poll(of('recovered')))
    assert.equal((await takenBack('recovering')).length, 1)
  })
})

describe('after a restore beside SVC_CHECKPOINT_PATH', () => {
  test('[BKP-15] [BKP-19] who was revoked stays out, and what was spent is spent', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'))
    await using kept = await startTestHub({
      caEnvironment: ca.environment,
      environment: { SVC_CHECKPOINT_PATH: outside },
    })
    const at = { hub: kept }
    const thief = await enrollHost(kept, 'thief')
    const rebuilt = await enrollHost(kept, 'rebuilt')
    const [used, ended] = [
      await kept.createToken({ hostname: 'late' }),
      await kept.createToken({ hostname: 'never' }),
    ]
    const file = join(kept.directory, 'older')
    assert.equal((await kept.svc('backup', file)).status, 0)

    const stolen = await withReceipt(thief, at)
    const enrolled = async (token: string, hostname: string): Promise<WireReply> => {
      const { csrPem, keyPem } = await createKeyAndCsr(hostname)
      const body = { token, hostname, role: 'web', csr_pem: csrPem }
      const reply = await post({ port: kept.ports.enroll }, '/v1/enroll', body)
      if (reply.status === 200) held.set(hostname, readIdentity(reply, keyPem))
      return reply
    }
    const held = new Map<string, Identity>()
    assertOk(await enrolled(used, 'late'))
    const late = await withReceipt(held.get('late') ?? assert.fail('it enrolled'), at)
    const young = await withReceipt(await enrollHost(kept, 'young'), at)
    const first = await withReceipt(rebuilt, at)
    const renewed = await renew(first, 'rebuilt', at)
    for (const host of ['thief', 'young', 'rebuilt']) {
      assert.equal((await kept.svc('agente', 'revoke', host)).status, 0)
    }
    assert.equal((await kept.svc('token', 'revoke', 'never')).status, 0)
    const again = await withReceipt(await enrollHost(kept, 'rebuilt', { reenroll: true }), at)
    await waitUntil('the checkpoint outside', async () => {
      const events = await readEvents(kept)
      const name = (await readdir(outside)).find((each) => each.endsWith('.checkpoint'))
      const text = name === undefined ? '' : await readFile(join(outside, name), 'utf8')
      return Number(text.split('\n')[1]) >= events.length || undefined
    })
    await kept.stop()
    await rename(kept.vaultRoot, `${kept.vaultRoot}.lost`)
    const restored = await kept.svc('restore', file, '--json')
    assert.equal(restored.status, 0, restored.stderr)
    assert.equal(restored.stderr, '')
    const said = JSON.parse(restored.stdout) as Record<string, unknown>
    assert.deepEqual([said['acts_done_again'], said['acts_missing']], [7, null])
    await shareRestored(kept)
    await kept.start()
    await waitUntil('a checkpoint', async () => {
      const checkpoint = await kept.svc('checkpoint')
      return checkpoint.status === 0 || undefined
    })

    assertRefused(await poll(stolen, at), 401, 'agent_revoked')
    assertRefused(await show(young, young.receipt, at), 401, 'agent_revoked')
    assertRefused(await enrolled(used, 'late'), 401, 'token_consumed')
    assertRefused(await enrolled(ended, 'never'), 401, 'token_expired')
    assertOk(await show(late, late.receipt, at))
    // Its identity of before the revocation is none, whichever comes first.
    assertRefused(await show(renewed, renewed.receipt, at), 401, 'agent_not_registered')
    assertRefused(await poll(first, at), 401, 'agent_revoked')
    assertOk(await show(again, again.receipt, at))
    const entries = await readEvents(kept)
    const replayed = entries.filter(
      ({ payload }) => (payload as { actor?: string }).actor === 'restore',
    )
    assert.equal(replayed.length, 7)
    await rm(outside, { recursive: true, maxRetries: 5 })
  })
})
