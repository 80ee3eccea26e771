// A fresh host and the command that `svc token create` printed: the real hub, the real agent, and who stands in between.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { createFakeCa } from '../fakes/hub-certificates.ts'
import { createKeyAndCsr, enrollHost } from '../support/enrolled-host.ts'
import { WITH_ENROLL_TLS } from '../support/hub.ts'
import { type Ended, pathOfProgram, runProgram, type Variables } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, post } from '../support/wire-client.ts'

const HUB = { SVC_SERVER_CN: 'localhost', ...WITH_ENROLL_TLS }
const { hub, ca } = useHub(undefined, HUB)

const stack = new AsyncDisposableStack()
after(() => stack.disposeAsync())

let dataDir: string
beforeEach(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), 'fresh-')), 'data')
})
afterEach(() => rm(dirname(dataDir), { recursive: true, force: true }))

interface Created {
  readonly token: string
  readonly agent_command: string
  readonly note?: string
}

const createToken = (hostname: string): Promise<Created> =>
  hub.admin('POST', '/v1/admin/tokens', { hostname, role: 'web' })

/** As somebody does it: in a shell, on a host that knows nothing of the hub. */
function paste(command: string, variables: Variables = {}): Promise<Ended> {
  return runProgram('/bin/sh', ['-c', command], {
    PATH: `${dirname(pathOfProgram('svc-agent'))}:${process.env['PATH'] ?? ''}`,
    SVC_AGENT_DATA_DIR: dataDir,
    ...variables,
  })
}

const isEnrolled = (): boolean => existsSync(join(dataDir, 'identity/agent.crt'))

async function listen(server: Server | HttpServer): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

/** Who stands in the way, with a certificate of its own; what it was told, if anything. */
async function standBetween(
  keyPem: string,
  certificatePem: string,
): Promise<{ port: number; told: Buffer[] }> {
  const told: Buffer[] = []
  const server = createTlsServer({ key: keyPem, cert: certificatePem }, (socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => told.push(bytes))
  })
  return { port: await listen(server), told }
}

const readRoot = (): Promise<string> => readFile(ca.rootPath, 'utf8')

describe('the command of svc token create', () => {
  test('[CLI-70] [AGT-60] [SRF-30] [SRF-31] [ENV-40] enrols a fresh host over TLS, which trusts nothing but the fingerprint', async () => {
    const { agent_command, note } = await createToken('fresh')
    const url = `https://localhost:${hub.ports.enrollTls}`
    assert.match(
      agent_command,
      new RegExp(
        `^SVC_SERVER_URL=${url} SVC_SERVER_MTLS_URL=https://localhost:\\d+ SVC_AGENT_HOSTNAME=fresh SVC_AGENT_ROLE=web SVC_ENROLL_TOKEN=svct_[\\w-]+ svc-agent enroll --ca-fingerprint [0-9a-f]{64}$`,
      ),
    )
    assert.equal(note, undefined)
    const { status, stderr } = await paste(agent_command)
    assert.equal(status, 0, stderr)
    assert.equal(
      (await readFile(join(dataDir, 'identity/ca.pem'), 'utf8')).trim(),
      (await readRoot()).trim(),
    )
    // To look at the certificates is no failure, and costs its address nothing at the hub.
    assert.doesNotMatch(hub.logText(), /Handshake failed/)
  })

  test('[AGT-60] is refused without the fingerprint, by a host that does not trust the root', async () => {
    const { agent_command } = await createToken('unpinned')
    const { status, stderr } = await paste(agent_command.replace(/ --ca-fingerprint.*/, ''))
    assert.equal(status, 1)
    assert.match(stderr, /no answer from https:\/\/localhost:\d+: /)
    assert.equal(isEnrolled(), false)
  })

  test('[AGT-14] [AGT-60] enrols through HTTPS_PROXY, too', async () => {
    const targets: string[] = []
    const proxy = createServer((_request, response) => void response.writeHead(405).end())
    proxy.on('connect', (request, client: Socket) => {
      targets.push(request.url ?? '')
      const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1')
      upstream.once('connect', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        client.pipe(upstream).pipe(client)
      })
      for (const socket of [client, upstream]) socket.on('error', () => undefined)
    })
    const { agent_command } = await createToken('proxied')
    const HTTPS_PROXY = `http://127.0.0.1:${await listen(proxy)}`
    const { status, stderr } = await paste(agent_command, { HTTPS_PROXY })
    assert.equal(status, 0, stderr)
    // One connection to see the root, one to enrol.
    assert.deepEqual(targets, Array(2).fill(`localhost:${hub.ports.enrollTls}`))
  })
})

describe('[AGT-60] who stands between a fresh host and the hub is told nothing', () => {
  const cases: Readonly<
    Record<
      string,
      { readonly make: () => Promise<[key: string, chain: string]>; readonly why: RegExp }
    >
  > = {
    'with a chain of its own': {
      make: async () => {
        const { certificatePem, keyPem } = await (await createFakeCa()).issueServer('localhost')
        return [keyPem, certificatePem]
      },
      why: /the server shows no certificate with the fingerprint of --ca-fingerprint/,
    },
    'with a chain of its own, and the real root behind it': {
      make: async () => {
        const { certificatePem, keyPem } = await (await createFakeCa()).issueServer('localhost')
        return [keyPem, certificatePem + (await readRoot())]
      },
      why: /the server shows no certificate with the fingerprint|does not lead to the root of/,
    },
    'with the real chain, whose key it has not': {
      make: async () => {
        const { certificatePem, keyPem } = await (await createFakeCa()).issueServer('localhost')
        const chain = await readFile(join(hub.vaultRoot, 'server.crt'), 'utf8')
        return [
          keyPem,
          certificatePem.split(/(?<=-----END CERTIFICATE-----\n)/)[0] + chain + (await readRoot()),
        ]
      },
      why: /the server shows no certificate with the fingerprint|does not lead to the root of/,
    },
    'with the certificate of another host of the same CA': {
      make: async () => {
        const { keyPem, certPem } = await enrollHost(hub, `thief-${process.pid}`)
        return [keyPem, certPem + (await readRoot())]
      },
      why: /its certificate is for thief-\d+, not for localhost/,
    },
  }
  let count = 0
  for (const [title, { make, why }] of Object.entries(cases)) {
    test(title, async () => {
      const hostname = `victim-${(count += 1)}`
      const { agent_command, token } = await createToken(hostname)
      const between = await standBetween(...(await make()))
      const { status, stderr } = await paste(
        agent_command.replace(`localhost:${hub.ports.enrollTls}`, `localhost:${between.port}`),
      )
      assert.equal(status, 1)
      assert.match(stderr, why)
      assert.match(stderr, /^svc-agent: hint: /m)
      assert.deepEqual(between.told, [])
      assert.equal(isEnrolled(), false)
      const { csrPem } = await createKeyAndCsr(hostname)
      const body = { token, hostname, role: 'web', csr_pem: csrPem }
      assertOk(await post({ port: hub.ports.enroll }, '/v1/enroll', body))
    })
  }
})
