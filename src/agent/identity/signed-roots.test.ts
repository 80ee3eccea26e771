// Roots that a trust key has to have signed, at an agent: docs/protocol.md TRK.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { type EnrolledAgent, startEnrolledAgent } from '../../../test/support/enrolled-agent.ts'
import { withFailingDisk } from '../../../test/support/failing-disk.ts'
import { asSignedSet, type SignedNumber, TestTrustKey } from '../../../test/support/trust-keys.ts'
import { createRootPem } from '../../dev-ca/issuer.ts'
import { parseCertificatesPem } from '../../pki/certificates.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import type { SignedStatement } from '../../protocol/schemas.ts'
import { pollOnce, type PollState } from '../round/poll.ts'
import type { TrustSetting } from '../settings/trust-setting.ts'
import { rotateAndReport } from './session.ts'

const DAY_MS = 86_400_000
const TEN_MINUTES_MS = 600_000

const [key, next, last, stranger] = [
  new TestTrustKey(),
  new TestTrustKey(),
  new TestTrustKey(),
  new TestTrustKey(),
]

async function otherRoot(): Promise<string> {
  const now = Date.now()
  const validity = { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + DAY_MS) }
  return createRootPem({ commonName: 'another root', ...validity }, await generateEcP256Key())
}

const fingerprintsOf = (...pems: string[]): string[] =>
  parseCertificatesPem(pems.join('\n')).map(({ sha256 }) => sha256)

/** An agent whose operator demands that key, at a hub whose first set the key signed. */
async function openDemanding(agent: EnrolledAgent, setting: TrustSetting = key.trustKey) {
  const state = await openWith(agent, setting)
  offer(agent, [agent.hub.ca.rootPem], key, { numero: 1 })
  assert.deepEqual((await pollOnce(state)).problems, [])
  return state
}

/** The agent, started again with that setting. */
async function openWith({ host }: EnrolledAgent, setting: TrustSetting): Promise<PollState> {
  const state = await host.openAgent()
  Object.assign(state.session, { config: { ...state.session.config, trustKey: setting } })
  return state
}

function offer(
  { hub }: EnrolledAgent,
  roots: readonly string[],
  signer: TestTrustKey | undefined,
  number: SignedNumber,
  changes: readonly SignedStatement[] = [],
): void {
  const { numero, epoca } = number
  const set = signer?.signSet(fingerprintsOf(...roots), number)
  hub.bundle = {
    numero,
    ...(epoca !== undefined && { epoca }),
    roots: [...roots],
    ...(set && { signed: asSignedSet(set, changes) }),
  }
}

const trusted = async ({ host }: EnrolledAgent): Promise<string[]> =>
  fingerprintsOf(await readFile(`${host.paths.identityDir}/ca.pem`, 'utf8'))
const recordOf = async ({ host }: EnrolledAgent): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(host.paths.trustFile, 'utf8')) as Record<string, unknown>
const refusalsOf = ({ hub }: EnrolledAgent): string[] =>
  hub.events
    .filter(({ tipo_evento: type }) => type === 'bundle_refused')
    .map(({ payload }) => String((payload as { erro?: string }).erro))

/** What the agent has stays, the agent goes on, and says what is wrong. */
async function assertRefused(agent: EnrolledAgent, state: PollState, reason: RegExp) {
  const { hub, host } = agent
  const before = [await trusted(agent), await recordOf(agent)]
  const refusals = refusalsOf(agent).length
  host.clock.offsetMs += TEN_MINUTES_MS
  const { problems, hasManifest } = await pollOnce(state)
  assert.equal(hasManifest, true)
  assert.match(problems.join(), reason)
  assert.match(String(state.rootsAlarm), reason)
  assert.deepEqual([await trusted(agent), await recordOf(agent)], before)
  // Not due again; the alarm stays.
  assert.deepEqual((await pollOnce(state)).problems, [])
  assert.match(String(state.rootsAlarm), reason)
  assert.equal(refusalsOf(agent).length, refusals + 1)
  assert.match(refusalsOf(agent).at(-1) ?? '', reason)
  assert.ok(host.log.some((line) => line.includes('Roots not adopted') && line.includes('"error"')))
  assert.ok(hub.events.length > 0)
}

describe('an agent that demands signed roots', () => {
  test('[TRK-4] [TRK-5] confirms the roots that it has, adopts what the key signed, and keeps that in mind', async () => {
    await using agent = await startEnrolledAgent()
    const state = await openDemanding(agent)
    assert.deepEqual(await recordOf(agent), {
      given: key.text,
      trust_key: key.text,
      epoca: 1,
      numero: 1,
      is_confirmed: true,
    })
    const roots = [agent.hub.ca.rootPem, await otherRoot()]
    offer(agent, roots, key, { numero: 2 })
    const asked = agent.hub.requestsTo('bundle').length
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.deepEqual(await trusted(agent), fingerprintsOf(...roots))
    assert.equal((await recordOf(agent))['numero'], 2)
    assert.deepEqual((await pollOnce(await openWith(agent, key.trustKey))).problems, [])
    assert.equal(agent.hub.requestsTo('bundle').length, asked + 2)
    assert.equal(state.rootsAlarm, undefined)
  })

  test('[TRK-5] says so when nobody has signed the roots that it has, until somebody does', async () => {
    await using agent = await startEnrolledAgent()
    const { hub } = agent
    offer(agent, [hub.ca.rootPem], undefined, { numero: 1 })
    assert.deepEqual((await pollOnce(await openWith(agent, undefined))).problems, [])
    const state = await openWith(agent, key.trustKey)
    assert.match((await pollOnce(state)).problems.join(), /roots 1 not adopted: nobody signed it/)
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.match(String(state.rootsAlarm), /nobody signed it/)
    assert.equal((await recordOf(agent))['is_confirmed'], false)
    offer(agent, [hub.ca.rootPem], key, { numero: 2 })
    agent.host.clock.offsetMs += TEN_MINUTES_MS
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.equal(state.rootsAlarm, undefined)
    assert.equal((await recordOf(agent))['is_confirmed'], true)
  })

  const refusals: [
    what: string,
    reason: RegExp,
    offered: (agent: EnrolledAgent, roots: string[]) => void,
  ][] = [
    [
      'nobody signed',
      /nobody signed it/,
      (agent, roots) => offer(agent, roots, undefined, { numero: 2 }),
    ],
    [
      'another key signed',
      /by another key/,
      (agent, roots) => offer(agent, roots, stranger, { numero: 2 }),
    ],
    [
      'another key signed that names itself the next',
      /by another key/,
      (agent, roots) => offer(agent, roots, stranger, { numero: 2 }, [stranger.signNext(next)]),
    ],
    [
      'the key signed for another fleet',
      /for the fleet test/,
      (agent, roots) => offer(agent, roots, key, { numero: 2, fleet: 'test' }),
    ],
    [
      'the key signed with other roots',
      /not the roots that are signed/,
      (agent, roots) => {
        offer(agent, roots.slice(0, 1), key, { numero: 2 })
        Object.assign(agent.hub.bundle ?? {}, { roots })
      },
    ],
    [
      'the key signed under another number',
      /what is signed is set 2/,
      (agent, roots) => {
        offer(agent, roots, key, { numero: 2 })
        Object.assign(agent.hub.bundle ?? {}, { numero: 3 })
      },
    ],
    [
      'the key signed in another época',
      /what is signed is set 2/,
      (agent, roots) => {
        offer(agent, roots, key, { numero: 2 })
        Object.assign(agent.hub.bundle ?? {}, { epoca: 2 })
      },
    ],
    [
      'the key signed, as it is no more once it has been changed',
      /for another file/,
      (agent, roots) => {
        offer(agent, roots, key, { numero: 2 })
        const signed = agent.hub.bundle?.signed
        Object.assign(signed ?? {}, { statement: signed?.statement.replace('root ', 'root 0') })
      },
    ],
    [
      'the next key signed before the key names it',
      /change of its trust key/,
      (agent, roots) => {
        const { statement } = key.signNext(next)
        offer(agent, roots, next, { numero: 2 }, [next.sign(statement)])
      },
    ],
  ]
  for (const [what, reason, offered] of refusals) {
    test(`[TRK-4] keeps what it has when it is offered roots that ${what}`, async () => {
      await using agent = await startEnrolledAgent()
      const state = await openDemanding(agent)
      offered(agent, [agent.hub.ca.rootPem, await otherRoot()])
      await assertRefused(agent, state, reason)
    })
  }

  test('[TRK-4] adopts no set again that came before, whoever signed it, also with an identity of its own', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const state = await openDemanding(agent)
    offer(agent, [hub.ca.rootPem, await otherRoot()], key, { numero: 5 })
    assert.deepEqual((await pollOnce(state)).problems, [])
    // The host enrols again: it has adopted nothing yet, and remembers what it confirmed.
    await host.enroll()
    const again = await openWith(agent, key.trustKey)
    offer(agent, [hub.ca.rootPem], key, { numero: 4 })
    await assertRefused(agent, again, /set 4 is signed, and set 5 came after it/)
  })

  test('[TRK-3] follows its key to the next and the one after that, and trusts no earlier one', async () => {
    await using agent = await startEnrolledAgent()
    const { hub } = agent
    const state = await openDemanding(agent)
    const changes = [key.signNext(next), next.signNext(last)]
    // It was away for the first change.
    offer(agent, [hub.ca.rootPem], last, { numero: 3 }, changes)
    assert.deepEqual((await pollOnce(state)).problems, [])
    const { given, trust_key: current } = await recordOf(agent)
    assert.deepEqual([given, current], [key.text, last.text])
    offer(agent, [hub.ca.rootPem], next, { numero: 4 }, changes)
    await assertRefused(agent, state, /by another key/)
    // Its settings name the key that it began with.
    offer(agent, [hub.ca.rootPem], last, { numero: 5 }, changes)
    const restarted = await openWith(agent, key.trustKey)
    assert.deepEqual((await pollOnce(restarted)).problems, [])
  })

  test('[TRK-3] a change that leaked is worth nothing without the key that it names', async () => {
    await using agent = await startEnrolledAgent()
    const state = await openDemanding(agent)
    const roots = [agent.hub.ca.rootPem, await otherRoot()]
    offer(agent, roots, stranger, { numero: 2 }, [key.signNext(next)])
    await assertRefused(agent, state, /by another key/)
    assert.equal((await recordOf(agent))['trust_key'], key.text)
    // And nothing at all once another change has been followed.
    offer(agent, roots, last, { numero: 3 }, [key.signNext(last)])
    agent.host.clock.offsetMs += TEN_MINUTES_MS
    assert.deepEqual((await pollOnce(state)).problems, [])
    offer(agent, roots, next, { numero: 4 }, [key.signNext(next)])
    await assertRefused(agent, state, /by another key/)
  })

  test('[TRK-4] [AGT-36] adopts set and key whole or not at all, whatever the disk does', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    let state = await openDemanding(agent)
    const roots = [hub.ca.rootPem, await otherRoot()]
    offer(agent, roots, next, { numero: 2 }, [key.signNext(next)])
    for (let failing = 1; ; failing += 1) {
      const changes = await withFailingDisk(
        (change) => change === failing,
        () => pollOnce(state),
      )
      const [found, { trust_key: current }] = [await trusted(agent), await recordOf(agent)]
      // Who trusts the new roots demands the new key.
      assert.ok(found.length === 1 || current === next.text, `after change ${failing}`)
      if (changes < failing) break
      host.clock.offsetMs += TEN_MINUTES_MS
      state = await openWith(agent, key.trustKey)
    }
    assert.deepEqual(await trusted(agent), fingerprintsOf(...roots))
    assert.equal((await recordOf(agent))['trust_key'], next.text)
  })

  test('[TRK-5] takes a new key from its operator, and goes on demanding when the setting is gone', async () => {
    await using agent = await startEnrolledAgent()
    const { hub } = agent
    await openDemanding(agent)
    // Lost, and nothing was signed in advance: the hosts are told.
    offer(agent, [hub.ca.rootPem], stranger, { numero: 2 })
    assert.deepEqual((await pollOnce(await openWith(agent, stranger.trustKey))).problems, [])
    assert.equal((await recordOf(agent))['trust_key'], stranger.text)
    const unset = await openWith(agent, undefined)
    offer(agent, [hub.ca.rootPem], key, { numero: 3 })
    await assertRefused(agent, unset, /by another key/)
    const off = await openWith(agent, 'off')
    assert.deepEqual((await pollOnce(off)).problems, [])
    await assert.rejects(recordOf(agent), { code: 'ENOENT' })
    assert.ok(agent.host.log.some((line) => line.includes('Signed roots no longer demanded')))
  })

  test('[TRK-5] does not demand less when it cannot read what it demands', async () => {
    await using agent = await startEnrolledAgent()
    await openDemanding(agent)
    await writeFile(agent.host.paths.trustFile, '{"given":null}')
    const state = await openWith(agent, undefined)
    offer(agent, [agent.hub.ca.rootPem, await otherRoot()], undefined, { numero: 2 })
    assert.match((await pollOnce(state)).problems.join(), /trust.json is damaged/)
    assert.deepEqual(await trusted(agent), fingerprintsOf(agent.hub.ca.rootPem))
    offer(agent, [agent.hub.ca.rootPem], key, { numero: 2 })
    assert.deepEqual((await pollOnce(await openWith(agent, key.trustKey))).problems, [])
  })

  test('[TRK-5] keeps the demand when its identity is renewed', async () => {
    await using agent = await startEnrolledAgent()
    const state = await openDemanding(agent)
    const before = await recordOf(agent)
    await rotateAndReport(state.session)
    assert.deepEqual(await recordOf(agent), before)
    offer(agent, [agent.hub.ca.rootPem], stranger, { numero: 2 })
    await assertRefused(agent, state, /by another key/)
  })

  test('[TRK-5] asks a hub without sets for nothing, and is content', async () => {
    await using agent = await startEnrolledAgent()
    const state = await openWith(agent, key.trustKey)
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.equal(agent.hub.requestsTo('bundle').length, 0)
  })
})

test('[TRK-5] an agent that demands nothing adopts what is signed as it adopts everything', async () => {
  await using agent = await startEnrolledAgent()
  const state = await openWith(agent, undefined)
  offer(agent, [agent.hub.ca.rootPem], stranger, { numero: 1 })
  assert.deepEqual((await pollOnce(state)).problems, [])
  await assert.rejects(recordOf(agent), { code: 'ENOENT' })
})
