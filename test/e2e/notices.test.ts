// What people are told, from end to end: a hub and svc in processes of their own, Slack's rules, and a mail server.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { createFakeCa, type FakeCa } from '../fakes/hub-certificates.ts'
import type { TestHub } from '../support/hub.ts'
import { startMailServer } from '../support/mail-server.ts'
import { waitUntil } from '../support/processes.ts'
import { readSlackMessage, type ReadSlack } from '../support/slack-form.ts'
import { useCa } from '../support/use-hub.ts'

const { startHub } = useCa()
const closing = new AsyncDisposableStack()
let ca: FakeCa
before(async () => {
  ca = await createFakeCa()
})
after(() => closing.disposeAsync())

const CONSOLE = 'https://hub.example.org:8445/console'

async function startReceiver(answer: (url: string) => number) {
  const posts: ReadSlack[] = []
  const server = createServer((request, response) => {
    const receive = async (): Promise<void> => {
      const body = await readText(request)
      const status = answer(request.url ?? '')
      if (status === 200) posts.push(readSlackMessage(body))
      response.writeHead(status).end()
    }
    void receive()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.defer(() => void server.close())
  return { posts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function svc(hub: TestHub, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await hub.svc(...args)
  assert.equal(status, 0, stderr)
  return stdout
}

describe('people', () => {
  test('[WHK-26] [WHK-27] [WHK-29] [WHK-31] [ENV-91] read what they should look at, with a link to it', async () => {
    await using hub = await startHub()
    const rootsPath = join(hub.directory, 'webhook-roots.pem')
    await writeFile(rootsPath, ca.rootPem)
    await hub.stop()
    await hub.start({ SVC_WEBHOOK_CA_PATH: rootsPath, SVC_CONSOLE_URL: `${CONSOLE}/` })
    const pair = await ca.issueServer('localhost')
    const settings = { key: pair.keyPem, cert: pair.certificatePem, authOptional: false }
    await using mail = await startMailServer(settings)
    const slack = await startReceiver((url) => (url === '/gone' ? 410 : 200))

    const passwordFile = join(hub.directory, 'password')
    await writeFile(passwordFile, 'right pass\n', { mode: 0o600 })
    const mailUrl = `smtp+tls://hub@localhost:${mail.port}?from=hub@example.org&to=oncall@example.org`
    const made = JSON.parse(
      await svc(
        hub,
        'webhook',
        'create',
        '--url',
        mailUrl,
        '--password-file',
        passwordFile,
        '--json',
      ),
    ) as { readonly id: string; readonly secret: null }
    assert.equal(made.secret, null)
    const urlFile = join(hub.directory, 'slack-url')
    await writeFile(urlFile, `${slack.url}/services/T/B/x\n`, { mode: 0o600 })
    assert.match(
      await svc(hub, 'webhook', 'create', '--format', 'slack', '--url-file', urlFile),
      /url +slack\+http:\/\/127\.0\.0\.1.*\n(.*\n)*?type.* urgent/,
    )
    await svc(hub, 'webhook', 'test', made.id)
    assert.equal(mail.mails[0]?.parsed.subject, 'Test')

    // Nobody has to look at a token; at a webhook that is gone somebody has.
    const gone = JSON.parse(
      await svc(
        hub,
        'webhook',
        'create',
        '--url',
        `${slack.url}/gone`,
        '--type',
        'token_created',
        '--json',
      ),
    ) as { readonly id: string }
    await hub.createToken({ hostname: 'web-1' })
    const [post, second] = await waitUntil('both to be told', () =>
      slack.posts.length > 0 && mail.mails.length > 1
        ? ([slack.posts[0], mail.mails[1]] as const)
        : undefined,
    )
    assert.deepEqual(post?.texts.slice(0, 1), [
      `Webhook disabled\nThe hub sends nothing more to ${slack.url}: answered 410 Gone.`,
    ])
    assert.deepEqual(post?.urls, [`${CONSOLE}/webhooks/${gone.id}`])
    assert.match(second?.parsed.subject ?? '', /^Webhook disabled: http:/)
    assert.ok(second?.parsed.text?.includes(`  ${CONSOLE}/webhooks/${gone.id}\n`))
    assert.deepEqual([second?.user, second?.isEncrypted], ['hub', true])

    const wrong = await hub.svc(
      'webhook',
      'create',
      '--format',
      'slack',
      '--url',
      'syslog+tls://x.example',
    )
    assert.equal(wrong.status, 1)
    assert.match(wrong.stderr, /--format slack needs an https URL/)
    const listed = await svc(hub, 'webhook', 'list', '--json')
    assert.doesNotMatch(listed + (await svc(hub, 'event', 'list', '--json')), /right pass/)
  })
})
