import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { insertAgent, insertToken, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { type ToldAdmin, openAdmin } from '../../../../test/support/told-admin.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { createSampleRoot } from '../../../../test/support/sample-roots.ts'
import type { Hostname, TokenHash } from '../../../protocol/identifiers.ts'
import type { AdminRoots } from '../roots/bundle-operations.ts'
import type { Policy } from '../../domain/policy.ts'
import type { Store } from '../../store/store.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { emptyPolicy } from '../policy/parse-policy.ts'

let store: Store & AsyncDisposable
let hub: ToldAdmin

before(async () => {
  store = await openTemporaryStore()
  hub = openAdmin(store)
})
after(() => store[Symbol.asyncDispose]())

const setPolicy = (role: string, changes: Partial<Policy>): Promise<void> =>
  store.write((writer) => writer.setPolicy({ ...emptyPolicy(role), ...changes }))

describe('a token that is made', () => {
  test('[TOK-1] [TOK-2] [TOK-3] shows its text once, and is kept and recorded by its hash', async () => {
    const seq = await lastSeq(store.reader)
    const { token, agent_command, ...shown } = await hub.admin.createToken({
      hostname: 'web-1',
      role: "it's a role",
    })
    assert.match(token, /^svct_[A-Za-z0-9_-]{43}$/)
    assert.equal(
      agent_command,
      String.raw`SVC_SERVER_URL=https://hub.test:8444 SVC_SERVER_MTLS_URL=https://hub.test:8443 SVC_AGENT_HOSTNAME=web-1 SVC_AGENT_ROLE='it'\''s a role' SVC_ENROLL_TOKEN=${token} svc-agent enroll`,
    )
    const id = hashToken(token).slice(0, 16)
    const expires_at = '2026-11-21T11:00:00.123Z'
    assert.deepEqual(shown, {
      id,
      hostname: 'web-1',
      role: "it's a role",
      expires_at,
      consumed_at: null,
      created_at: '2026-11-21T10:00:00.123Z',
      labels: [],
      mismatches: 0,
    })
    const { isReenrollment, isOperators, mismatches } =
      (await store.reader.findToken(hashToken(token))) ?? {}
    assert.deepEqual([isReenrollment, isOperators, mismatches], [false, false, 0])
    const payload = {
      token_id: id,
      hostname: 'web-1',
      role: "it's a role",
      expires_at,
      reenroll: false,
    }
    assert.deepEqual(await readActs(store.reader, seq), [
      ['token_created', { actor: 'admin', ...payload }],
    ])
  })

  test('[CLI-70] comes with the fingerprints of all roots in force, the hub’s own last', async () => {
    await using fresh = await openTemporaryStore()
    const [own, next] = [
      await createSampleRoot('own', LATER),
      await createSampleRoot('next', LATER),
    ]
    const urls = { enrollUrl: 'https://hub.test:8446', mtlsUrl: '' }
    const roots = { serverRoot: () => own } as AdminRoots
    const { admin } = openAdmin(fresh, { addresses: { ...urls, isOwnTls: true }, roots })
    const unpinned = await admin.createToken({ hostname: 'web-1', role: 'web' })
    assert.match(unpinned.agent_command, / svc-agent enroll$/)
    assert.match(unpinned.note ?? '', /^the hub knows no root before its first start/)
    const set = { epoch: 1, number: 1, pem: own.pem + next.pem, createdAt: NOW }
    await fresh.write((writer) => writer.insertRootSet(set))
    const pins = `--ca-fingerprint ${next.sha256} --ca-fingerprint ${own.sha256}`
    const pinned = await admin.createToken({ hostname: 'web-2', role: 'web' })
    assert.ok(pinned.agent_command.endsWith(` svc-agent enroll ${pins}`), pinned.agent_command)
    assert.equal(pinned.note, undefined)
    const elsewhere = openAdmin(fresh, { addresses: urls, roots })
    const behind = await elsewhere.admin.createToken({ hostname: 'web-3', role: 'web' })
    assert.match(behind.agent_command, / svc-agent enroll$/)
  })

  test('[POL-17] remembers that an operator made it', async () => {
    const { token } = await hub.as('operator').createToken({ hostname: 'web-2', role: 'web' })
    assert.equal((await store.reader.findToken(hashToken(token)))?.isOperators, true)
  })

  test('[TOK-3] [POL-5] [POL-6] lives as long as it is asked to, within what hub and politica allow', async () => {
    await setPolicy('short', { name: 'brief', tokenTtlSecondsMax: 600 })
    await setPolicy('long', { tokenTtlSecondsMax: 86_400 })
    let host = 0
    const lifeOf = async (role: string, ttl_seconds?: number): Promise<number> => {
      const hostname = `life-${(host += 1)}`
      const wanted = ttl_seconds === undefined ? {} : { ttl_seconds }
      const { expires_at } = await hub.admin.createToken({ hostname, role, ...wanted })
      return (Date.parse(expires_at) - NOW.getTime()) / 1000
    }
    assert.deepEqual(
      [
        await lifeOf('web'),
        await lifeOf('short'),
        await lifeOf('long'),
        await lifeOf('web', 604_800),
        await lifeOf('short', 600),
      ],
      [3600, 600, 3600, 604_800, 600],
    )
    await assert.rejects(lifeOf('web', 604_801), {
      code: 'ttl_too_long',
      message: 'a token lives 7d at most',
    })
    await assert.rejects(lifeOf('short', 601), {
      code: 'ttl_too_long',
      message: 'a token for role short lives 10m at most: policy brief',
    })
  })
})

describe('a token is refused', () => {
  test('[TOK-5] [TOK-6] for what is no hostname, for a name of the hub, and for one that is taken', async () => {
    await insertAgent(store, 'enrolled')
    const expected = 'invited' as Hostname
    await insertToken(store, { expectedHostname: expected })
    await insertToken(store, { expectedHostname: 'expired' as Hostname, expiresAt: NOW })
    const seq = await lastSeq(store.reader)
    for (const [hostname, code] of [
      ['Web-1', 'hostname_invalid'],
      ['a'.repeat(65), 'hostname_invalid'],
      ['hub.test', 'hostname_reserved'],
      ['web.hub.test', 'hostname_reserved'],
      ['enrolled', 'hostname_enrolled'],
      ['invited', 'hostname_has_token'],
    ] as const) {
      await assert.rejects(hub.admin.createToken({ hostname, role: 'web' }), { code }, hostname)
    }
    assert.deepEqual(await readActs(store.reader, seq), [])
    await hub.admin.createToken({ hostname: 'expired', role: 'web' })
    for (const hostname of ['enrolled', 'invited']) {
      await hub.admin.createToken({ hostname, role: 'web', reenroll: true })
    }
  })

  test('[TOK-6] of two that are asked for at once the second', async () => {
    const asked = { hostname: 'twice', role: 'web' }
    const both = [hub.admin.createToken(asked), hub.admin.createToken(asked)]
    const ended = await Promise.allSettled(both)
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
  })
})

describe('svc token revoke', () => {
  const revoke = (token: string) => hub.admin.revokeToken({ token })

  test('[TOK-8] ends a token that is named by its text, its id or its host, once', async () => {
    for (const nameOf of [
      (token: string) => token,
      (token: string) => hashToken(token).slice(0, 8),
      () => 'revoked',
    ]) {
      const { token } = await hub.admin.createToken({ hostname: 'revoked', role: 'web' })
      const seq = await lastSeq(store.reader)
      const { expires_at } = await revoke(nameOf(token))
      assert.equal(expires_at, '2026-11-21T10:00:00.123Z')
      assert.deepEqual((await store.reader.findToken(hashToken(token)))?.endedAt, NOW)
      await revoke(hashToken(token))
      const token_id = hashToken(token).slice(0, 16)
      assert.deepEqual(await readActs(store.reader, seq), [
        ['token_revoked', { actor: 'admin', token_id, hostname: 'revoked' }],
      ])
    }
  })

  test('[TOK-8] takes one that is named in two ways for one', async () => {
    const hash = 'deadbeef'.repeat(8) as TokenHash
    await insertToken(store, { hash, expectedHostname: 'deadbeef' as Hostname })
    assert.equal((await revoke('deadbeef')).id, 'deadbeefdeadbeef')
  })

  test('[TOK-8] refuses what was used, what is unknown, and what names several; no text of a token is repeated', async () => {
    const used = await insertToken(store, { consumedAt: NOW })
    await assert.rejects(revoke(used.hash), {
      code: 'token_consumed',
      message: 'somebody has already used the token',
    })
    await assert.rejects(revoke('svct_secret'), {
      code: 'token_not_found',
      message: 'no token of that text',
    })
    await assert.rejects(revoke('1234567'), { message: 'no token 1234567' })
    const expectedHostname = 'several' as Hostname
    await insertToken(store, { expectedHostname })
    await insertToken(store, { expectedHostname, expiresAt: LATER })
    await assert.rejects(revoke('several'), {
      code: 'token_ambiguous',
      message: 'several names more than one token',
    })
  })

  test('[LBL-4] [LBL-3] has labels for its host, which the log names, and the list', async () => {
    const seq = await lastSeq(store.reader)
    const labels = { env: 'prod', canary: '' }
    const made = await hub.admin.createToken({ hostname: 'labelled', role: 'web', labels })
    assert.deepEqual(made.labels, ['canary=', 'env=prod'])
    const { tokens } = await hub.admin.listTokens({ limit: 1 })
    assert.deepEqual(tokens[0]?.labels, ['canary=', 'env=prod'])
    const [[, payload] = []] = await readActs(store.reader, seq)
    assert.deepEqual((payload as { labels: unknown }).labels, labels)
    const refused = { hostname: 'refused', role: 'web', labels: { 'host.os': 'plan9' } }
    await assert.rejects(hub.admin.createToken(refused), { code: 'label_invalid' })
    const many = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`k${at}`, '']))
    await insertAgent(store, 'full')
    await hub.admin.labelAgents({ agente: 'full', set: many })
    const again = { hostname: 'full', role: 'web', reenroll: true }
    await hub.admin.createToken({ ...again, labels: { k1: 'v' } })
    await assert.rejects(hub.admin.createToken({ ...again, labels }), {
      code: 'labels_too_many',
      message: 'full would have 34 labels, and may have 32',
    })
  })
})
