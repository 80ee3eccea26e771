// Mails to a real server of SMTP, and to fakes that misbehave.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createFakeCa, type FakeCa } from '../../../test/fakes/hub-certificates.ts'
import { HOSTILE_TEXTS } from '../../../test/support/hostile-texts.ts'
import {
  type MailServer,
  type MailServerSettings,
  type ReceivedMail,
  smtpError,
  startMailServer,
} from '../../../test/support/mail-server.ts'
import {
  lateMessage,
  messageOf,
  NOTICES,
  SOME_AGENT,
} from '../../../test/support/notice-samples.ts'
import { waitUntil } from '../../../test/support/processes.ts'
import { Secret } from '../../platform/secret.ts'
import { decideMailUrl, type MailReceiver } from '../domain/mail-address.ts'
import type { WebhookMessage } from '../domain/webhook-message.ts'
import { createAddressLookup, type ResolveName } from '../outbound/address-lookup.ts'
import type { DeliveryOutcome } from './delivery.ts'
import { openMailConnection } from './mail-connection.ts'
import { createMailDelivery } from './mail-delivery.ts'

const closing = new AsyncDisposableStack()
let ca: FakeCa
let pair: { certificatePem: string; keyPem: string }
before(async () => {
  ca = await createFakeCa()
  pair = await ca.issueServer('localhost')
})
after(() => closing.disposeAsync())

async function serve(settings: MailServerSettings = {}): Promise<MailServer> {
  const server = await startMailServer({
    key: pair.keyPem,
    cert: pair.certificatePem,
    ...settings,
  })
  closing.use(server)
  return server
}

interface Sending {
  readonly password?: string
  readonly rootsPem?: readonly string[]
  readonly resolveName?: ResolveName
  readonly messages?: readonly WebhookMessage[]
  readonly signal?: AbortSignal
}

const ADDRESSES = 'from=hub@example.org&to=oncall@example.org'

function receiverAt(url: string): MailReceiver {
  const verdict = decideMailUrl(`${url}?${ADDRESSES}`)
  return verdict.ok ? verdict.receiver : assert.fail(verdict.reason)
}

function send(url: string, sending: Sending = {}): Promise<DeliveryOutcome> {
  const connection = openMailConnection({
    receiver: receiverAt(url),
    rootsPem: sending.rootsPem ?? [ca.rootPem],
    lookup: createAddressLookup(sending.resolveName),
    hostname: NOTICES.hostname,
  })
  const password = new Secret(sending.password ?? '')
  const delivery = createMailDelivery({ connection, password, notices: NOTICES })
  const messages = sending.messages ?? [lateMessage(7)]
  return delivery.deliver(messages, sending.signal ?? AbortSignal.timeout(60_000))
}

/** A server of nothing but lines. */
async function serveLines(behave: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => behave(socket.on('error', () => undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.defer(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('[WHK-31] a mail', () => {
  test('over TLS, with a login, is delivered', async () => {
    const server = await serve({ secure: true, authOptional: false })
    const outcome = await send(`smtps://hub%40example.org@localhost:${server.port}`, {
      password: 'right pass',
    })
    assert.deepEqual(outcome, { kind: 'delivered', status: 250 })
    const [mail, ...others] = server.mails
    assert.ok(mail !== undefined && others.length === 0)
    assert.deepEqual(
      [mail.from, mail.to, mail.user, mail.isEncrypted],
      ['hub@example.org', ['oncall@example.org'], 'hub@example.org', true],
    )
    const { subject, text, messageId, headers } = mail.parsed
    assert.equal(subject, 'Certificate is late: web-7')
    assert.match(text ?? '', /^Certificate is late\n {2}web-7 has not renewed its identity since/)
    assert.ok(text?.includes(`https://hub.example.org:8445/console/hosts/${SOME_AGENT}`))
    assert.equal(messageId, `<${'7'.padStart(32, '0')}@hub.example.org>`)
    const said = headers.find(({ key }) => key === 'auto-submitted')
    assert.equal(said?.value, 'auto-generated')
  })

  test('with STARTTLS is sent encrypted, and nothing of it before', async () => {
    const server = await serve({ authOptional: false })
    const url = `smtp+tls://hub@localhost:${server.port}`
    assert.equal((await send(url, { password: 'right pass' })).kind, 'delivered')
    assert.deepEqual(
      server.mails.map(({ isEncrypted, user }) => [isEncrypted, user]),
      [[true, 'hub']],
    )
  })

  test('is not sent where STARTTLS is not offered', async () => {
    const server = await serve({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
    const outcome = await send(`smtp+tls://hub@localhost:${server.port}`, {
      password: 'right pass',
    })
    assert.notEqual(outcome.kind, 'delivered')
    assert.equal(server.mails.length, 0)
  })

  test('of a server whose certificate leads to no root, or is of another name, is not sent', async () => {
    const tls = await serve({ secure: true })
    const starttls = await serve()
    for (const url of [`smtps://localhost:${tls.port}`, `smtp+tls://localhost:${starttls.port}`]) {
      const { kind, ...rest } = await send(url, { rootsPem: [] })
      assert.equal(kind, 'failed')
      assert.match(
        JSON.stringify(rest),
        /the server’s certificate is not one that the hub takes: [A-Z_]+"/,
      )
    }
    const elsewhere: ResolveName = async () => [{ address: '127.0.0.1', family: 4 }]
    const other = await send(`smtps://mail.example.org:${tls.port}`, { resolveName: elsewhere })
    assert.match(
      JSON.stringify(other),
      /certificate is not one that the hub takes: ERR_TLS_CERT_ALTNAME_INVALID/,
    )
    assert.equal(tls.mails.length + starttls.mails.length, 0)
  })

  test('goes without TLS to this machine alone', async () => {
    const server = await serve({ hideSTARTTLS: true })
    assert.equal((await send(`smtp://localhost:${server.port}`)).kind, 'delivered')
    const elsewhere: ResolveName = async () => [{ address: '10.0.0.8', family: 4 }]
    const moved = await send(`smtp://localhost:${server.port}`, { resolveName: elsewhere })
    assert.match(JSON.stringify(moved), /where the hub does not send/)
  })

  test('goes to no address of the machine’s own neighbourhood, whatever the name says', async () => {
    const metadata: ResolveName = async () => [{ address: '169.254.169.254', family: 4 }]
    const outcome = await send('smtps://mail.example.org', { resolveName: metadata })
    assert.match(JSON.stringify(outcome), /169\.254\.169\.254, where the hub does not send/)
  })

  for (const [name, settings, password, expected] of [
    [
      'a wrong password',
      { authOptional: false },
      'wrong pass',
      { kind: 'gone', status: 535, error: 'answered 535 5.7.8 to AUTH PLAIN' },
    ],
    [
      'a recipient that there is not',
      {
        onRcptTo: (_address: unknown, _session: unknown, done: (error?: Error) => void) =>
          done(smtpError(550, '5.1.1 no such user')),
      },
      'right pass',
      { kind: 'refused', status: 550, error: 'answered 550 5.1.1 to RCPT TO' },
    ],
    [
      'a mailbox that is full for now',
      {
        onRcptTo: (_address: unknown, _session: unknown, done: (error?: Error) => void) =>
          done(smtpError(452, '4.2.2 mailbox full')),
      },
      'right pass',
      {
        kind: 'failed',
        status: 452,
        error: 'answered 452 4.2.2 to RCPT TO',
        retryAfterMs: undefined,
      },
    ],
    [
      'a mail that it will not take',
      { judge: () => smtpError(554, '5.7.1 spam') },
      'right pass',
      { kind: 'refused', status: 554, error: 'answered 554 5.7.1 to DATA' },
    ],
    [
      'a mail that it cannot take now',
      { judge: () => smtpError(451, '4.3.0 later') },
      'right pass',
      { kind: 'failed', status: 451, error: 'answered 451 4.3.0 to DATA', retryAfterMs: undefined },
    ],
  ] as const) {
    test(`knows ${name}, and repeats no words of the server`, async () => {
      const server = await serve({ secure: true, ...settings })
      const url = `smtps://hub@localhost:${server.port}`
      assert.deepEqual(await send(url, { password }), expected)
      assert.equal(server.mails.length, 0)
    })
  }

  for (const [what, words] of [
    ['what it was told', (line: string) => `${line} not known`],
    ['what it was told, after a number that is no code', (line: string) => `5357 ${line}`],
    ['escapes', () => '\u001B]0;words of the server\u0007\u001B[2J'],
    ['digits without end', () => '9'.repeat(400)],
  ] as const) {
    test(`to a server that answers the login with ${what}, not a code, shows nothing of the answer`, async () => {
      const port = await serveLines((socket) => {
        socket.setEncoding('latin1').write('220 hello\r\n')
        socket.on('data', (text: string) => {
          const line = text.trim()
          const isGreeting = line.startsWith('EHLO')
          socket.write(isGreeting ? '250-hello\r\n250 AUTH PLAIN\r\n' : `${words(line)}\r\n`)
        })
      })
      const outcome = await send(`smtp://hub@127.0.0.1:${port}`, { password: 'right pass' })
      assert.deepEqual(outcome, {
        kind: 'failed',
        status: undefined,
        error: 'the server answered something else than SMTP to AUTH PLAIN',
        retryAfterMs: undefined,
      })
    })
  }

  test('to a server that greets with words, or ends in the middle, has failed without them', async () => {
    const greets = await serveLines((socket) => socket.write('words of the server\r\n'))
    const ends = await serveLines((socket) => socket.end('220 hello\r\nwords of the server'))
    for (const port of [greets, ends]) {
      const outcome = await send(`smtp://127.0.0.1:${port}`)
      assert.equal(outcome.kind, 'failed')
      assert.doesNotMatch(JSON.stringify(outcome), /words of the server/)
    }
  })

  test('that nobody takes ends with the signal, and leaves no connection', async () => {
    let hasClosed = false
    const port = await serveLines((socket) => socket.once('close', () => (hasClosed = true)))
    const outcome = send(`smtp://127.0.0.1:${port}`, { signal: AbortSignal.timeout(300) })
    await assert.rejects(outcome, { name: 'TimeoutError' })
    await waitUntil('the connection is closed', () => hasClosed || undefined)
  })

  test('to a server that talks without end, or hangs up, has failed', async () => {
    const endless = await serveLines((socket) => {
      const more = (): void => void (socket.destroyed || socket.write('220-x'.repeat(4096), more))
      more()
    })
    assert.equal((await send(`smtp://127.0.0.1:${endless}`)).kind, 'failed')
    const short = await serveLines((socket) => socket.end('220 hello\r\n'))
    assert.equal((await send(`smtp://127.0.0.1:${short}`)).kind, 'failed')
    const refused = await send('smtp://127.0.0.1:1')
    assert.match(JSON.stringify(refused), /ECONNREFUSED/)
  })

  test(`[WHK-32] of ${HOSTILE_TEXTS.length} hostile texts has no header and no recipient more`, async () => {
    const server = await serve({ hideSTARTTLS: true })
    const plain = await send(`smtp://localhost:${server.port}`)
    assert.equal(plain.kind, 'delivered')
    const keysOf = ({ parsed }: ReceivedMail) => parsed.headers.map(({ key }) => key)
    const [usual] = server.mails.map(keysOf)
    const sendAbout = async (text: string): Promise<void> => {
      const fields = { hostname: text, nome: text, erro: text, reason: text, actor: text }
      const messages = [
        messageOf(1, 'certificate_late', fields),
        messageOf(2, 'entrega_falhou', fields, { agente_id: SOME_AGENT, hostname: text }),
      ]
      const { kind } = await send(`smtp://localhost:${server.port}`, { messages })
      assert.equal(kind, 'delivered', JSON.stringify(text))
    }
    for (let from = 0; from < HOSTILE_TEXTS.length; from += 20) {
      await Promise.all(HOSTILE_TEXTS.slice(from, from + 20).map(sendAbout))
    }
    assert.equal(server.mails.length, HOSTILE_TEXTS.length + 1)
    for (const mail of server.mails.slice(1)) {
      assert.deepEqual(keysOf(mail), usual)
      assert.deepEqual(mail.to, ['oncall@example.org'])
      const { to, subject, text, attachments } = mail.parsed
      assert.deepEqual(
        to?.map(({ address }) => address),
        ['oncall@example.org'],
      )
      assert.doesNotMatch(subject ?? '', /[\p{Cc}\p{Cf}]/u)
      assert.match(text ?? '', /hub\.example\.org, entries 1 to 2 of its log\n$/)
      assert.equal(attachments.length, 0)
    }
  })
})
