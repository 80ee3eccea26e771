// svc-agent enroll on the wire and on disk: docs/protocol.md AGT-5 to AGT-14 and the variables that it reads.

import assert from 'node:assert/strict'
import { createPublicKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { access, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { parseCsrPem } from '../../src/pki/csr.ts'
import { parseHostname } from '../../src/protocol/identifiers.ts'
import { FakeHub, type Misbehaviour, type RecordedRequest } from '../fakes/hub-server.ts'
import { AgentHost } from '../support/agent-host.ts'
import { type Ended, runProgram, type Variables } from '../support/processes.ts'

interface EnrollRequest {
  readonly token: string
  readonly hostname: string
  readonly role: string
  readonly csr_pem: string
  readonly recipient?: string
}

let hub: FakeHub
let host: AgentHost

before(async () => {
  hub = await FakeHub.start()
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  hub.requests.length = 0
  hub.tokens.clear()
  hub.tokens.set('svct_token', { hostname: 'web-1', role: 'web' })
})

const enroll = (args: readonly string[] = [], extra: Variables = {}): Promise<Ended> =>
  runProgram('svc-agent', ['enroll', ...args], { ...host.env, ...extra })

const bodyOf = ({ body }: RecordedRequest): EnrollRequest => body as EnrollRequest
const readIdentity = (name: string): Promise<string> =>
  readFile(join(host.dataDir, 'identity', name), 'utf8')
const hasIdentity = (): Promise<boolean> =>
  access(join(host.dataDir, 'identity/agent.crt')).then(
    () => true,
    () => false,
  )

/** A new host for a test, in `host`. */
async function newHost(): Promise<AgentHost> {
  host = await AgentHost.create(hub)
  return host
}

describe('svc-agent enroll', () => {
  test('[AGT-6] [AGT-7] [AGT-8] [AGV-4] [AGV-5] [AGV-7] [SLD-3] sends token, hostname, role, a recipient and a CSR for keys that stay', async () => {
    await using _ = await newHost()
    const { status, stdout } = await enroll()
    assert.equal(status, 0)
    assert.match(stdout, /^enrolled web-1\ncert serial: [0-9a-f]+\nnot_after: .*Z\n$/)
    const [request] = hub.requestsTo('enroll')
    assert.ok(request)
    const { csr_pem: csrPem, recipient, ...rest } = bodyOf(request)
    assert.deepEqual(rest, { token: 'svct_token', hostname: 'web-1', role: 'web' })
    assert.match(await readIdentity('age.key'), new RegExp(`^# public key: ${recipient}$`, 'm'))
    const csr = parseCsrPem(csrPem)
    assert.equal(csr?.commonName, 'web-1')
    const keyPem = await readIdentity('agent.key')
    const publicKey = createPublicKey(keyPem)
    assert.equal(publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
    assert.ok(csr?.publicKeySpki.equals(publicKey.export({ type: 'spki', format: 'der' })))
    assert.equal(JSON.stringify(hub.requests).includes('PRIVATE KEY'), false)
    assert.equal(await readIdentity('ca.pem'), hub.ca.rootPem)
    const certificate = new X509Certificate(await readIdentity('agent.crt'))
    assert.ok(certificate.publicKey.equals(publicKey))
  })

  test('[AGT-6] makes a fresh key each time', async () => {
    const keys: string[] = []
    for (const token of ['svct_1', 'svct_2']) {
      await using _ = await newHost()
      hub.tokens.set(token, { hostname: 'web-1', role: 'web' })
      assert.equal((await enroll([], { SVC_ENROLL_TOKEN: token })).status, 0)
      keys.push(await readIdentity('agent.key'))
    }
    assert.notEqual(keys[0], keys[1])
  })

  test('[AGT-5] refuses when an identity is present, and calls nobody', async () => {
    await using _ = await newHost()
    await host.enroll()
    const content = await readIdentity('agent.crt')
    const { status, stdout, stderr } = await enroll()
    assert.deepEqual(
      [status, stdout, stderr],
      [1, '', 'svc-agent: error: identity already present\n'],
    )
    assert.equal(hub.requests.length, 0)
    assert.equal(await readIdentity('agent.crt'), content)
  })

  test('[AGT-14] hints at --replace when the identity that is present has expired', async () => {
    await using _ = await newHost()
    await host.enroll(-1000)
    const { status, stderr } = await enroll()
    assert.equal(status, 1)
    assert.equal(
      stderr,
      'svc-agent: error: identity already present\n' +
        'svc-agent: hint: it has expired; with a new token, `svc-agent enroll --replace` sets it aside\n',
    )
  })

  test('[AGT-14] --replace sets the old identity aside, once the new one is in place', async () => {
    await using _ = await newHost()
    await host.enroll(-1000)
    const old = await readIdentity('agent.crt')
    const refused = await enroll(['--replace'], { SVC_ENROLL_TOKEN: 'svct_unknown' })
    assert.equal(refused.status, 1)
    assert.equal(await readIdentity('agent.crt'), old)
    assert.equal((await enroll(['--replace'])).status, 0)
    assert.notEqual(await readIdentity('agent.crt'), old)
    assert.equal(await readIdentity('.versions/000001/agent.crt'), old)
  })

  test('[AGT-14] --ca-fingerprint takes the root with that fingerprint and no other', async () => {
    await using _ = await newHost()
    const { fingerprint256 } = new X509Certificate(hub.ca.rootPem)
    const other = await enroll(['--ca-fingerprint', 'ab'.repeat(32)])
    assert.equal(other.status, 1)
    assert.match(other.stderr, /cannot be used: its CA has the fingerprint [0-9a-f]{64}\n/)
    assert.equal(await hasIdentity(), false)
    const none = await enroll(['--ca-fingerprint', 'abc'])
    assert.equal(none.status, 1)
    assert.equal(none.stderr, 'svc-agent: error: --ca-fingerprint is not a SHA-256 in hex\n')
    const right = fingerprint256.replaceAll(':', '').toLowerCase()
    assert.equal((await enroll(['--ca-fingerprint', right])).status, 0)
  })

  const refusals: [token: string, extra: Variables, code: string][] = [
    ['svct_unknown', {}, 'token_not_found (401)'],
    ['svct_token', { SVC_AGENT_HOSTNAME: 'web-2' }, 'hostname_mismatch (403)'],
  ]
  for (const [token, extra, code] of refusals) {
    test(`[AGT-3] [AGT-12] refused with ${code} it exits 1, leaves no identity, and can be repeated`, async () => {
      await using _ = await newHost()
      const { status, stderr } = await enroll([], { SVC_ENROLL_TOKEN: token, ...extra })
      assert.equal(status, 1)
      assert.ok(
        stderr.startsWith(`svc-agent: error: the hub refused the enrolment: ${code}\n`),
        stderr,
      )
      assert.equal(hub.requestsTo('enroll').length, 1)
      assert.equal(await hasIdentity(), false)
      assert.equal((await enroll()).status, 0)
    })
  }

  for (const misbehaviour of [
    { kind: 'cut-before' },
    { kind: 'refuse', status: 503, code: 'unavailable' },
  ] as const satisfies Misbehaviour[]) {
    test(`[AGT-12] [AGT-13] tries again by itself, with the same request, after ${JSON.stringify(misbehaviour)}`, async () => {
      await using _ = await newHost()
      hub.misbehave('enroll', misbehaviour)
      assert.equal((await enroll()).status, 0)
      const [first, second, ...more] = hub.requestsTo('enroll')
      assert.ok(first && second && more.length === 0)
      assert.deepEqual(bodyOf(second), bodyOf(first))
      const key = first.headers['idempotency-key']
      assert.match(String(key), /^[0-9a-f-]{36}$/)
      assert.equal(second.headers['idempotency-key'], key)
    })
  }

  test('[AGT-13] what is sent is on disk before it is sent, and sent again by the next command', async () => {
    await using _ = await newHost()
    const pending = join(host.dataDir, 'identity/pending')
    let onDiskWhenSent: string[] = []
    const record = hub.requests.push.bind(hub.requests)
    hub.requests.push = (...requests: RecordedRequest[]) => {
      onDiskWhenSent = readdirSync(pending)
      return record(...requests)
    }
    hub.misbehave('enroll', { kind: 'refuse', status: 502, code: 'ca_failed' })
    assert.equal((await enroll()).status, 1)
    Reflect.deleteProperty(hub.requests, 'push')
    assert.deepEqual(onDiskWhenSent.toSorted(), ['agent.csr', 'agent.key', 'request.json'])
    assert.deepEqual((await readdir(pending)).sort(), ['agent.csr', 'agent.key', 'request.json'])
    const [first] = hub.requestsTo('enroll')
    assert.ok(first)
    assert.equal(await readFile(join(pending, 'agent.csr'), 'utf8'), bodyOf(first).csr_pem)
    const keyPem = await readFile(join(pending, 'agent.key'), 'utf8')
    assert.equal((await enroll()).status, 0)
    const second = hub.requestsTo('enroll').at(-1)
    assert.ok(second)
    assert.equal(bodyOf(second).csr_pem, bodyOf(first).csr_pem)
    assert.equal(second.headers['idempotency-key'], first.headers['idempotency-key'])
    assert.equal(await readIdentity('agent.key'), keyPem)
  })

  test('[AGV-18] SVC_ENROLL_TOKEN_FILE stands in for SVC_ENROLL_TOKEN', async () => {
    await using _ = await newHost()
    const file = join(host.directory, 'token')
    const { SVC_ENROLL_TOKEN: _token, ...env } = host.env
    const environment = { ...env, SVC_ENROLL_TOKEN_FILE: file }
    const absent = await runProgram('svc-agent', ['enroll'], environment)
    assert.equal(absent.status, 1)
    const message = `svc-agent: error: read enrolment token from ${file}: not found\n`
    assert.ok(absent.stderr.startsWith(message), absent.stderr)
    await writeFile(file, 'svct_token\n')
    assert.equal((await runProgram('svc-agent', ['enroll'], environment)).status, 0)
  })

  const osHostname = hostname().toLowerCase()
  test(
    '[AGT-9] [AGV-4] takes the OS’s hostname in lower case when none is given',
    {
      skip: parseHostname(osHostname) === undefined ? `${osHostname} cannot be a host name` : false,
    },
    async () => {
      await using _ = await newHost()
      const { SVC_AGENT_HOSTNAME: _hostname, ...env } = host.env
      await runProgram('svc-agent', ['enroll'], env)
      const [request] = hub.requestsTo('enroll')
      assert.ok(request)
      assert.equal(bodyOf(request).hostname, osHostname)
    },
  )

  test('[AGT-9] a given hostname is not lower-cased', async () => {
    await using _ = await newHost()
    const { status, stderr } = await enroll([], { SVC_AGENT_HOSTNAME: 'Web-1' })
    assert.equal(status, 1)
    assert.match(stderr, /^svc-agent: error: SVC_AGENT_HOSTNAME is not .*: Web-1\n/)
    assert.equal(hub.requests.length, 0)
  })

  test('[AGT-11] [AGV-14] plain http off loopback wants --allow-http or SVC_ALLOW_HTTP=1', async () => {
    // This address reaches the same listener, but is not one of loopback.
    const url = hub.enrollUrl.replace('127.0.0.1', '0.0.0.0')
    await using _ = await newHost()
    for (const extra of [{}, { SVC_ALLOW_HTTP: '0' }] as Variables[]) {
      const { status, stderr } = await enroll([], { ...extra, SVC_SERVER_URL: url })
      assert.equal(status, 1)
      assert.equal(
        stderr,
        `svc-agent: error: SVC_SERVER_URL must be https, plain http is only for loopback: ${url}\n`,
      )
    }
    assert.equal(hub.requests.length, 0)
    assert.equal((await enroll(['--allow-http'], { SVC_SERVER_URL: url })).status, 0)
    await using __ = await newHost()
    hub.tokens.set('svct_2', { hostname: 'web-1', role: 'web' })
    const variables = { SVC_SERVER_URL: url, SVC_ALLOW_HTTP: '1', SVC_ENROLL_TOKEN: 'svct_2' }
    assert.equal((await enroll([], variables)).status, 0)
  })
})

describe('svc-agent enroll over https', () => {
  let tls: Server
  let url: string
  let rootPath: string
  let directory: AgentHost

  before(async () => {
    directory = await AgentHost.create(hub)
    const { certificatePem, keyPem } = await hub.ca.issueServer('127.0.0.1')
    const { port } = new URL(hub.enrollUrl)
    tls = createTlsServer({ cert: certificatePem, key: keyPem }, (socket) =>
      splice(socket, connect(Number(port), '127.0.0.1')),
    )
    url = `https://127.0.0.1:${await listen(tls)}`
    rootPath = join(directory.directory, 'root.pem')
    await writeFile(rootPath, hub.ca.rootPem)
  })
  after(async () => {
    tls.close()
    await directory[Symbol.asyncDispose]()
  })

  test('[AGT-10] [AGV-3] trusts the hub by SVC_SERVER_CA_PATH when it is set', async () => {
    await using _ = await newHost()
    const { status, stderr } = await enroll([], {
      SVC_SERVER_URL: url,
      SVC_SERVER_CA_PATH: rootPath,
    })
    assert.equal(status, 0, stderr)
  })

  test('[AGT-10] trusts it by the system’s store when that is not set', async () => {
    await using _ = await newHost()
    // OpenSSL's own variable says which file the system's store is.
    const { status, stderr } = await enroll([], { SVC_SERVER_URL: url, SSL_CERT_FILE: rootPath })
    assert.equal(status, 0, stderr)
    assert.equal(hub.requestsTo('enroll').length, 1)
  })

  test('[AGT-10] sends nothing to a hub that neither vouches for', async () => {
    await using _ = await newHost()
    const { status, stderr } = await enroll([], { SVC_SERVER_URL: url })
    assert.equal(status, 1)
    assert.match(
      stderr,
      /svc-agent: error: no answer from https:\/\/127\.0\.0\.1:\d+: .*certificate/,
    )
    assert.match(stderr, /^svc-agent: hint: SVC_SERVER_CA_PATH /m)
    assert.doesNotMatch(stderr, /trying again/)
    assert.equal(hub.requests.length, 0)
    assert.equal(await hasIdentity(), false)
  })

  test('[AGT-12] does not try again where nothing speaks TLS, and says so', async () => {
    await using _ = await newHost()
    const plain = String(host.env['SVC_SERVER_URL']).replace('http:', 'https:')
    const { status, stderr } = await enroll([], { SVC_SERVER_URL: plain })
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^svc-agent: error: no answer from https:\/\/127\.0\.0\.1:\d+: it does not speak TLS\nsvc-agent: hint: port 8444 of a hub/m,
    )
    assert.doesNotMatch(stderr, /trying again/)
  })

  test('[AGT-3] says in one line what the system does not let it do', async () => {
    await using _ = await newHost()
    const { status, stderr } = await enroll([], { SVC_AGENT_DATA_DIR: rootPath })
    assert.equal(status, 1)
    assert.match(stderr, /^svc-agent: error: ENOTDIR: [^\n]+\nsvc-agent: hint: [^\n]+\n$/m)
    assert.doesNotMatch(stderr, /internal error|^ +at /m)
  })

  test('[AGT-14] [AGV-20] [AGV-21] goes through HTTPS_PROXY unless NO_PROXY names the hub; the mutual TLS port never does', async () => {
    await using proxy = await startProxy()
    await using _ = await newHost()
    const variables = {
      SVC_SERVER_URL: url,
      SVC_SERVER_CA_PATH: rootPath,
      HTTPS_PROXY: proxy.url,
    }
    const { status, stderr } = await enroll([], variables)
    assert.equal(status, 0, stderr)
    assert.deepEqual(proxy.targets, [new URL(url).host])
    const round = await runProgram('svc-agent', ['run', '--once'], { ...host.env, ...variables })
    assert.equal(round.status, 0, round.stderr)
    assert.equal(proxy.targets.length, 1)

    await using __ = await newHost()
    hub.tokens.set('svct_2', { hostname: 'web-1', role: 'web' })
    const direct = { ...variables, NO_PROXY: '127.0.0.1', SVC_ENROLL_TOKEN: 'svct_2' }
    assert.equal((await enroll([], direct)).status, 0)
    assert.equal(proxy.targets.length, 1)
  })
})

interface Proxy extends AsyncDisposable {
  readonly url: string
  /** What it was asked to connect to. */
  readonly targets: readonly string[]
}

/** Knows CONNECT and nothing else. */
async function startProxy(): Promise<Proxy> {
  const targets: string[] = []
  const server = createServer((_request, response) => void response.writeHead(405).end())
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    const target = request.url ?? ''
    targets.push(target)
    const [name, port] = target.split(':')
    const upstream = connect(Number(port), name)
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      splice(client, upstream)
    })
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  return {
    url,
    targets,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on TCP has an address object.
  return (server.address() as AddressInfo).port
}

/** Each gets what the other sends, and neither outlives the other. */
function splice(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}
