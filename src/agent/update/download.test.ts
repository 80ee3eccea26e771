import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSecureContext } from 'node:tls'
import { createHttpConnections } from '../hub/http-connections.ts'
import { type Answer, ReleaseServer } from '../../../test/support/release-server.ts'
import { download, parseReleaseUrl, releaseFileUrl } from './download.ts'

const CONTENT = Buffer.from('content')

describe('[UPD-7] a download', () => {
  let server: ReleaseServer
  const connections = createHttpConnections(() => createSecureContext())
  before(async () => {
    server = await ReleaseServer.start()
  })
  after(async () => {
    await connections.destroy()
    await server[Symbol.asyncDispose]()
  })

  const fetchFrom = (answer: Uint8Array | Answer, bytesMax = 1000): Promise<Buffer> => {
    server.offer('x', answer, CONTENT)
    return download(releaseFileUrl(new URL(`${server.httpUrl}/x`), 'svc-agent'), {
      connections,
      userAgent: 'svc-agent/0.0.0',
      bytesMax,
      timeoutMs: 1500,
      silenceMsMax: 700,
    })
  }

  test('is what was served, up to its limit', async () => {
    assert.deepEqual(await fetchFrom(CONTENT, CONTENT.length), CONTENT)
    await assert.rejects(fetchFrom(CONTENT, CONTENT.length - 1), /it is longer than 6 bytes/)
  })

  test('that says nothing, or stops saying anything, is given up', async () => {
    const silent: Answer = () => undefined
    await assert.rejects(fetchFrom(silent), /cannot fetch http:.*svc-agent: /)
    const stopping: Answer = (response) => {
      response.writeHead(200).write('half')
    }
    await assert.rejects(fetchFrom(stopping), /cannot fetch http:.*svc-agent: /)
  })

  test('that comes byte by byte is given up in time', async () => {
    const dripping: Answer = (response) => {
      const timer = setInterval(() => response.write('.'), 50)
      response.on('close', () => clearInterval(timer))
    }
    await assert.rejects(fetchFrom(dripping), /svc-agent: it took too long$/)
  })

  test('is not decoded on the way', async () => {
    const claiming: Answer = (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(CONTENT)
    assert.deepEqual(await fetchFrom(claiming), CONTENT)
  })
})

test('[UPD-1] [UPD-7] a release is fetched over https, or from this host', () => {
  for (const [url, file] of [
    ['https://releases.example/agent', 'https://releases.example/agent/svc-agent'],
    ['https://releases.example/', 'https://releases.example/svc-agent'],
    ['http://127.0.0.1:8000/a/', 'http://127.0.0.1:8000/a/svc-agent'],
    ['http://[::1]:8000', 'http://[::1]:8000/svc-agent'],
    ['http://localhost', 'http://localhost/svc-agent'],
    [
      'https://releases.example/0.1.0/{arch}',
      'https://releases.example/0.1.0/linux-arm64/svc-agent',
    ],
  ] as const) {
    assert.equal(
      releaseFileUrl(parseReleaseUrl(url, { architecture: 'arm64' }), 'svc-agent').href,
      file,
    )
  }
  for (const url of [
    'http://releases.example/agent',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'file:///tmp',
    'releases.example',
    'https://user@releases.example',
    'https://releases.example/?a=b',
    'https://releases.example/#a',
  ]) {
    assert.throws(() => parseReleaseUrl(url, { architecture: 'arm64' }), /--url/, url)
  }
})
