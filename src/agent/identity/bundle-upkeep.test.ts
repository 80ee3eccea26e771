// The roots that an agent trusts, and how others take their place: docs/protocol.md TRU.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { type EnrolledAgent, startEnrolledAgent } from '../../../test/support/enrolled-agent.ts'
import { withFailingDisk } from '../../../test/support/failing-disk.ts'
import { createRootPem } from '../../dev-ca/issuer.ts'
import { parseCertificatesPem } from '../../pki/certificates.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import { requireIdentity } from './identity.ts'
import { openPollState, pollOnce } from '../round/poll.ts'
import { openSession, rotateAndReport } from './session.ts'

const DAY_MS = 86_400_000

const caFileOf = ({ host }: EnrolledAgent): string => join(host.paths.identityDir, 'ca.pem')
const anchorsOf = async (agent: EnrolledAgent): Promise<string[]> =>
  fingerprintsOf(await readFile(caFileOf(agent), 'utf8'))
const eventsOf = ({ hub }: EnrolledAgent, type: string): unknown[] =>
  hub.events
    .filter(({ tipo_evento: found }) => found === type)
    .map(({ payload }) => payload as unknown)

function fingerprintsOf(pem: string): string[] {
  return parseCertificatesPem(pem).map(({ sha256 }) => sha256)
}

async function rootPem(
  notAfterMs = Date.now() + DAY_MS,
  commonName = 'another root',
): Promise<string> {
  const validity = {
    notBefore: new Date(notAfterMs - 2 * DAY_MS),
    notAfter: new Date(notAfterMs),
  }
  return createRootPem({ commonName, ...validity }, await generateEcP256Key())
}

describe('a set of roots that the hub offers', () => {
  test('[TRU-5] [TRU-7] [EVT-28] is adopted over a connection that the old ones vouch for, reported once, and asked for once', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const roots = [hub.ca.rootPem, await rootPem()]
    const state = await host.openAgent()
    await pollOnce(state)
    assert.equal(hub.requestsTo('bundle').length, 0)

    hub.bundle = { numero: 2, roots }
    assert.deepEqual((await pollOnce(state)).problems, [])
    const adopted = fingerprintsOf(roots.join('\n'))
    assert.deepEqual(await anchorsOf(agent), adopted)
    // Once to read it, once over a connection that only it vouches for.
    assert.equal(hub.requestsTo('bundle').length, 2)
    for (const again of [state, await host.openAgent()]) {
      assert.deepEqual((await pollOnce(again)).problems, [])
    }
    assert.equal(hub.requestsTo('bundle').length, 2)
    assert.deepEqual(eventsOf(agent, 'bundle_adopted'), [{ numero: 2, fingerprints: adopted }])
  })

  test('[TRU-6] that it trusts already is noted by its number, and reported', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.bundle = { numero: 1, roots: [hub.ca.rootPem] }
    const before = await readFile(caFileOf(agent), 'utf8')
    await pollOnce(await host.openAgent())
    assert.equal(hub.requestsTo('bundle').length, 1)
    assert.equal(await readFile(caFileOf(agent), 'utf8'), before)
    const fingerprints = fingerprintsOf(hub.ca.rootPem)
    assert.deepEqual(eventsOf(agent, 'bundle_adopted'), [{ numero: 1, fingerprints }])
  })

  test('[TRU-8] stays in force when the identity is renewed, and its number with it', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.bundle = { numero: 3, roots: [await rootPem(), hub.ca.rootPem] }
    const state = await host.openAgent()
    await pollOnce(state)
    const before = await readFile(caFileOf(agent), 'utf8')
    await rotateAndReport(state.session)
    assert.equal(await readFile(caFileOf(agent), 'utf8'), before)
    await pollOnce(state)
    assert.equal(eventsOf(agent, 'bundle_adopted').length, 1)
    hub.bundle = { numero: 2, roots: [hub.ca.rootPem] }
    assert.match((await pollOnce(state)).problems.join(), /roots 2 not adopted: .* lower than 3/)
    assert.equal(await readFile(caFileOf(agent), 'utf8'), before)
  })

  test('[TRU-17] of a later época is adopted, however low its number, and nothing of the one before again', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const next = await rootPem()
    hub.bundle = { numero: 2_147_483_647, roots: [hub.ca.rootPem] }
    const state = await host.openAgent()
    await pollOnce(state)
    hub.bundle = { numero: 1, epoca: 2, roots: [hub.ca.rootPem, next] }
    assert.deepEqual((await pollOnce(state)).problems, [])
    const adopted = await readFile(caFileOf(agent), 'utf8')
    assert.deepEqual(fingerprintsOf(adopted), fingerprintsOf(hub.ca.rootPem + next))
    assert.deepEqual(eventsOf(agent, 'bundle_adopted').at(-1), {
      numero: 1,
      epoca: 2,
      fingerprints: fingerprintsOf(hub.ca.rootPem + next),
    })
    await rotateAndReport(state.session)
    hub.bundle = { numero: 2_147_483_647, roots: [hub.ca.rootPem] }
    const before = /roots 2147483647 not adopted: its época 1 is before 2/
    assert.match((await pollOnce(state)).problems.join(), before)
    assert.equal(await readFile(caFileOf(agent), 'utf8'), adopted)
  })

  test('[TRU-6] is reported again when a hand makes it another one', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.bundle = { numero: 1, roots: [hub.ca.rootPem] }
    const state = await host.openAgent()
    await pollOnce(state)
    const edited = hub.ca.rootPem + (await rootPem())
    for (const pem of [edited, hub.ca.rootPem]) {
      await writeFile(caFileOf(agent), pem)
      await pollOnce(state)
    }
    assert.deepEqual(
      eventsOf(agent, 'bundle_adopted'),
      [hub.ca.rootPem, edited, hub.ca.rootPem].map((pem) => {
        return { numero: 1, fingerprints: fingerprintsOf(pem) }
      }),
    )
  })

  const foreign = async (): Promise<string> => (await createFakeCa()).rootPem
  const refusals: [what: string, roots: (own: string) => Promise<string[]>, reason: RegExp][] = [
    ['with a lower number', async (own) => [own], /its number is lower than 5/],
    ['with another root under its number', async (own) => [own, await foreign()], /set 5/],
    [
      'that the hub cannot be trusted by',
      async () => [await foreign()],
      /cannot reach the hub by it/,
    ],
    ['of expired roots', async () => [await rootPem(Date.now() - 1000)], /valid now/],
    ['with what is no root', async (own) => [own, 'nonsense'], /cannot be parsed/],
    ['of more than an identity can hold', giants, /too large/],
    ['with two roots in one', async (own) => [own + (await foreign())], /cannot be parsed/],
    [
      'with a certificate that signs nothing',
      async (own) => [own, await leafPem()],
      /not a CA certificate/,
    ],
  ]
  for (const [what, rootsOf, reason] of refusals) {
    test(`[TRU-7] [TRU-9] [EVT-29] ${what} changes nothing, and is reported once`, async () => {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      hub.bundle = { numero: 5, roots: [hub.ca.rootPem] }
      const state = await host.openAgent()
      await pollOnce(state)
      const before = await readFile(caFileOf(agent), 'utf8')
      const numero = what.includes('lower') ? 4 : 6
      hub.bundle = { numero, roots: await rootsOf(hub.ca.rootPem) }
      // Offered under another number, and then, once it is asked for, under its own.
      if (what.includes('under its number')) {
        const { roots } = hub.bundle
        hub.bundle = { numero: 6, roots }
        Object.defineProperty(hub.bundle, 'toJSON', { value: () => ({ numero: 5, roots }) })
      }
      for (let round = 0; round < 3; round += 1) {
        const { problems, hasManifest } = await pollOnce(state)
        assert.equal(hasManifest, true)
        if (round === 0) assert.match(problems.join(), reason)
        host.clock.offsetMs += 600_000
      }
      assert.equal(await readFile(caFileOf(agent), 'utf8'), before)
      const reported = eventsOf(agent, 'bundle_refused') as { erro: string; current: number }[]
      assert.equal(reported.length, 1)
      assert.match(String(reported[0]?.erro), reason)
      assert.equal(reported[0]?.current, 5)
    })
  }

  test('[TRU-8] [AGT-36] is adopted whole or not at all, whatever the disk does', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const old = await anchorsOf(agent)
    let state = await host.openAgent()
    await pollOnce(state)
    const roots = [hub.ca.rootPem, await rootPem()]
    hub.bundle = { numero: 2, roots }
    const adopted = fingerprintsOf(roots.join('\n'))
    for (let failing = 1; ; failing += 1) {
      const changes = await withFailingDisk(
        (change) => change === failing,
        () => pollOnce(state),
      )
      const found = await anchorsOf(agent)
      const { key, leaf } = await requireIdentity(host.paths.identityDir)
      assert.ok(key.publicKeySpki.equals(leaf.publicKeySpki))
      assert.ok([old.join(), adopted.join()].includes(found.join()), `after change ${failing}`)
      if (changes < failing) break
      state = await host.openAgent()
    }
    assert.deepEqual(await anchorsOf(agent), adopted)
    await pollOnce(state)
    assert.deepEqual(
      new Set(eventsOf(agent, 'bundle_adopted').map((one) => JSON.stringify(one))).size,
      1,
    )
  })
})

test('[TRU-16] an agent that trusts no root of the hub is back when one is put into its ca.pem', async () => {
  await using agent = await startEnrolledAgent()
  const { hub, host } = agent
  await writeFile(caFileOf(agent), await rootPem())
  const state = await host.openAgent()
  assert.equal((await pollOnce(state)).hasManifest, false)
  await writeFile(caFileOf(agent), hub.ca.rootPem)
  assert.equal((await pollOnce(state)).hasManifest, true)
})

describe('an agent that trusts the hub by SVC_SERVER_CA_PATH', () => {
  async function openPinned({ host }: EnrolledAgent, pinnedPem: string) {
    const path = join(host.directory, 'pinned.pem')
    await writeFile(path, pinnedPem)
    const { session } = await host.openAgent()
    const config = { ...session.config, serverCaPath: path }
    const pinned = await openSession({ ...session, config })
    return openPollState(pinned, host.hooks)
  }

  test('[TRU-12] adopts roots that its identity’s own vouch for, and says what it is pinned to', async () => {
    await using agent = await startEnrolledAgent()
    const { hub } = agent
    const roots = [hub.ca.rootPem, await rootPem()]
    const state = await openPinned(agent, hub.ca.rootPem)
    hub.bundle = { numero: 2, roots }
    assert.deepEqual((await pollOnce(state)).problems, [])
    const fingerprints = fingerprintsOf(roots.join('\n'))
    const pinned = fingerprintsOf(hub.ca.rootPem)
    assert.deepEqual(eventsOf(agent, 'bundle_adopted'), [{ numero: 2, fingerprints, pinned }])

    const edited = roots.join('\n')
    await writeFile(String(state.session.config.serverCaPath), edited)
    await pollOnce(state)
    assert.deepEqual(eventsOf(agent, 'bundle_adopted')[1], {
      numero: 2,
      fingerprints,
      pinned: fingerprints,
    })
  })

  test('[TRU-12] says it again, too, when the file is what it was before', async () => {
    await using agent = await startEnrolledAgent()
    const { hub } = agent
    const other = await rootPem()
    const state = await openPinned(agent, hub.ca.rootPem)
    hub.bundle = { numero: 1, roots: [hub.ca.rootPem] }
    await pollOnce(state)
    const files = [hub.ca.rootPem + other, hub.ca.rootPem, hub.ca.rootPem + other]
    for (const file of files) {
      await writeFile(String(state.session.config.serverCaPath), file)
      await pollOnce(state)
    }
    assert.deepEqual(
      eventsOf(agent, 'bundle_adopted').map((event) => (event as { pinned: string[] }).pinned),
      [hub.ca.rootPem, ...files].map(fingerprintsOf),
    )
  })

  test('[TRU-12] [AGT-28] says it also when it ends before the hub could hear it', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const state = await openPinned(agent, hub.ca.rootPem)
    await pollOnce(state)
    hub.bundle = { numero: 1, roots: [hub.ca.rootPem] }
    hub.misbehave('events', ...Array.from({ length: 9 }, () => ({ kind: 'cut-before' }) as const))
    await pollOnce(state)
    const again = await openPollState(await openSession({ ...state.session }), host.hooks)
    for (let round = 0; round < 9; round += 1) await pollOnce(again)
    const [fingerprints, pinned] = [fingerprintsOf(hub.ca.rootPem), fingerprintsOf(hub.ca.rootPem)]
    assert.deepEqual(eventsOf(agent, 'bundle_adopted'), [{ numero: 1, fingerprints, pinned }])
  })

  test('[TRU-12] says of a file with more roots than it can tell first which of the hub’s are in it', async () => {
    await using agent = await startEnrolledAgent()
    const { hub } = agent
    const others = await Promise.all(Array.from({ length: 20 }, () => rootPem()))
    const state = await openPinned(agent, [...others, hub.ca.rootPem].join('\n'))
    hub.bundle = { numero: 1, roots: [hub.ca.rootPem] }
    await pollOnce(state)
    const [{ pinned } = { pinned: [] }] = eventsOf(agent, 'bundle_adopted') as {
      pinned: string[]
    }[]
    assert.deepEqual(pinned, fingerprintsOf([hub.ca.rootPem, ...others.slice(0, 15)].join('\n')))
  })

  test('[TRU-7] [TRU-12] adopts none over a connection that only the file vouches for', async () => {
    await using agent = await startEnrolledAgent()
    const { hub } = agent
    const other = await rootPem()
    await writeFile(caFileOf(agent), other)
    const state = await openPinned(agent, hub.ca.rootPem)
    hub.bundle = { numero: 2, roots: [hub.ca.rootPem] }
    const { problems, hasManifest } = await pollOnce(state)
    assert.equal(hasManifest, true)
    assert.match(problems.join(), /no answer from/)
    assert.deepEqual(await anchorsOf(agent), fingerprintsOf(other))
  })
})

/** Within what is read of a reply, and beyond it once their lines are broken as usual. */
async function giants(own: string): Promise<string[]> {
  const pem = await rootPem(undefined, 'x'.repeat(25_950))
  const base64 = pem.replaceAll(/-----[^-]+-----|\s/g, '')
  const giant = `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----`
  return [own, ...Array.from({ length: 15 }, () => giant)]
}

async function leafPem(): Promise<string> {
  const { certificatePem } = await (await createFakeCa()).issueServer('leaf')
  const [leaf] = parseCertificatesPem(certificatePem)
  assert.ok(leaf)
  return leaf.pem
}
