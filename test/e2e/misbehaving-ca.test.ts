// A CA that misbehaves now and then: nothing wrong is stored or handed out, and everything ends well after retries.

import assert from 'node:assert/strict'
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parseAgentConfig } from '../../src/agent/settings/config.ts'
import { createEnrollClient } from '../../src/agent/hub/enroll-client.ts'
import { enroll } from '../../src/agent/identity/enroll.ts'
import { requireIdentity } from '../../src/agent/identity/identity.ts'
import { agentPaths, prepareDirectories } from '../../src/agent/settings/paths.ts'
import { openPollState, pollOnce, type PollState } from '../../src/agent/round/poll.ts'
import { openSession } from '../../src/agent/identity/session.ts'
import { hashToken } from '../../src/hub/domain/hash-token.ts'
import { type Certificate, parseCertificatesPem } from '../../src/pki/certificates.ts'
import { findIssuedCertificateFault } from '../../src/pki/issued-certificate.ts'
import { parsePrivateKeyPem } from '../../src/pki/keys.ts'
import { describeError } from '../../src/platform/errors.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { Hostname } from '../../src/protocol/identifiers.ts'
import { startMisbehavingCa } from '../fakes/misbehaving-ca.ts'
import { createClockedConnections } from '../simulation/clocked-connections.ts'
import { type InProcessHub, startInProcessHub } from '../simulation/in-process-hub.ts'
import { createSeededRandom, seedFrom } from '../simulation/seeded-random.ts'
import { readVerifiedLog } from '../simulation/week-log.ts'
import { FakeHookRunner, TurnableClock } from '../support/agent-host.ts'
import { createKeyAndCsr } from '../support/enrolled-host.ts'
import { assertRefused, post, type Target, type WireReply } from '../support/wire-client.ts'

const CA_DEADLINE_MS = 300
const HOSTS = 60
const AT_ONCE = 10
const TRIES_MAX = 40
const ROLE = 'web'

for (const { title, rate } of [
  { title: 'one call in twenty', rate: 1 / 20 },
  { title: 'one call in three', rate: 1 / 3 },
]) {
  test(`[ENR-10] [ENR-12] [AGT-26] a CA that misbehaves in ${title}`, async (context) => {
    const seed = seedFrom(process.env['CA_SEED'])
    context.diagnostic(`CA_SEED=${seed}`)
    await using ca = await startMisbehavingCa({ seed, rate, clientDeadlineMs: CA_DEADLINE_MS })
    const clock = new TurnableClock()
    await using hub = await startInProcessHub(ca.ca, { clock, caDeadlineMs: CA_DEADLINE_MS })
    await context.test('harms no enrolment and no issue', () => manyHosts(hub))
    await context.test('holds up no agent for good', () => agentStory(hub, clock, seed))
    reportDeeds(context, ca.deeds)
  })
}

/** Enrolment, renewal and a delivered certificate of many hosts, several at once, each tried until it succeeds. */
async function manyHosts(hub: InProcessHub): Promise<void> {
  const obtained: Certificate[] = []
  const waiting = Array.from({ length: HOSTS }, (_, index) => `host-${index}.example`)
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      obtained.push(...(await oneHost(hub, next)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))

  const log = await readVerifiedLog(hub.store.reader)
  const issued = log.filter(({ type }) => type === 'certificate_issued')
  assert.deepEqual(
    issued.map(({ payload }) => String(payload['sha256'])).sort(),
    obtained.map(({ sha256 }) => sha256).sort(),
    'what is stored is what was checked on its way out, and nothing else',
  )
  for (const certificate of obtained) {
    const stored = await hub.store.reader.findCertificate(certificate.sha256)
    assert.equal(stored?.serial, certificate.serial)
    assert.equal(stored?.notAfter.getTime(), certificate.notAfter.getTime())
  }
  assert.equal(log.filter(({ type }) => type === 'agent_enrolled').length, HOSTS)
}

async function oneHost(hub: InProcessHub, hostname: string): Promise<readonly Certificate[]> {
  const { token } = await hub.admin.createToken({ hostname, role: ROLE })
  const first = await createKeyAndCsr(hostname)
  const body = { token, hostname, role: ROLE, csr_pem: first.csrPem }
  const enrolled = await untilOk(
    () => post({ port: hub.enrollPort }, '/v1/enroll', body),
    () => assertUntouched(hub, token, hostname),
  )
  const identity = checkReply(hub, enrolled, first.keyPem, hostname, [hostname])

  const mtls: Target = {
    port: hub.mtlsPort,
    tls: {
      ca: hub.rootPem,
      cert: String(enrolled.json['cert_pem']),
      key: first.keyPem,
      servername: 'hub.test',
    },
  }
  const second = await createKeyAndCsr(hostname)
  const renewed = await untilOk(() => post(mtls, '/v1/certs/issue', { csr_pem: second.csrPem }))
  const renewedLeaf = checkReply(hub, renewed, second.keyPem, hostname, [hostname])

  const san = `www.${hostname}`
  const cargo = { tipo: 'csr_cert', nome: `site-${hostname}`, agentes: [hostname], roles: [] }
  const { entregas } = await hub.admin.createCargo({ ...cargo, sans: [san] })
  const third = await createKeyAndCsr(hostname)
  const delivered = await untilOk(() =>
    post(mtls, '/v1/certs/issue', { csr_pem: third.csrPem, entrega_id: entregas[0]?.id }),
  )
  const deliveredLeaf = checkReply(hub, delivered, third.keyPem, hostname, [hostname, san])

  const agent = await hub.store.reader.findAgentByHostname(hostname)
  assert.ok(agent !== undefined)
  const stored = await hub.store.reader.findAgentCertificate(agent.id)
  assert.equal(stored, renewed.json['cert_pem'])
  return [identity, renewedLeaf, deliveredLeaf]
}

/** Nothing but `ca_failed` stands between the caller and a certificate. */
async function untilOk(
  attempt: () => Promise<WireReply>,
  afterFailure: () => Promise<void> = () => Promise.resolve(),
): Promise<WireReply> {
  for (let tries = 1; ; tries += 1) {
    const reply = await attempt()
    if (reply.status === 200) return reply
    assertRefused(reply, 502, 'ca_failed')
    assert.ok(tries < TRIES_MAX, 'it succeeds sooner or later')
    await afterFailure()
  }
}

async function assertUntouched(hub: InProcessHub, token: string, hostname: string): Promise<void> {
  const stored = await hub.store.reader.findToken(hashToken(token))
  assert.equal(stored?.consumedAt, null)
  assert.equal(await hub.store.reader.findAgentByHostname(hostname), undefined)
}

function checkReply(
  hub: InProcessHub,
  { json }: WireReply,
  keyPem: string,
  hostname: string,
  sans: readonly string[],
): Certificate {
  assert.equal(json['ca_pem'], hub.rootPem)
  return checkChain(hub, String(json['cert_pem']), keyPem, hostname, sans)
}

function checkChain(
  hub: InProcessHub,
  pem: string,
  keyPem: string,
  hostname: string,
  sans: readonly string[],
): Certificate {
  const chain = parseCertificatesPem(pem)
  const fault = findIssuedCertificateFault(chain, {
    publicKeySpki: parsePrivateKeyPem(keyPem).publicKeySpki,
    commonName: hostname,
    sans,
    roots: parseCertificatesPem(hub.rootPem),
    now: new Date(),
    clockSkewMsMax: 0,
  })
  assert.equal(fault, undefined)
  const [leaf] = chain
  assert.ok(leaf !== undefined && chain.length === 2, 'leaf and intermediate')
  return leaf
}

const STORY_HOST = 'story.example'
const STORY_NAMES = ['one', 'two', 'three', 'four', 'five', 'six']
const ROUNDS_MAX = 200

/** A real agent enrols, installs six deliveries and renews them, on a clock that jumps to its next attempt. */
async function agentStory(hub: InProcessHub, clock: TurnableClock, seed: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'misbehaving-ca-agent-'))
  try {
    const hooks = new FakeHookRunner()
    const state = await enrolAndOpen(hub, clock, directory, hooks, seed)
    try {
      for (const nome of STORY_NAMES) {
        const cargo = { tipo: 'csr_cert', nome, agentes: [STORY_HOST], roles: [], sans: [] }
        await hub.admin.createCargo(cargo)
      }
      await pollUntil(state, clock, async () =>
        (await statuses(hub)).every((s) => s === 'instalada'),
      )
      const before = await checkFiles(hub, state)
      assert.equal(before.size, STORY_NAMES.length)

      // The fake CA's certificates have an hour left; with a quarter of one gone by they are due within minutes.
      clock.offsetMs += 15 * 60_000
      await pollUntil(state, clock, async () => {
        const now = await checkFiles(hub, state)
        return [...now].every(([name, serial]) => before.get(name) !== serial)
      })
      const { serial } = (await requireIdentity(state.session.paths.identityDir)).leaf
      const after = await checkFiles(hub, state)
      const ran = new Set(hooks.invocations.map((run) => run.environment['SVC_SERIAL']))
      for (const installed of [...before.values(), ...after.values()]) {
        assert.ok(ran.has(installed), 'the hook ran for each version')
      }
      assert.ok(![...after.values()].includes(serial))
    } finally {
      await state.session.hub.close()
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function enrolAndOpen(
  hub: InProcessHub,
  clock: TurnableClock,
  directory: string,
  hooks: FakeHookRunner,
  seed: number,
): Promise<PollState> {
  const env = {
    SVC_SERVER_URL: `http://127.0.0.1:${hub.enrollPort}`,
    SVC_SERVER_MTLS_URL: `https://localhost:${hub.mtlsPort}`,
    SVC_AGENT_DATA_DIR: join(directory, 'data'),
    SVC_AGENT_HOSTNAME: STORY_HOST,
    SVC_AGENT_ROLE: ROLE,
  }
  const config = parseAgentConfig(env, { command: 'run', osHostname: STORY_HOST })
  const paths = agentPaths(config)
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  const random = createSeededRandom(seed)
  const version = '0.0.0'
  const { token } = await hub.admin.createToken({ hostname: STORY_HOST, role: ROLE })
  const client = createEnrollClient({
    baseUrl: new URL(env.SVC_SERVER_URL),
    trustPem: undefined,
    httpsProxy: undefined,
    noProxy: undefined,
    version,
  })
  await prepareDirectories(paths)
  const enrolOnce = () =>
    enroll(
      { paths, client, clock, random, log: logging.forModule('agent') },
      {
        token: new Secret(token),
        hostname: STORY_HOST as Hostname,
        role: ROLE,
        caFingerprints: undefined,
        replace: false,
      },
    )
  for (let tries = 1; ; tries += 1) {
    // A person runs the same command again.
    const failure = await enrolOnce().then(
      () => undefined,
      (error: unknown) => describeError(error),
    )
    if (failure === undefined) break
    assert.match(failure, /ca_failed \(502\)/)
    assert.ok(tries < TRIES_MAX, 'it succeeds sooner or later')
  }
  await client.close()
  const connections = createClockedConnections(clock)
  return openPollState(
    await openSession({ config, clock, random, logging, version, connections }),
    hooks,
  )
}

async function pollUntil(
  state: PollState,
  clock: TurnableClock,
  isDone: () => Promise<boolean>,
): Promise<void> {
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
    const { nextRetryMs } = await pollOnce(state)
    if (await isDone()) return
    const untilRetryMs = (nextRetryMs ?? 0) - clock.now().getTime()
    clock.offsetMs += Math.max(15_000, untilRetryMs)
  }
  assert.fail(`not within ${ROUNDS_MAX} rounds`)
}

async function statuses(hub: InProcessHub): Promise<readonly string[]> {
  const { entregas } = await hub.admin.listDeliveries({})
  return entregas.filter(({ hostname }) => hostname === STORY_HOST).map(({ status }) => status)
}

/** The serial of each pair on disk, which is a right one at every moment. */
async function checkFiles(
  hub: InProcessHub,
  { session }: PollState,
): Promise<ReadonlyMap<string, string>> {
  const serials = new Map<string, string>()
  for (const name of STORY_NAMES) {
    const path = join(session.paths.outDir, name)
    const [pem, keyPem] = await Promise.all([
      readFile(`${path}.crt`, 'utf8'),
      readFile(`${path}.key`, 'utf8'),
    ])
    serials.set(name, checkChain(hub, pem, keyPem, STORY_HOST, [STORY_HOST]).serial)
  }
  return serials
}

function reportDeeds(context: TestContext, deeds: ReadonlyMap<string, number>): void {
  const text = [...deeds].map(([name, count]) => `${name} ${count}`).join(', ')
  context.diagnostic(`the CA did: ${text}`)
  assert.ok(deeds.size > 1, 'a CA that only signs shows nothing')
}
