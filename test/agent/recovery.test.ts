import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost, manifestEntry } from '../support/agent-host.ts'
import { type Identity, requireIdentity } from '../../src/agent/identity/identity.ts'
import { pollOnce, type PollState } from '../../src/agent/round/poll.ts'
import { readStatus } from '../../src/agent/reporting/status.ts'
import { rotateAndReport } from '../../src/agent/identity/session.ts'

const HOUR = 3_600_000

interface Fixture extends AsyncDisposable {
  readonly hub: FakeHub
  readonly host: AgentHost
  readonly state: PollState
  readonly old: Identity
  identity(): Promise<Identity>
}

async function setUp(lifetimeMs: number): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  await host.enroll(lifetimeMs)
  const identity = (): Promise<Identity> => requireIdentity(host.paths.identityDir)
  return {
    hub,
    host,
    identity,
    old: await identity(),
    state: await host.openAgent(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function renewalsOf(hub: FakeHub): unknown[] {
  return hub.events
    .filter(({ tipo_evento: type }) => type === 'cert_renewed')
    .map(({ payload }) => payload)
}

describe('an identity that has expired by our own clock', () => {
  test('[REC-3] is recovered first, and the round goes on with the new one', async () => {
    await using fixture = await setUp(-1000)
    const { hub, host, state, old } = fixture
    hub.entregas = [manifestEntry()]
    assert.deepEqual((await pollOnce(state)).problems, [])
    const renewed = await fixture.identity()
    assert.notEqual(renewed.leaf.serial, old.leaf.serial)
    assert.equal(renewed.key.publicKeySpki.equals(old.key.publicKeySpki), false)
    assert.equal(hub.requests.at(-1)?.serial, renewed.leaf.serial)
    assert.deepEqual(renewalsOf(hub), [
      { old_serial: old.leaf.serial, new_serial: renewed.leaf.serial, trigger: 'recovery' },
    ])
    assert.ok(await host.readOut('site.crt'))
    const left = await readdir(host.paths.identityDir)
    assert.equal(left.includes('pending-recovery'), false)
  })

  test('[REC-5] keeps key and CSR on disk before the call, and sends the same ones with a new proof after a lost reply', async () => {
    await using fixture = await setUp(-1000)
    const { hub, host, state, old } = fixture
    hub.misbehave('recover', { kind: 'cut-after' })
    assert.notDeepEqual((await pollOnce(state)).problems, [])
    assert.equal((await fixture.identity()).leaf.serial, old.leaf.serial)
    const { pendingRecoveryDir } = host.paths
    assert.equal((await stat(join(pendingRecoveryDir, 'agent.key'))).mode & 0o777, 0o600)
    await pollOnce(state)
    assert.equal(hub.requestsTo('recover').length, 1)
    host.clock.offsetMs += 61_000
    await pollOnce(state)
    const bodies = hub.requestsTo('recover').map(({ body }) => body as { csr_pem: string })
    assert.equal(bodies.length, 2)
    assert.equal(bodies[0]?.csr_pem, bodies[1]?.csr_pem)
    assert.equal(new Set(hub.recoveries.map(({ jti }) => jti)).size, 2)
    assert.notEqual((await fixture.identity()).leaf.serial, old.leaf.serial)
  })

  test('starts afresh when what is pending is damaged, and leaves a pending enrolment alone', async () => {
    await using fixture = await setUp(-1000)
    const { pendingDir, pendingRecoveryDir } = fixture.host.paths
    await mkdir(pendingRecoveryDir)
    await writeFile(join(pendingRecoveryDir, 'agent.key'), 'half a k')
    await mkdir(pendingDir)
    await writeFile(join(pendingDir, 'agent.key'), 'of an enrolment')
    assert.deepEqual((await pollOnce(fixture.state)).problems, [])
    assert.equal(await readFile(join(pendingDir, 'agent.key'), 'utf8'), 'of an enrolment')
  })

  test('[REC-5] is left as it is by a refusal, shown by status, and tried again for ever', async () => {
    await using fixture = await setUp(-1000)
    const { hub, host, state, old } = fixture
    const refusal = { kind: 'refuse', status: 401, code: 'recovery_refused' } as const
    hub.misbehave('recover', refusal, refusal)
    hub.entregas = [manifestEntry()]
    const before = await readFile(join(host.paths.identityDir, 'agent.key'), 'utf8')
    const result = await pollOnce(state)
    assert.deepEqual(result.problems, [
      'the hub answered 401 recovery_refused',
      `the identity expired at ${old.leaf.notAfter.toISOString()}`,
    ])
    assert.equal(await readFile(join(host.paths.identityDir, 'agent.key'), 'utf8'), before)
    assert.deepEqual(hub.requestsTo('manifest'), [])
    const { processed, session } = state
    const running = { lastResult: result, nextPollAt: undefined, stream: undefined }
    const status = await readStatus(host.paths, {
      processed,
      outbox: session.outbox,
      now: session.hubTime.now(),
      verdict: undefined,
      running,
    })
    assert.equal(status.state, 'expired')
    assert.deepEqual(status.problems, result.problems)
    for (let minutes = 0; minutes < 10; minutes += 5) {
      host.clock.offsetMs += 5 * 60_000 + 1000
      hub.clockOffsetMs = host.clock.offsetMs
      await pollOnce(state)
    }
    assert.equal(hub.requestsTo('recover').length, 3)
    assert.notEqual((await fixture.identity()).leaf.serial, old.leaf.serial)
  })

  test('[REC-3] is renewed in the usual way when only our clock says so, once it is due for the hub', async () => {
    await using fixture = await setUp(HOUR)
    const { hub, host, state, old } = fixture
    host.clock.offsetMs = 2 * HOUR
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.equal((await fixture.identity()).leaf.serial, old.leaf.serial)
    hub.clockOffsetMs = 0.8 * HOUR
    hub.backdateMs = HOUR
    host.clock.offsetMs += hub.clockOffsetMs
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.notEqual((await fixture.identity()).leaf.serial, old.leaf.serial)
    assert.deepEqual(hub.requestsTo('recover'), [])
  })

  test('[REC-3] is recovered by rotate, too', async () => {
    await using fixture = await setUp(-1000)
    const rotation = await rotateAndReport(fixture.state.session)
    assert.equal(rotation.newSerial, (await fixture.identity()).leaf.serial)
    assert.equal(fixture.hub.recoveries.length, 1)
  })
})

describe('an identity that has expired for the hub only', () => {
  test('[REC-3] is recovered when the hub says so, within the same round', async () => {
    await using fixture = await setUp(24 * HOUR)
    const { hub, state, old } = fixture
    hub.misbehave('manifest', { kind: 'refuse', status: 401, code: 'certificate_expired' })
    const result = await pollOnce(state)
    assert.deepEqual(result.problems, [])
    assert.equal(result.hasManifest, true)
    assert.notEqual((await fixture.identity()).leaf.serial, old.leaf.serial)
  })

  test('[REC-4] is recovered by a host whose clock is hours behind, with a proof of the hub’s time', async () => {
    await using fixture = await setUp(-1000)
    const { hub, host, state, old } = fixture
    host.clock.offsetMs = -3 * HOUR
    assert.equal((await pollOnce(state)).hasManifest, true)
    const { trigger } = renewalsOf(hub)[0] as { trigger: string }
    assert.equal(trigger, 'recovery')
    const [claims] = hub.recoveries
    assert.ok(claims && Math.abs(claims.iat * 1000 - Date.now()) < 10_000)
    assert.notEqual((await fixture.identity()).leaf.serial, old.leaf.serial)
    assert.equal(host.log.filter((line) => line.includes('Clock differs')).length, 1)
    await pollOnce(state)
    assert.equal(host.log.filter((line) => line.includes('Clock differs')).length, 1)
  })

  test('is not recovered because a hub with another clock is away', async () => {
    await using fixture = await setUp(24 * HOUR)
    const { hub, state } = fixture
    hub.misbehave('manifest', { kind: 'cut-before' })
    await pollOnce(state)
    assert.deepEqual(hub.requestsTo('recover'), [])
  })
})
