import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { build } from 'esbuild'
import { HOSTILE_TEXTS } from '../../test/support/hostile-texts.ts'
import { EventType, HubEventType } from '../protocol/words.ts'
import { describeEntry, type DescribableEntry } from './describe-entry.ts'
import { ENGLISH } from './english.ts'
import { URGENT_TYPES } from './entry-kinds.ts'

const AGENT = '5c1b0e7d-2f3a-4968-8d0c-1b2a3f4e5d6c'
const OTHER = '00000000-0000-4000-8000-000000000001'
const PATH =
  /^(\/(hosts|cargo|webhooks)\/[0-9a-f]{8}-[0-9a-f-]{27}|\/audit\/\d+|\/(roots|revocations|access))$/
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

const ALL_TYPES = [
  ...Object.values(EventType).map((type) => ({ type, agentId: AGENT, hostname: 'web-1' })),
  ...Object.values(HubEventType).map((type) => ({ type, agentId: null, hostname: null })),
]
/** Whatever an entry may name. */
const FIELDS =
  `actor hostname agente_id nome carga_nome carga_id webhook_id origin erro reason why motivo hook alvo step role name
  join_rule where address to host hub recovery_key kind not_after late_since until backup_created_at numero count wave hosts desde ate
  entries`.split(/\s+/)

function say(entry: Partial<DescribableEntry>) {
  const whole = { seq: 7, type: '', payload: {}, agentId: null, hostname: null, ...entry }
  return describeEntry(whole, ENGLISH)
}

describe('[WHK-32] an entry in one sentence', () => {
  for (const [entry, sentence, path] of [
    [
      {
        type: 'certificate_late',
        payload: {
          agente_id: AGENT,
          hostname: 'web-1',
          purpose: 'identity',
          nome: null,
          late_since: '2026-11-21T06:00:00.000Z',
          not_after: '2026-11-21T12:00:00.000Z',
        },
      },
      'web-1 has not renewed its identity since 2026-11-21 06:00 UTC; it ends at 2026-11-21 12:00 UTC.',
      `/hosts/${AGENT}`,
    ],
    [
      {
        type: 'recipient_changed',
        payload: { agente_id: AGENT, hostname: 'web-1', from: null, to: 'SHA256:b' },
      },
      'web-1 has a key for sealed files now.',
      `/hosts/${AGENT}`,
    ],
    [
      {
        type: 'recipient_changed',
        payload: { agente_id: AGENT, hostname: 'web-1', from: 'SHA256:a', to: 'SHA256:b' },
      },
      'web-1 has another key for sealed files now.',
      `/hosts/${AGENT}`,
    ],
    [
      {
        type: 'recipient_changed',
        payload: { agente_id: AGENT, hostname: 'web-1', from: 'SHA256:a', to: null },
      },
      'web-1 has no key for sealed files any more.',
      `/hosts/${AGENT}`,
    ],
    [
      {
        type: 'entrega_falhou',
        agentId: AGENT,
        hostname: 'web-1',
        payload: { erro: 'no space left.' },
      },
      'web-1 could not install a delivery: no space left.',
      `/hosts/${AGENT}`,
    ],
    [
      {
        type: 'certificate_not_revoked_at_ca',
        payload: { agente_id: AGENT, hostname: 'web-1', reason: 'answered 501' },
      },
      'The CA did not revoke a certificate of web-1, which the hub has revoked: answered 501.',
      '/revocations',
    ],
    [
      { type: 'agent_revoked', payload: { agente_id: AGENT, hostname: 'web-1', actor: 'maria' } },
      'maria revoked web-1: its certificates no longer count.',
      `/hosts/${AGENT}`,
    ],
    [
      {
        type: 'rollout_frozen',
        payload: {
          kind: 'load',
          carga_id: OTHER,
          nome: 'nginx',
          wave: 2,
          reason: '3 hosts failed',
        },
      },
      'The rollout of nginx stopped in wave 2: 3 hosts failed.',
      `/cargo/${OTHER}`,
    ],
    [
      {
        type: 'admin_refused',
        payload: { actor: 'unknown', reason: 'token_invalid', address: '203.0.113.9', count: 12 },
      },
      'The admin port refused unknown at 203.0.113.9: token_invalid (12 times).',
      '/access',
    ],
  ] as const) {
    test(entry.type, () => {
      const said = say(entry)
      assert.equal(said.sentence, sentence)
      assert.equal(said.path, path)
    })
  }

  test('says times in the zone of who reads, where that is known', () => {
    const entry = {
      seq: 7,
      type: 'server_certificate_issued',
      payload: { not_after: '2026-11-21T12:00:00.000Z' },
      agentId: null,
      hostname: null,
    }
    const momentOf = (at: Date): string => `${at.getUTCHours() - 3} o’clock`
    assert.equal(
      describeEntry(entry, { ...ENGLISH, momentOf }).sentence,
      'The CA issued the hub a certificate of its own; it ends at 9 o’clock.',
    )
  })

  test('has a title and a sentence for each type, whatever is missing', () => {
    for (const entry of ALL_TYPES) {
      for (const payload of [{}, null, 'text', [], { nome: 7, count: 'x', agentes: 'x' }]) {
        const { title, sentence, path } = say({ ...entry, payload })
        assert.match(title, /^[A-Z][A-Za-z -]{2,40}$/, entry.type)
        assert.match(sentence, /^\S.*\.$/, entry.type)
        assert.doesNotMatch(sentence, /undefined|null|NaN|\[object|\.\.|\s\.| {2}/, sentence)
        assert.match(path, PATH)
      }
    }
  })

  test('titles are apart: what has one title is one kind', () => {
    const titles = ALL_TYPES.map((entry) => say(entry).title)
    assert.equal(new Set(titles).size, titles.length)
  })

  test('calls a carga cargo, as the console does, and by no second word', () => {
    const made = say({ type: 'carga_created', payload: { actor: 'maria', nome: 'site' } })
    assert.deepEqual([made.title, made.sentence], ['Cargo made', 'maria made the cargo site.'])
    for (const entry of ALL_TYPES) {
      const { title, sentence } = say({ ...entry, payload: {} })
      assert.doesNotMatch(`${title} ${sentence}`, /\bloads?\b/i, entry.type)
    }
  })

  test('of an agent is about that agent, whatever it says', () => {
    const payload = { hostname: 'db-1', agente_id: OTHER, erro: 'x' }
    const said = say({ type: 'entrega_falhou', agentId: AGENT, hostname: 'web-1', payload })
    assert.deepEqual(
      [said.subject, said.path, said.severity],
      ['web-1', `/hosts/${AGENT}`, 'urgent'],
    )
    assert.match(said.sentence, /^web-1 /)
  })

  test('of an agent that speaks for the hub is no act of the hub, and calls nobody', () => {
    for (const type of Object.values(HubEventType)) {
      const said = say({ type, agentId: AGENT, hostname: 'web-1', payload: { hostname: 'db-1' } })
      assert.equal(said.severity, 'routine')
      assert.equal(said.sentence, `The agent of web-1 sent an event that it calls ${type}.`)
    }
    const unknown = say({ type: 'backup_done', agentId: AGENT, payload: {} })
    assert.equal(unknown.sentence, `The agent of ${AGENT} sent an event that it calls backup_done.`)
    assert.match(say({ type: 'from_later' }).sentence, /which this program does not know/)
    assert.equal(say({ type: 'constructor', agentId: AGENT }).title, 'Other event')
  })

  test('the urgent types are those that fail, are late, are refused or revoked', () => {
    for (const type of ['certificate_late', 'entrega_falhou', 'rollout_frozen', 'agent_revoked']) {
      assert.ok((URGENT_TYPES as readonly string[]).includes(type), type)
    }
    for (const type of ['cert_renewed', 'agent_started', 'carga_created', 'rollout_done']) {
      assert.ok(!(URGENT_TYPES as readonly string[]).includes(type), type)
    }
  })

  test(`shows nothing unseen of ${HOSTILE_TEXTS.length} hostile texts, in any field of any type`, () => {
    assert.ok(HOSTILE_TEXTS.length >= 200)
    for (const text of HOSTILE_TEXTS) {
      const fields = Object.fromEntries(FIELDS.map((field) => [field, text]))
      const payload = { ...fields, agentes: [text, text], addresses: [text] }
      for (const entry of ALL_TYPES) {
        const hostname = entry.hostname === null ? null : text
        const { sentence, subject, path } = say({ ...entry, hostname, payload })
        for (const shown of [sentence, subject ?? '']) {
          assert.doesNotMatch(shown, UNSEEN)
          assert.ok(Array.from(shown).length <= 300)
          assert.ok(shown.length < 2000, 'marks pile up')
        }
        assert.match(path, PATH)
      }
    }
  })

  test('is said by a browser too', async () => {
    const built = await build({
      stdin: {
        contents: `export { describeEntry } from './describe-entry.ts'; export { ENGLISH } from './english.ts'`,
        resolveDir: join(import.meta.dirname),
        loader: 'ts',
      },
      bundle: true,
      minify: true,
      platform: 'browser',
      format: 'esm',
      write: false,
    })
    const [file] = built.outputFiles
    assert.ok(file !== undefined && file.contents.length < 32 * 1024)
  })
})
