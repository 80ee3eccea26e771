import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { FakeHub, type Misbehaviour } from '../../../test/fakes/hub-server.ts'
import { AgentHost } from '../../../test/support/agent-host.ts'
import { parseCertificatePem, parseCertificatesPem } from '../../pki/certificates.ts'
import { createLogging } from '../../platform/logger.ts'
import { Secret } from '../../platform/secret.ts'
import type { HostStatement } from '../../protocol/host-proof.ts'
import { parseHostname } from '../../protocol/identifiers.ts'
import { createEnrollClient } from '../hub/enroll-client.ts'
import { HubTime } from '../hub/time.ts'
import { prepareDirectories } from '../settings/paths.ts'
import { readAgeKey } from './age-key.ts'
import { enroll, type EnrollRequest } from './enroll.ts'
import type { HostKey } from './host-key.ts'
import type { Identity } from './identity.ts'

interface Fixture extends AsyncDisposable {
  readonly hub: FakeHub
  readonly host: AgentHost
  enroll(overrides?: Partial<EnrollRequest>): Promise<Identity>
}

async function setUp(): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  hub.tokens.set('svct_token', { hostname: 'web-1', role: 'web' })
  await prepareDirectories(host.paths)
  const hubTime = new HubTime(host.clock)
  const client = createEnrollClient({
    baseUrl: new URL(hub.enrollUrl),
    trustPem: undefined,
    httpsProxy: undefined,
    noProxy: undefined,
    version: '0.0.0',
    noteHubTime: (hubNow) => hubTime.note(hubNow),
  })
  stack.defer(() => client.close())
  const hostname = parseHostname('web-1')
  assert.ok(hostname)
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  const context = {
    paths: host.paths,
    client,
    clock: host.clock,
    random: () => 0.5,
    hubTime,
    log: logging.forModule('test'),
  }
  return {
    hub,
    host,
    enroll: (overrides = {}) =>
      enroll(context, {
        token: new Secret('svct_token'),
        hostname,
        role: 'web',
        caFingerprints: undefined,
        replace: false,
        ...overrides,
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

describe('enrolment', () => {
  test('[AGT-8] leaves key, certificate and root with their modes, and nothing pending', async () => {
    await using fixture = await setUp()
    const identity = await fixture.enroll()
    assert.equal(identity.hostname, 'web-1')
    const { identityDir } = fixture.host.paths
    const modes = { 'agent.crt': 0o644, 'agent.key': 0o600, 'ca.pem': 0o644 }
    for (const [name, mode] of Object.entries(modes)) {
      assert.equal((await stat(join(identityDir, name))).mode & 0o777, mode, name)
    }
    assert.equal((await stat(identityDir)).mode & 0o777, 0o700)
    assert.equal((await readdir(identityDir)).includes('pending'), false)
    assert.equal(await readFile(join(identityDir, 'ca.pem'), 'utf8'), fixture.hub.ca.rootPem)
  })

  test('[AGT-8] [AGT-14] stores the certificates that it checked, and nothing that came along with them', async () => {
    await using fixture = await setUp()
    const { ca } = fixture.hub
    const { rootPem } = ca
    // OpenSSL trusts what stands under this label too; the fingerprint of the root is not asked about it.
    const smuggled = rootPem.replaceAll('CERTIFICATE', 'X509 CERTIFICATE')
    Object.defineProperty(ca, 'rootPem', { value: `${rootPem}${smuggled}` })
    await fixture.enroll()
    const stored = await readFile(join(fixture.host.paths.identityDir, 'ca.pem'), 'utf8')
    assert.equal(stored, rootPem)
  })

  test('says as whom it asked when the token is for another host', async () => {
    await using fixture = await setUp()
    const { hub } = fixture
    hub.tokens.set('svct_other', { hostname: 'web-2', role: 'web' })
    await assert.rejects(fixture.enroll({ token: new Secret('svct_other') }), {
      message: 'the hub refused the enrolment: hostname_mismatch (403)',
      hint: 'this host asked as web-1, and the token is for another host; SVC_AGENT_HOSTNAME says as whom it asks',
    })
  })

  test('names both clocks when the certificate that it gets is expired by its own', async () => {
    await using fixture = await setUp()
    fixture.host.clock.offsetMs = 400 * 86_400_000
    await assert.rejects(fixture.enroll(), {
      code: 'enroll_reply_invalid',
      message: /^the hub's reply cannot be used: the certificate of .* is expired$/,
      hint: /^this host's clock says \d{4}-\S+Z, the hub's \d{4}-\S+Z: set the clock that is wrong\. run the same command again/,
    })
  })

  test('[AGT-12] [AGT-13] a lost reply is asked for again with the same key, CSR and Idempotency-Key', async () => {
    await using fixture = await setUp()
    fixture.hub.misbehave('enroll', { kind: 'cut-after' })
    await fixture.enroll()
    const [first, second] = fixture.hub.requestsTo('enroll')
    assert.deepEqual(second?.body, first?.body)
    assert.equal(second?.headers['idempotency-key'], first?.headers['idempotency-key'])
  })

  test('[AGT-13] a command that gave up is gone on with by the next one', async () => {
    await using fixture = await setUp()
    const lost: Misbehaviour = { kind: 'cut-after' }
    fixture.hub.misbehave('enroll', lost, lost, lost, lost)
    await assert.rejects(fixture.enroll(), { code: 'hub_unreachable' })
    const { pendingDir } = fixture.host.paths
    assert.equal((await stat(join(pendingDir, 'agent.key'))).mode & 0o777, 0o600)
    await fixture.enroll()
    const keys = new Set(
      fixture.hub.requestsTo('enroll').map(({ headers }) => headers['idempotency-key']),
    )
    assert.equal(keys.size, 1)
  })

  test('[SLD-1] [SLD-3] tells the recipient of the key that it makes; a new enrolment tells the same', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    await fixture.enroll()
    const key = await readAgeKey(host.paths.ageKeyFile)
    hub.tokens.set('svct_second', { hostname: 'web-1', role: 'web' })
    await fixture.enroll({ token: new Secret('svct_second'), replace: true })
    assert.deepEqual(hub.recipients, [key?.recipient, key?.recipient])
  })

  test('[SLD-3] what goes on says the same recipient, though there is another key by now', async () => {
    await using fixture = await setUp()
    const lost: Misbehaviour = { kind: 'cut-after' }
    fixture.hub.misbehave('enroll', lost, lost, lost, lost)
    await assert.rejects(fixture.enroll(), { code: 'hub_unreachable' })
    await rm(fixture.host.paths.ageKeyFile)
    await fixture.enroll()
    assert.equal(new Set(fixture.hub.recipients).size, 1)
    const told = fixture.hub.requestsTo('enroll').map(({ body }) => JSON.stringify(body))
    assert.equal(new Set(told).size, 1)
  })

  test('[SLD-3] what an agent of before sealed files began goes on without a recipient', async () => {
    await using fixture = await setUp()
    const lost: Misbehaviour = { kind: 'cut-before' }
    fixture.hub.misbehave('enroll', lost, lost, lost, lost)
    await assert.rejects(fixture.enroll(), { code: 'hub_unreachable' })
    const path = join(fixture.host.paths.pendingDir, 'request.json')
    const { recipient, ...rest } = JSON.parse(await readFile(path, 'utf8')) as Record<
      string,
      string
    >
    assert.match(recipient ?? '', /^age1pq1/)
    await writeFile(path, JSON.stringify(rest))
    await fixture.enroll()
    assert.deepEqual(fixture.hub.recipients, [])
  })

  test('[SLD-2] a key that cannot be read is left alone, and the host enrols without a recipient', async () => {
    await using fixture = await setUp()
    await writeFile(fixture.host.paths.ageKeyFile, 'nonsense')
    await fixture.enroll()
    assert.deepEqual(fixture.hub.recipients, [])
    assert.equal(await readFile(fixture.host.paths.ageKeyFile, 'utf8'), 'nonsense')
  })

  test('[SLD-2] nor does one that the system does not let it read hold up the enrolment', async () => {
    await using fixture = await setUp()
    // What a directory is to root, a file of root's is to everybody else.
    await mkdir(fixture.host.paths.ageKeyFile)
    await fixture.enroll()
    assert.deepEqual(fixture.hub.recipients, [])
  })

  test('[AGT-5] an identity that is there is left alone', async () => {
    await using fixture = await setUp()
    const { leaf } = await fixture.enroll()
    await assert.rejects(fixture.enroll(), { message: 'identity already present' })
    const text = await readFile(join(fixture.host.paths.identityDir, 'agent.crt'), 'utf8')
    assert.equal(parseCertificatePem(text).serial, leaf.serial)
    assert.equal(fixture.hub.requestsTo('enroll').length, 1)
  })

  test('[AGT-14] --replace sets the old identity aside when the new one is in place', async () => {
    await using fixture = await setUp()
    const old = await fixture.enroll()
    fixture.hub.tokens.set('svct_second', { hostname: 'web-1', role: 'web' })
    const token = new Secret('svct_second')
    const renewed = await fixture.enroll({ token, replace: true })
    assert.notEqual(renewed.leaf.serial, old.leaf.serial)
    const aside = join(fixture.host.paths.identityDir, '.versions', '000001', 'agent.crt')
    assert.equal(parseCertificatePem(await readFile(aside, 'utf8')).serial, old.leaf.serial)
  })

  for (const name of ['agent.key', 'ca.pem']) {
    test(`[AGT-12] [AGT-39] a foreign ${name} in its place is named before the token is used up`, async () => {
      await using fixture = await setUp()
      const path = join(fixture.host.paths.identityDir, name)
      await writeFile(path, 'precious')
      await assert.rejects(fixture.enroll(), {
        message: `${path} exists and was not made by the agent`,
        hint: `move ${path} away: the agent then writes its own`,
      })
      assert.deepEqual(fixture.hub.requestsTo('enroll'), [])
      assert.equal(await readFile(path, 'utf8'), 'precious')
    })
  }

  test('[AGT-14] --replace finds a foreign file before the token is used up', async () => {
    await using fixture = await setUp()
    await fixture.enroll()
    const path = join(fixture.host.paths.identityDir, 'ca.pem')
    await rm(path)
    await writeFile(path, 'precious')
    fixture.hub.tokens.set('svct_second', { hostname: 'web-1', role: 'web' })
    const token = new Secret('svct_second')
    await assert.rejects(fixture.enroll({ token, replace: true }), { code: 'foreign_file' })
    assert.equal(fixture.hub.requestsTo('enroll').length, 1)
  })

  test('[AGT-12] a refusal names the code and keeps what is pending', async () => {
    await using fixture = await setUp()
    await assert.rejects(fixture.enroll({ token: new Secret('svct_unknown') }), {
      message: 'the hub refused the enrolment: token_not_found (401)',
    })
    assert.deepEqual((await readdir(fixture.host.paths.pendingDir)).sort(), [
      'agent.csr',
      'agent.key',
      'request.json',
    ])
  })

  test('[AGT-14] a root with another fingerprint is not trusted', async () => {
    await using fixture = await setUp()
    await assert.rejects(
      fixture.enroll({ caFingerprints: new Set(['0'.repeat(64)]) }),
      /cannot be used: its CA has the fingerprint/,
    )
    assert.equal((await readdir(fixture.host.paths.identityDir)).includes('agent.crt'), false)
    const { sha256 } = parseCertificatePem(fixture.hub.ca.rootPem)
    await fixture.enroll({ caFingerprints: new Set([sha256]) })
  })

  test('[AGT-14] [TRU-14] of several roots only the one with the fingerprint is trusted', async () => {
    await using fixture = await setUp()
    const { ca } = fixture.hub
    fixture.hub.furtherRootPem = (await createFakeCa()).rootPem
    await fixture.enroll({ caFingerprints: new Set([parseCertificatePem(ca.rootPem).sha256]) })
    const stored = await readFile(join(fixture.host.paths.identityDir, 'ca.pem'), 'utf8')
    assert.deepEqual(
      parseCertificatesPem(stored).map(({ pem }) => pem),
      parseCertificatesPem(ca.rootPem).map(({ pem }) => pem),
    )
  })

  test('[AGT-14] [TRU-14] a root that signed nothing in the reply vouches for nothing', async () => {
    await using fixture = await setUp()
    const further = (await createFakeCa()).rootPem
    fixture.hub.furtherRootPem = further
    const pinned = fixture.enroll({
      caFingerprints: new Set([parseCertificatePem(further).sha256]),
    })
    await assert.rejects(pinned, /the chain does not lead to a trusted root/)
  })

  test('a damaged pending enrolment is named and left alone', async () => {
    await using fixture = await setUp()
    const { pendingDir } = fixture.host.paths
    await mkdir(pendingDir)
    await writeFile(join(pendingDir, 'agent.key'), 'half a k')
    await assert.rejects(fixture.enroll(), /pending enrolment at .* is damaged/)
    assert.equal(await readFile(join(pendingDir, 'agent.key'), 'utf8'), 'half a k')
  })

  test('[JNR-30] by a key makes a proof for each try, by the hub’s clock once it knows that', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    hub.tokens.set('early', { hostname: 'web-1', role: 'web', isExpired: true })
    host.clock.offsetMs = -600_000
    const stated: HostStatement[] = []
    const token: HostKey = {
      method: 'x5c',
      prove: async (statement) => {
        const said = JSON.parse(Buffer.from(statement).toString()) as HostStatement
        stated.push(said)
        return stated.length === 1 ? 'early' : 'svct_token'
      },
    }
    await fixture.enroll({ token, hubs: ['hub.example.org', '10.0.0.1', 'hub.example.org'] })
    const [first, second] = stated
    assert.ok(first && second)
    assert.equal(stated.length, 2)
    assert.deepEqual(second.hubs, ['hub.example.org', '10.0.0.1'])
    assert.deepEqual([second.hostname, second.role], ['web-1', 'web'])
    assert.equal(second.csr_sha256, first.csr_sha256)
    assert.ok(second.iat - first.iat >= 599 && second.iat - first.iat < 700)
    assert.ok(second.exp - second.iat <= 300)
  })

  test('[JNR-30] by a key that is refused says what the key may not be, and asks once where the clocks agree', async () => {
    await using fixture = await setUp()
    fixture.hub.tokens.set('late', { hostname: 'web-1', role: 'web', isExpired: true })
    let proofs = 0
    const prove = async (): Promise<string> => {
      proofs += 1
      return 'late'
    }
    await assert.rejects(fixture.enroll({ token: { method: 'ssh', prove }, hubs: ['hub'] }), {
      message: 'the hub refused the enrolment: token_expired (401)',
      hint: /^the join rule is over or full/,
    })
    assert.equal(proofs, 1)
  })
})
