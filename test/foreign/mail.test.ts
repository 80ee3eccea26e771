// What the hub mails, taken by a server of others (aiosmtpd), and read by Python's own library of mails.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { decideMailUrl } from '../../src/hub/domain/mail-address.ts'
import { createAddressLookup } from '../../src/hub/outbound/address-lookup.ts'
import { openMailConnection } from '../../src/hub/webhook/mail-connection.ts'
import { createMailDelivery } from '../../src/hub/webhook/mail-delivery.ts'
import { Secret } from '../../src/platform/secret.ts'
import { ensureAiosmtpd } from '../../tools/install-aiosmtpd.ts'
import { createFakeCa } from '../fakes/hub-certificates.ts'
import { lateMessage, messageOf, NOTICES } from '../support/notice-samples.ts'

const SERVE = `
import asyncio, email, email.policy, json, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult
class Keeper:
    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        print(json.dumps({'from': envelope.mail_from, 'to': envelope.rcpt_tos, 'subject': mail['subject'],
            'headers': sorted(key.lower() for key in mail.keys()), 'defects': [str(d) for d in mail.defects],
            'text': mail.get_content(), 'tls': session.ssl is not None, 'login': session.authenticated}), flush=True)
        return '250 2.0.0 taken'
def authenticate(server, session, envelope, mechanism, data):
    is_right = data.login == b'hub' and data.password == b'right pass'
    return AuthResult(success=is_right, handled=False)
async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    make = lambda: SMTP(Keeper(), hostname='localhost', tls_context=context, require_starttls=True,
        auth_required=True, authenticator=authenticate)
    server = await asyncio.get_running_loop().create_server(make, '127.0.0.1', 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
`

const python = await ensureAiosmtpd()
const skip = python === undefined && 'aiosmtpd could not be installed'

test(
  '[WHK-31] a mail is taken by another server, and read by another library',
  { skip },
  async () => {
    await using closing = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'mail-'))
    closing.defer(() => rm(directory, { recursive: true }))
    const ca = await createFakeCa()
    const pair = await ca.issueServer('localhost')
    const [certificatePath, keyPath] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
    await writeFile(certificatePath, pair.certificatePem)
    await writeFile(keyPath, pair.keyPem, { mode: 0o600 })
    const server = spawn(python ?? '', ['-W', 'ignore', '-c', SERVE, certificatePath, keyPath], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    closing.defer(async () => {
      server.kill('SIGKILL')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    })
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
    const nextLine = async (): Promise<string> => String((await lines.next()).value)
    const port = await nextLine()

    const query = 'from=hub@example.org&to=oncall@example.org'
    const verdict = decideMailUrl(`smtp+tls://hub@localhost:${port}?${query}`)
    assert.ok(verdict.ok)
    const connection = openMailConnection({
      receiver: verdict.receiver,
      rootsPem: [ca.rootPem],
      lookup: createAddressLookup(),
      hostname: NOTICES.hostname,
    })
    const deliver = (password: string, reason: string) =>
      createMailDelivery({ connection, password: new Secret(password), notices: NOTICES }).deliver(
        [lateMessage(1), lateMessage(2, `é ${reason}`), messageOf(3, 'rollout_frozen', { reason })],
        AbortSignal.timeout(60_000),
      )
    for (const reason of ['disk full', '\u{1f480} ä', 'a\r\n.\r\nb', '.', 'x'.repeat(300)]) {
      assert.deepEqual(await deliver('right pass', reason), { kind: 'delivered', status: 250 })
      const mail = JSON.parse(await nextLine()) as Record<string, unknown>
      assert.deepEqual(
        [mail['from'], mail['to'], mail['tls'], mail['login'], mail['defects']],
        ['hub@example.org', ['oncall@example.org'], true, true, []],
      )
      assert.equal(mail['subject'], 'Certificate is late: 2 entries, and 1 of other kinds')
      assert.match(String(mail['text']), /^Certificate is late\n {2}web-1 has not .*\n.*\n {2}é /)
      assert.match(String(mail['text']), /\nhub\.example\.org, entries 1 to 3 of its log\n$/)
      assert.deepEqual(mail['headers'], [
        'auto-submitted',
        'content-transfer-encoding',
        'content-type',
        'date',
        'from',
        'message-id',
        'mime-version',
        'subject',
        'to',
        'x-auto-response-suppress',
      ])
    }
    const wrong = await deliver('wrong pass', 'x')
    assert.deepEqual([wrong.kind, wrong.status], ['gone', 535])
  },
)
