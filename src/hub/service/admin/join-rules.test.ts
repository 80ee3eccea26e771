import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { LATER, NOW } from '../../../../test/store/store-samples.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { type ToldAdmin, openAdmin } from '../../../../test/support/told-admin.ts'
import type { JoinRuleId } from '../../../protocol/identifiers.ts'
import { hashToken } from '../../domain/hash-token.ts'
import type { Store } from '../../store/store.ts'
import { emptyPolicy } from '../policy/parse-policy.ts'

const ASKED = {
  method: 'token',
  pattern: 'web-*.example.org',
  role: 'web',
  hosts_max: 40,
} as const

let store: Store & AsyncDisposable
let hub: ToldAdmin

before(async () => {
  store = await openTemporaryStore()
  hub = openAdmin(store)
})
after(() => store[Symbol.asyncDispose]())

describe('a join rule that is made', () => {
  test('[JNR-1] [JNR-2] [JNR-10] [JNR-11] shows its token once, and is kept and recorded without it', async () => {
    const seq = await lastSeq(store.reader)
    const {
      token = '',
      agent_command,
      ...shown
    } = await hub.admin.createJoinRule({
      ...ASKED,
      name: 'web-images',
      silent_seconds: 172_800,
      labels: { env: 'prod' },
    })
    assert.match(token, /^svcj_[A-Za-z0-9_-]{43}$/)
    assert.equal(
      agent_command,
      `SVC_SERVER_URL=https://hub.test:8444 SVC_SERVER_MTLS_URL=https://hub.test:8443 SVC_AGENT_ROLE=web SVC_ENROLL_TOKEN=${token} svc-agent enroll`,
    )
    const { id } = shown
    assert.match(id, /^[0-9a-f]{16}$/)
    assert.deepEqual(shown, {
      id,
      name: 'web-images',
      method: 'token',
      jwt: null,
      x5c: null,
      tpm: null,
      ssh: null,
      role: 'web',
      pattern: 'web-*.example.org',
      labels: ['env=prod'],
      state: 'open',
      hosts: 0,
      hosts_max: 40,
      silent_seconds: 172_800,
      created_at: '2026-11-21T10:00:00.123Z',
      expires_at: '2026-11-28T10:00:00.123Z',
      ended_at: null,
    })
    assert.equal((await store.reader.findJoinRuleByToken(hashToken(token)))?.id, id)
    assert.deepEqual(await readActs(store.reader, seq), [
      [
        'join_rule_created',
        {
          actor: 'admin',
          join_rule_id: id,
          join_rule: 'web-images',
          method: 'token',
          role: 'web',
          pattern: 'web-*.example.org',
          hosts_max: 40,
          silent_seconds: 172_800,
          expires_at: '2026-11-28T10:00:00.123Z',
          labels: { env: 'prod' },
        },
      ],
    ])
    for (const name of ['web-images', id]) {
      assert.deepEqual(await hub.admin.showJoinRule({ join_rule: name }), shown)
    }
    await assert.rejects(hub.admin.showJoinRule({ join_rule: token }), {
      code: 'join_rule_not_found',
      message: 'no join rule by the text of its token',
    })
  })

  test('[JNR-1] [JNR-3] is refused for a name in force and for what is no pattern', async () => {
    await hub.admin.createJoinRule({ ...ASKED, name: 'once' })
    await assert.rejects(hub.admin.createJoinRule({ ...ASKED, name: 'once' }), {
      code: 'join_rule_exists',
      message: 'a join rule named once exists',
    })
    await assert.rejects(hub.admin.createJoinRule({ ...ASKED, name: 'bad', pattern: 'web-*' }), {
      code: 'pattern_invalid',
      message: 'web-* must end in a domain without *',
    })
  })

  test('[JNR-5] lives as long as politica and role of the caller allow', async () => {
    const policy = { ...emptyPolicy('short'), name: 'brief', tokenTtlSecondsMax: 86_400 }
    await store.write((writer) => writer.setPolicy(policy))
    let count = 0
    const lifeOf = async (by: 'admin' | 'operator', role: string, ttl?: number) => {
      const name = `life-${(count += 1)}`
      const wanted = ttl === undefined ? {} : { ttl_seconds: ttl }
      const asked = { ...ASKED, name, role, ...wanted }
      const { expires_at } = await hub.as(by).createJoinRule(asked)
      return (Date.parse(expires_at) - NOW.getTime()) / 1000
    }
    assert.equal(await lifeOf('admin', 'web', 7_776_000), 7_776_000)
    assert.equal(await lifeOf('operator', 'web'), 604_800)
    assert.equal(await lifeOf('admin', 'short'), 86_400)
    await assert.rejects(lifeOf('operator', 'web', 604_801), {
      code: 'ttl_too_long',
      message: 'a join rule for role web lives 7d at most when a token of role operator makes it',
    })
    await assert.rejects(lifeOf('admin', 'short', 86_401), {
      code: 'ttl_too_long',
      message: 'a join rule for role short lives 1d at most: policy brief',
    })
  })
})

describe('a join rule that is there', () => {
  test('[JNR-10] [JNR-12] ends once; its name is free again, and names the newest', async () => {
    const { id: first } = await hub.admin.createJoinRule({ ...ASKED, name: 'ends' })
    const seq = await lastSeq(store.reader)
    const ended = await hub.as('operator').endJoinRule({ join_rule: 'ends' })
    assert.equal(ended.state, 'ended')
    assert.equal(ended.ended_at, '2026-11-21T10:00:00.123Z')
    await hub.admin.endJoinRule({ join_rule: 'ends' })
    assert.deepEqual(await readActs(store.reader, seq), [
      ['join_rule_ended', { actor: 'token:ci', join_rule_id: first, join_rule: 'ends', hosts: 0 }],
    ])
    const { id: second } = await hub.admin.createJoinRule({ ...ASKED, name: 'ends' })
    assert.equal((await hub.admin.showJoinRule({ join_rule: 'ends' })).id, second)
    assert.equal((await hub.admin.showJoinRule({ join_rule: first })).state, 'ended')
    await assert.rejects(hub.admin.endJoinRule({ join_rule: 'nobody' }), {
      code: 'join_rule_not_found',
    })
  })

  test('[JNR-1] [JNR-11] is listed with how many joined, newest first, page by page', async () => {
    const { id } = await hub.admin.createJoinRule({ ...ASKED, name: 'listed', hosts_max: 1 })
    const hash = hashToken('used')
    await store.write((writer) =>
      writer.insertToken({
        hash,
        expectedHostname: 'web-1.example.org' as never,
        expectedRole: 'web',
        createdAt: NOW,
        expiresAt: LATER,
        consumedAt: NOW,
        endedAt: null,
        isReenrollment: false,
        isOperators: false,
        mismatches: 0,
        labels: new Map(),
        joinRuleId: id as JoinRuleId,
        replay: null,
      }),
    )
    const first = await hub.admin.listJoinRules({ limit: 1 })
    assert.deepEqual(
      first.join_rules.map(({ name, state, hosts, hosts_max }) => [name, state, hosts, hosts_max]),
      [['listed', 'full', 1, 1]],
    )
    assert.equal(first.next, id)
    const second = await hub.admin.listJoinRules({ limit: 1, after: id })
    assert.equal(second.join_rules[0]?.name, 'ends')
    const { hosts } = await hub.admin.listJoinedHosts({ join_rule: 'listed' })
    assert.deepEqual(hosts, [
      {
        id: hash.slice(0, 16),
        hostname: 'web-1.example.org',
        joined_at: '2026-11-21T10:00:00.123Z',
        agente_id: null,
        last_contact_at: null,
        revoked_at: null,
      },
    ])
    await assert.rejects(hub.admin.listJoinedHosts({ join_rule: 'listed', after: 'x' }), {
      code: 'cursor_unknown',
    })
  })
})
