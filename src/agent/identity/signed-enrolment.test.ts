// Enrolments of hosts that demand signed roots, or learn to: docs/protocol.md TRK.

import assert from 'node:assert/strict'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { FakeHub } from '../../../test/fakes/hub-server.ts'
import { AgentHost } from '../../../test/support/agent-host.ts'
import { asSignedSet, TestTrustKey } from '../../../test/support/trust-keys.ts'
import { parseCertificatesPem } from '../../pki/certificates.ts'
import { createLogging } from '../../platform/logger.ts'
import { Secret } from '../../platform/secret.ts'
import { parseHostname } from '../../protocol/identifiers.ts'
import { createEnrollClient } from '../hub/enroll-client.ts'
import { pollOnce } from '../round/poll.ts'
import { prepareDirectories } from '../settings/paths.ts'
import type { TrustSetting } from '../settings/trust-setting.ts'
import { enroll } from './enroll.ts'
import type { Identity } from './identity.ts'
import { readTrustDemand } from './trust-record.ts'

const [key, next, stranger] = [new TestTrustKey(), new TestTrustKey(), new TestTrustKey()]

interface Fixture extends AsyncDisposable {
  readonly hub: FakeHub
  readonly host: AgentHost
  /** Each time with a token of its own, in place of what is there. */
  enroll(trustKey?: TrustSetting): Promise<Identity>
}

async function setUp(): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  await prepareDirectories(host.paths)
  const client = createEnrollClient({
    baseUrl: new URL(hub.enrollUrl),
    trustPem: undefined,
    httpsProxy: undefined,
    noProxy: undefined,
    version: '0.0.0',
  })
  stack.defer(() => client.close())
  const hostname = parseHostname('web-1')
  assert.ok(hostname)
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')
  const context = { paths: host.paths, client, clock: host.clock, random: () => 0.5, log }
  const request = { hostname, role: 'web', caFingerprints: undefined, replace: true }
  let tokens = 0
  let isSpent = true
  return {
    hub,
    host,
    enroll: async (trustKey) => {
      // What is pending goes on with the token that it began with.
      if (isSpent) {
        tokens += 1
        hub.tokens.set(`svct_${tokens}`, { hostname: 'web-1', role: 'web' })
      }
      isSpent = false
      const identity = await enroll(context, {
        ...request,
        token: new Secret(`svct_${tokens}`),
        trustKey,
      })
      isSpent = true
      return identity
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const fingerprintsOf = (pem: string): string[] =>
  parseCertificatesPem(pem).map(({ sha256 }) => sha256)

function signFor({ hub }: Fixture, signer: TestTrustKey, numero = 1, roots = hub.ca.rootPem): void {
  const set = signer.signSet(fingerprintsOf(roots), { numero })
  hub.enrolmentTrust = { trust_key: signer.text, signed: asSignedSet(set) }
}

const demandOf = async ({ host }: Fixture) => readTrustDemand(host.paths.trustFile)

describe('a host that enrols', () => {
  test('[TRK-6] at a hub with a trust key demands it from then on', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    signFor(fixture, key, 7)
    await fixture.enroll()
    const demand = await demandOf(fixture)
    assert.deepEqual(
      [demand?.given, demand?.key.text, demand?.newest],
      [null, key.text, { epoch: 1, number: 7 }],
    )
    const state = await host.openAgent()
    hub.bundle = { numero: 8, roots: [hub.ca.rootPem] }
    assert.match((await pollOnce(state)).problems.join(), /nobody signed it/)
    hub.bundle = {
      numero: 9,
      roots: [hub.ca.rootPem],
      signed: asSignedSet(key.signSet(fingerprintsOf(hub.ca.rootPem), { numero: 9 })),
    }
    host.clock.offsetMs += 600_000
    assert.deepEqual((await pollOnce(state)).problems, [])
  })

  test('[TRK-6] at a hub without one, or with the setting off, demands nothing', async () => {
    await using fixture = await setUp()
    await fixture.enroll()
    assert.equal(await demandOf(fixture), undefined)
    signFor(fixture, key)
    await fixture.enroll('off')
    assert.equal(await demandOf(fixture), undefined)
  })

  test('[TRK-7] with a key of its operator’s takes no root that the key did not sign, and spends its token once', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    const refused = { code: 'enroll_reply_untrusted' }
    await assert.rejects(fixture.enroll(key.trustKey), { ...refused, message: /nobody signed it/ })
    // A stolen hub with a key of its own.
    signFor(fixture, stranger)
    await assert.rejects(fixture.enroll(key.trustKey), { ...refused, message: /by another key/ })
    // With what the key signed for other roots.
    signFor(fixture, key, 1, (await createFakeCa()).rootPem)
    await assert.rejects(fixture.enroll(key.trustKey), {
      code: 'enroll_reply_invalid',
      message: /its CA has the fingerprint/,
    })
    await assert.rejects(access(join(host.paths.identityDir, 'agent.crt')))
    signFor(fixture, key)
    await fixture.enroll(key.trustKey)
    assert.equal((await demandOf(fixture))?.isConfirmed, true)
    assert.equal(hub.tokens.size, 1)
  })

  test('[TRK-7] trusts of several roots the signed ones', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    signFor(fixture, key)
    hub.furtherRootPem = (await createFakeCa()).rootPem
    await fixture.enroll(key.trustKey)
    const stored = await readFile(join(host.paths.identityDir, 'ca.pem'), 'utf8')
    assert.deepEqual(fingerprintsOf(stored), fingerprintsOf(hub.ca.rootPem))
  })

  test('[TRK-3] [TRK-7] follows the key of its settings to the one that signs now', async () => {
    await using fixture = await setUp()
    const { hub } = fixture
    const set = next.signSet(fingerprintsOf(hub.ca.rootPem), { numero: 3 })
    hub.enrolmentTrust = { trust_key: next.text, signed: asSignedSet(set, [key.signNext(next)]) }
    await fixture.enroll(key.trustKey)
    const demand = await demandOf(fixture)
    assert.deepEqual([demand?.given, demand?.key.text], [key.text, next.text])
  })

  test('[TRK-6] again demands what it demanded before, whatever the hub names', async () => {
    await using fixture = await setUp()
    signFor(fixture, key, 7)
    await fixture.enroll()
    const refused = { code: 'enroll_reply_untrusted' }
    fixture.hub.enrolmentTrust = {}
    await assert.rejects(fixture.enroll(), { ...refused, message: /nobody signed it/ })
    signFor(fixture, stranger, 8)
    await assert.rejects(fixture.enroll(), { ...refused, message: /by another key/ })
    signFor(fixture, key, 6)
    await assert.rejects(fixture.enroll(), { ...refused, message: /set 7 came after it/ })
    signFor(fixture, key, 7)
    await fixture.enroll()
    assert.equal((await demandOf(fixture))?.key.text, key.text)
  })

  test('[TRK-6] a hub that names a key and brings no signature of it is not believed', async () => {
    await using fixture = await setUp()
    fixture.hub.enrolmentTrust = { trust_key: key.text }
    await assert.rejects(fixture.enroll(), { message: /nobody signed it/ })
    fixture.hub.enrolmentTrust = { trust_key: 'prod:none' }
    await assert.rejects(fixture.enroll(), { message: /the trust key that it names is none/ })
  })
})
