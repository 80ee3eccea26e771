// Before an identity is first used, and what that must not depend on.

import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { type EnrolledAgent, startEnrolledAgent } from '../support/enrolled-agent.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import { exists } from '../../src/platform/files.ts'
import { type FileOperations, nodeFileOperations } from '../../src/agent/files/file-operations.ts'
import { loadIdentity, requireIdentity, storeIdentity } from '../../src/agent/identity/identity.ts'
import { pollOnce } from '../../src/agent/round/poll.ts'
import { rotateAndReport, takeUpIdentity } from '../../src/agent/identity/session.ts'

const serialOf = async ({ host }: EnrolledAgent): Promise<string> =>
  (await requireIdentity(host.paths.identityDir)).leaf.serial

/** Stores the identity again as a new version, and is killed right after the rename that switches to it. */
async function switchAndDie({ host }: EnrolledAgent): Promise<void> {
  const identity = await loadIdentity(host.paths.identityDir)
  assert.ok(identity)
  let isSwitched = false
  const files: FileOperations = {
    ...nodeFileOperations,
    async rename(from, to) {
      await nodeFileOperations.rename(from, to)
      isSwitched = true
    },
    async syncDirectory(path) {
      if (isSwitched) throw new Error('killed')
      await nodeFileOperations.syncDirectory(path)
    },
  }
  const { certificatePem, key, caPem } = identity
  const stored = storeIdentity(
    host.paths.identityDir,
    { certificatePem, keyPem: key.pem, caPem, agentId: null, renewal: null },
    files,
  )
  await assert.rejects(stored, /killed/)
  assert.ok(isSwitched)
}

describe('an identity whose switch was cut short before its sync', () => {
  test('[AGT-37] is made durable, with the directories that lead to it, before it is first used', async () => {
    await using fixture = await startEnrolledAgent()
    const { host } = fixture
    const { session } = await host.openAgent()
    await switchAndDie(fixture)
    const steps: string[] = []
    const hub: typeof session.hub = {
      ...session.hub,
      useIdentity: () => {
        steps.push('use')
        return Promise.resolve()
      },
    }
    await takeUpIdentity(
      { ...session, hub },
      {
        ...nodeFileOperations,
        async syncDirectory(path) {
          await nodeFileOperations.syncDirectory(path)
          steps.push(`sync ${relative(dirname(host.dataDir), path)}`)
        },
      },
    )
    assert.deepEqual(steps, [
      'sync data/identity/.versions',
      'sync data/identity',
      'sync data',
      'use',
    ])
  })

  test('[AGT-37] is not used while that cannot be done, neither in a round nor at a start', async (context) => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const state = await host.openAgent()
    await host.enroll()
    const healthy = { ...nodeFileOperations }
    const heal = (): void => void Object.assign(nodeFileOperations, healthy)
    context.after(heal)
    Object.assign(nodeFileOperations, {
      syncDirectory: () => Promise.reject(new Error('EIO: i/o error, fsync')),
    })
    assert.match((await pollOnce(state)).problems.join(' '), /EIO/)
    await assert.rejects(host.openAgent(), /EIO/)
    assert.deepEqual(hub.requests, [])
    heal()
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.equal(hub.requestsTo('manifest')[0]?.serial, await serialOf(fixture))
  })
})

test('[AGT-36] an identity that could be written, but not be read back, takes no other’s place', async () => {
  await using fixture = await startEnrolledAgent()
  const { identityDir } = fixture.host.paths
  const { certificatePem, key, caPem } = await requireIdentity(identityDir)
  const identity = { certificatePem, keyPem: key.pem, caPem, agentId: null, renewal: null }
  const longest = certificatePem.padEnd(1024 * 1024, '\n')
  await storeIdentity(identityDir, { ...identity, certificatePem: longest })
  const tooLong = storeIdentity(identityDir, { ...identity, certificatePem: `${longest}\n` })
  await assert.rejects(tooLong, { code: 'identity_too_large' })
  assert.equal((await requireIdentity(identityDir)).certificatePem, longest)
})

describe('a renewal that cannot be written down for its report', () => {
  test('[AGT-26] [AGT-28] holds up no round and no start, and is reported when it can be', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const state = await host.openAgent()
    // Whatever the reason: a directory in its place cannot be read nor replaced.
    const obstacle = state.session.paths.announcedIdentityFile
    await mkdir(obstacle)
    const { newSerial } = await rotateAndReport(state.session)
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.equal(hub.requestsTo('manifest')[0]?.serial, newSerial)
    const restarted = await host.openAgent()
    await rm(obstacle, { recursive: true })
    assert.deepEqual((await pollOnce(restarted)).problems, [])
    const renewals = hub.events.filter(({ tipo_evento: type }) => type === 'cert_renewed')
    assert.deepEqual(
      renewals.map(({ payload }) => (payload as { new_serial: string }).new_serial),
      [newSerial],
    )
  })

  test('[AGT-26] comes before the next renewal, so that each is reported', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const state = await host.openAgent()
    const obstacle = state.session.paths.announcedIdentityFile
    await mkdir(obstacle)
    const first = await rotateAndReport(state.session)
    await assert.rejects(rotateAndReport(state.session), /announced-identity/)
    assert.equal(hub.requestsTo('issue').length, 1)
    await rm(obstacle, { recursive: true })
    const second = await rotateAndReport(state.session)
    const renewals = hub.events.filter(({ tipo_evento: type }) => type === 'cert_renewed')
    assert.deepEqual(
      renewals.map(({ payload }) => (payload as { new_serial: string }).new_serial),
      [first.newSerial, second.newSerial],
    )
  })
})

describe('an enrolment that was killed before it removed what was pending', () => {
  const cases = [
    ['is over at the next renewal, so that it is never sent again', true, false],
    ['leaves one of another key alone: its reply may be lost', false, true],
  ] as const
  for (const [what, isOfIdentity, isKept] of cases) {
    test(`[AGT-13] ${what}`, async () => {
      await using fixture = await startEnrolledAgent()
      const { host } = fixture
      const { session } = await host.openAgent()
      const { pendingDir, identityDir } = host.paths
      const key = isOfIdentity
        ? (await requireIdentity(identityDir)).key
        : await generateEcP256Key()
      await mkdir(pendingDir, { mode: 0o700 })
      await writeFile(join(pendingDir, 'agent.key'), key.pem, { mode: 0o600 })
      await rotateAndReport(session)
      assert.equal(await exists(pendingDir), isKept)
    })
  }
})
