// What people get, read back by what reads it: the rules of Slack, Microsoft's library of cards.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readTeamsMessage } from '../../../test/support/adaptive-card.ts'
import { HOSTILE_TEXTS } from '../../../test/support/hostile-texts.ts'
import {
  lateMessage,
  messageOf,
  NOTICES,
  SOME_AGENT,
} from '../../../test/support/notice-samples.ts'
import { readSlackMessage } from '../../../test/support/slack-form.ts'
import { testMessage, type WebhookMessage } from './webhook-message.ts'
import type { WebhookId } from '../../protocol/identifiers.ts'
import { mailText, readSmtpAnswer } from './mail-message.ts'
import { composeDigest, type NoticeSource } from './notice-digest.ts'
import { readSlackAnswer, slackMessage } from './slack-message.ts'
import { readTeamsAnswer, teamsMessage } from './teams-message.ts'

const HOST_PAGE = `https://hub.example.org:8445/console/hosts/${SOME_AGENT}`

function digestOf(messages: readonly WebhookMessage[], source: NoticeSource = NOTICES) {
  return composeDigest(messages, source)
}

/** A hub's act, an agent's event and a type of an agent's own, all of them made of one text. */
function hostileMessages(text: string): WebhookMessage[] {
  const payload = {
    hostname: text,
    nome: text,
    erro: text,
    reason: text,
    actor: text,
    origin: text,
  }
  return [
    messageOf(1, 'certificate_late', payload),
    messageOf(2, 'entrega_falhou', payload, { agente_id: SOME_AGENT, hostname: text }),
    messageOf(3, 'admin_refused', payload),
    messageOf(4, 'webhook_disabled', payload),
    messageOf(5, text, payload, { agente_id: SOME_AGENT, hostname: text }),
  ]
}

describe('[WHK-28] a digest', () => {
  test('of one entry is that entry', () => {
    const digest = digestOf([lateMessage(7)])
    assert.deepEqual(digest, {
      title: 'Certificate is late: web-7',
      groups: [
        {
          title: 'Certificate is late',
          lines: [
            {
              sentence:
                'web-7 has not renewed its identity since 2026-11-21 06:00 UTC; it ends at 2026-11-21 12:00 UTC.',
              link: { url: HOST_PAGE, label: 'web-7' },
            },
          ],
          more: undefined,
        },
      ],
      notes: ['hub.example.org, entry 7 of its log'],
    })
  })

  test('of many says how many more there are of the same, and of other kinds', () => {
    const late = Array.from({ length: 40 }, (_, at) => lateMessage(at + 1))
    const others = ['carga_created', 'rollout_frozen', 'agent_revoked', 'freeze_set']
      .concat(['hub_joined', 'log_archived', 'policy_x', 'bundle_changed'])
      .map((type, at) => messageOf(100 + at, type, {}))
    const { title, groups, notes } = digestOf([...late, ...others])
    assert.equal(title, 'Certificate is late: 40 entries, and 8 of other kinds')
    assert.deepEqual(
      groups.map((group) => [group.title, group.lines.length, group.more]),
      [
        ['Certificate is late', 3, 'and 37 more of the same'],
        ['Rollout frozen', 1, undefined],
        ['Host revoked', 1, undefined],
        ['Cargo made', 1, undefined],
        ['Changes frozen', 1, undefined],
        ['Hub joined', 1, undefined],
      ],
    )
    assert.deepEqual(notes, [
      'and 3 of other kinds',
      'hub.example.org, entries 1 to 107 of its log',
    ])
  })

  test('has no links where nobody said where the console is', () => {
    const digest = digestOf([lateMessage(7)], { ...NOTICES, consoleUrl: undefined })
    assert.equal(digest.groups[0]?.lines[0]?.link, undefined)
    for (const text of [slackMessage(digest), teamsMessage(digest), mailText(digest).text]) {
      assert.doesNotMatch(text.replace('http://adaptivecards.io/schemas', ''), /https?:/)
    }
  })

  test('of a test says that it is one', () => {
    const message = testMessage('x' as WebhookId, '2026-11-21T12:00:00.000000Z')
    const { title, groups } = digestOf([message])
    assert.equal(title, 'Test')
    assert.equal(groups.length, 1)
    readSlackMessage(slackMessage(digestOf([message])))
    readTeamsMessage(teamsMessage(digestOf([message])))
    // An agent may send an event of that type, which is none.
    const sender = { agente_id: SOME_AGENT, hostname: 'web-1' }
    const forged = digestOf([messageOf(9, 'webhook_test', {}, sender)])
    assert.match(forged.groups[0]?.lines[0]?.sentence ?? '', /^The agent of web-1 sent an event/)
  })
})

describe('a digest in each form', () => {
  const digest = digestOf([lateMessage(7), lateMessage(8), messageOf(9, 'rollout_frozen', {})])

  test('[WHK-29] Slack', () => {
    const { fallback, texts, urls } = readSlackMessage(slackMessage(digest))
    assert.match(
      fallback,
      /^Certificate is late: 2 entries, and 1 of other kinds\nCertificate is late\nweb-7 has/,
    )
    assert.match(texts[0] ?? '', /^Certificate is late\nweb-7 has .*\nweb-8 has/)
    assert.deepEqual(urls, [HOST_PAGE, HOST_PAGE, 'https://hub.example.org:8445/console/audit/9'])
  })

  test('[WHK-30] Teams', () => {
    const { texts, urls } = readTeamsMessage(teamsMessage(digest))
    assert.equal(texts[0], 'Certificate is late: 2 entries, and 1 of other kinds')
    assert.match(texts[2] ?? '', /^web-7 has not renewed/)
    assert.ok(urls.includes(HOST_PAGE))
  })

  test('[WHK-31] mail', () => {
    const { subject, text } = mailText(digest)
    assert.equal(subject, 'Certificate is late: 2 entries, and 1 of other kinds')
    assert.match(
      text,
      /^Certificate is late\n {2}web-7 has .*\n {2}https:\/\/hub\.example\.org:8445\/console\/hosts\//,
    )
  })
})

describe(`[WHK-32] ${HOSTILE_TEXTS.length} hostile texts`, () => {
  test('are text to Slack', () => {
    for (const text of HOSTILE_TEXTS) {
      const digest = digestOf(hostileMessages(text))
      const { texts, urls } = readSlackMessage(slackMessage(digest))
      const shown = texts.join('\n')
      for (const { lines } of digest.groups) {
        for (const { sentence } of lines) assert.ok(shown.includes(sentence), sentence)
      }
      for (const url of urls) assert.ok(url.startsWith('https://hub.example.org:8445/console/'))
    }
  })

  test('are text to Teams', () => {
    for (const text of HOSTILE_TEXTS) {
      const digest = digestOf(hostileMessages(text))
      const { texts, urls } = readTeamsMessage(teamsMessage(digest))
      for (const { lines } of digest.groups) {
        for (const { sentence } of lines) {
          assert.ok(
            texts.some((run) => run.trim() === sentence),
            sentence,
          )
        }
      }
      for (const url of urls) assert.ok(url.startsWith('https://hub.example.org:8445/console/'))
    }
  })

  test('keep a mail’s subject to one line, and its lines to themselves', () => {
    for (const text of HOSTILE_TEXTS) {
      const mail = mailText(digestOf(hostileMessages(text)))
      assert.doesNotMatch(mail.subject, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
      assert.ok(Array.from(mail.subject).length <= 150)
      assert.doesNotMatch(mail.text, /[^\P{Cc}\n]/u)
    }
  })

  test('are within the bounds of each form however many there are', () => {
    for (const text of [
      '\u{1f480}'.repeat(200),
      '&'.repeat(200),
      '"\\'.repeat(200),
      'é'.repeat(200),
    ]) {
      const types = ['certificate_late', 'rollout_frozen', 'agent_revoked', 'join_refused'].concat([
        'admin_refused',
        'identity_used_twice',
        'webhook_disabled',
        'hub_joined',
      ])
      const fields = { hostname: text, nome: text, reason: text, erro: text, addresses: [text] }
      const messages = types.flatMap((type) =>
        Array.from({ length: 100 }, (_, at) => messageOf(at + 1, type, fields)),
      )
      readSlackMessage(slackMessage(digestOf(messages)))
      readTeamsMessage(teamsMessage(digestOf(messages)))
      assert.ok(mailText(digestOf(messages)).text.length < 16 * 1024)
    }
  })
})

describe('what answers mean', () => {
  test('[WHK-29] Slack', () => {
    assert.deepEqual(readSlackAnswer(404, 'no_service'), { kind: 'gone', reason: 'no_service' })
    assert.deepEqual(readSlackAnswer(403, 'action_prohibited\n')?.kind, 'gone')
    assert.deepEqual(readSlackAnswer(400, 'invalid_payload')?.kind, 'refused')
    for (const [status, body] of [
      [404, '<html>not here</html>'],
      [429, 'rate_limited'],
      [500, 'no_service'],
      [200, 'no_service'],
      [404, undefined],
    ] as const) {
      assert.equal(readSlackAnswer(status, body), undefined, `${status} ${body}`)
    }
  })

  test('[WHK-30] Teams', () => {
    const said = (code: unknown) => JSON.stringify({ error: { code, message: 'x' } })
    assert.equal(readTeamsAnswer(404, said('WorkflowNotFound'))?.kind, 'gone')
    assert.equal(readTeamsAnswer(400, said('WorkflowTriggerIsNotEnabled'))?.kind, 'gone')
    assert.equal(readTeamsAnswer(400, said('TriggerInputSchemaMismatch'))?.kind, 'refused')
    for (const body of ['', 'null', '[]', '{"error":null}', said(7), said('Other'), undefined]) {
      assert.equal(readTeamsAnswer(400, body), undefined, body)
    }
    assert.equal(readTeamsAnswer(502, said('WorkflowNotFound')), undefined)
  })

  test('[WHK-31] SMTP', () => {
    assert.equal(readSmtpAnswer(535, true), 'gone')
    assert.equal(readSmtpAnswer(550, false), 'refused')
    for (const status of [421, 450, 452, 503]) {
      assert.equal(readSmtpAnswer(status, false), undefined)
    }
    assert.equal(readSmtpAnswer(454, true), undefined)
  })
})
