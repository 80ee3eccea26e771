// How the enroll port is reached: whom it is trusted by, and through what.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createFakeCa, type FakeCa } from '../../../test/fakes/hub-certificates.ts'
import { createEnrollClient, type EnrollClientOptions } from './enroll-client.ts'

interface TlsHub extends AsyncDisposable {
  readonly ca: FakeCa
  readonly url: URL
  readonly requests: string[]
}

/** An enroll port behind TLS, as a proxy of its own would offer it; every request is refused. */
async function startTlsHub(): Promise<TlsHub> {
  const ca = await createFakeCa()
  const { certificatePem, keyPem } = await ca.issueServer('127.0.0.1')
  const requests: string[] = []
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end('{"error":"recovery_refused"}')
  })
  const port = await listen(server)
  const dispose = (): Promise<void> => close(server)
  return { ca, url: new URL(`https://127.0.0.1:${port}`), requests, [Symbol.asyncDispose]: dispose }
}

interface Proxy extends AsyncDisposable {
  readonly url: string
  /** The targets of its CONNECTs. */
  readonly tunnels: string[]
}

async function startProxy(): Promise<Proxy> {
  const tunnels: string[] = []
  const server = createHttpServer()
  server.on('connect', (request, socket, head) => {
    tunnels.push(request.url ?? '')
    const [host, port] = (request.url ?? '').split(':')
    const target = connect(Number(port), host ?? '', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.write(head)
      target.pipe(socket).pipe(target)
    })
    target.on('error', () => socket.destroy())
    socket.on('error', () => target.destroy())
  })
  const port = await listen(server)
  const dispose = (): Promise<void> => close(server)
  return { url: `http://127.0.0.1:${port}`, tunnels, [Symbol.asyncDispose]: dispose }
}

async function recoverThrough(options: Partial<EnrollClientOptions> & { baseUrl: URL }) {
  const client = createEnrollClient({
    trustPem: undefined,
    httpsProxy: undefined,
    noProxy: undefined,
    version: '0.0.0',
    ...options,
  })
  try {
    return await client.recover({ cert_pem: 'x', csr_pem: 'x', proof: 'x' })
  } finally {
    await client.close()
  }
}

const REFUSED = { ok: false, status: 401, code: 'recovery_refused' }

describe('the enroll port', () => {
  test('is trusted by the given CA file', async () => {
    await using hub = await startTlsHub()
    const trustPem = hub.ca.rootPem
    assert.deepEqual(await recoverThrough({ baseUrl: hub.url, trustPem }), REFUSED)
    assert.deepEqual(hub.requests, ['POST /v1/recover'])
  })

  test('is not trusted when neither that nor the system knows its root', async () => {
    await using hub = await startTlsHub()
    await assert.rejects(recoverThrough({ baseUrl: hub.url }), { code: 'hub_unreachable' })
    assert.deepEqual(hub.requests, [])
  })

  test('is trusted by a root of the system’s store, as update-ca-certificates leaves it', async () => {
    await using hub = await startTlsHub()
    const directory = await mkdtemp(join(tmpdir(), 'store-'))
    try {
      const bundle = join(directory, 'ca-certificates.crt')
      await writeFile(bundle, hub.ca.rootPem)
      // What OpenSSL calls the system's store, which a process looks at once.
      const env = { SSL_CERT_FILE: bundle, SSL_CERT_DIR: join(directory, 'none') }
      assert.equal(await askTimeInProcess(hub.url, env), 'answered')
      assert.match(await askTimeInProcess(hub.url, { SSL_CERT_DIR: directory }), /^answered$/)
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})

describe('a proxy', () => {
  test('is tunnelled through when HTTPS_PROXY names it, and the hub is still checked', async () => {
    await using hub = await startTlsHub()
    await using proxy = await startProxy()
    const through = { baseUrl: hub.url, httpsProxy: proxy.url }
    const trustPem = hub.ca.rootPem
    assert.deepEqual(await recoverThrough({ ...through, trustPem }), REFUSED)
    assert.deepEqual(proxy.tunnels, [hub.url.host])
    await assert.rejects(recoverThrough(through), { code: 'hub_unreachable' })
  })

  for (const noProxy of ['127.0.0.1', '*', 'other.example, 127.0.0.1']) {
    test(`is left out for a host in NO_PROXY=${noProxy}`, async () => {
      await using hub = await startTlsHub()
      await using proxy = await startProxy()
      const trustPem = hub.ca.rootPem
      const options = { baseUrl: hub.url, httpsProxy: proxy.url, noProxy, trustPem }
      assert.deepEqual(await recoverThrough(options), REFUSED)
      assert.deepEqual(proxy.tunnels, [])
    })
  }
})

const SCRIPT = `
const { createEnrollClient } = await import(process.env.CLIENT)
const client = createEnrollClient({ baseUrl: new URL(process.env.HUB), version: '0.0.0' })
console.log(await client.askTime().then(() => 'answered', (error) => error.message))
await client.close()
`

function askTimeInProcess(hub: URL, env: Record<string, string>): Promise<string> {
  const CLIENT = new URL('enroll-client.ts', import.meta.url).href
  return new Promise((resolve, reject) => {
    const args = ['--input-type=module', '-e', SCRIPT]
    const options = { env: { ...env, CLIENT, HUB: hub.href } }
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trim())
      else reject(new Error(stderr))
    })
  })
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
