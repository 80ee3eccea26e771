// Enrolments by a TPM, which is software here: docs/protocol.md JNR-40 to JNR-45.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { makeAk, makeTpm, type SoftwareTpm } from '../../../../test/fakes/software-tpm.ts'
import { NOW } from '../../../../test/store/store-samples.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { listOf, openTpmScene, type TpmScene } from '../../../../test/support/tpm-scene.ts'
import { CaError } from '../../ca/certificate-authority.ts'
import type { Store } from '../../store/store.ts'

const SECOND_MS = 1000

let store: Store & AsyncDisposable
let scene: TpmScene
let tpm: SoftwareTpm

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())

describe('[JNR-40] a host with a TPM', () => {
  // The store remembers those that joined.
  beforeEach(async () => {
    tpm = makeTpm()
    scene = await openTpmScene(store, tpm)
  })

  test('enrols when its maker is trusted, and the log names the rule and the TPM', async () => {
    const rule = await scene.makeRule()
    assert.equal(rule.token, undefined)
    assert.match(rule.agent_command, / SVC_ENROLL_TPM=1 svc-agent enroll$/)
    const seq = await lastSeq(store.reader)
    assert.equal(await scene.join(), 'chain 1')
    const acts = await readActs(store.reader, seq)
    const [said] = acts.flatMap(([type, payload]) => (type === 'agent_enrolled' ? [payload] : []))
    const { join_rule, ek_sha256, role } = said as Record<string, unknown>
    assert.deepEqual([join_rule, ek_sha256, role], [rule.name, tpm.ek.sha256, 'rack'])
    assert.equal((await store.reader.findJoinRuleNamed(rule.name))?.hosts, 1)
  })

  test('enrols when it is listed, with a certificate or without, under its name or any', async () => {
    const other = makeTpm()
    const keys = [...(listOf(tpm, scene.nameOf('r1')).keys ?? []), ...(listOf(other).keys ?? [])]
    await scene.makeRule({ keys })
    assert.equal(await scene.join({ ek: tpm.ek.spki }), 'chain 1')
    assert.equal(await scene.join({ tpm: other, host: 'r77' }), 'chain 2')
    assert.deepEqual(scene.reasons(), [])
  })

  test('[JNR-44] is one host: what failed at the CA, or was lost, is asked again; another name is refused', async () => {
    await scene.makeRule()
    scene.authority.failWith(new CaError('unreachable', 'no answer'))
    assert.equal(await scene.join(), 'ca_failed')
    scene.authority.failWith(undefined)
    assert.equal(await scene.join({ host: 'r2' }), 'token_consumed')
    assert.equal(await scene.join(), 'chain 2')
    assert.equal(
      await scene.join(),
      'chain 2',
      'a new challenge and a new key, and the same request',
    )
    assert.equal(await scene.join({ host: 'r2' }), 'token_consumed')
    assert.deepEqual(scene.reasons(), ['used'])
    assert.equal(await scene.join({ host: 'r2', tpm: makeTpm() }), 'chain 3')
  })

  test('[JNR-44] is one host for all rules, and stays so when the first one ends', async () => {
    const { name } = await scene.makeRule(listOf(tpm))
    assert.equal(await scene.join(), 'chain 1')
    await scene.makeRule({ ca: scene.maker.pem }, { name: `other-${scene.number}` })
    assert.equal(await scene.join({ host: 'r2' }), 'token_consumed')
    await scene.admin.endJoinRule({ join_rule: name })
    assert.equal(await scene.join(), 'chain 1', 'the reply that was lost')
    assert.equal(await scene.join({ host: 'r2' }), 'token_consumed')
  })

  test('[JNR-44] is one host by its name: what failed at the CA is asked by another rule when the first has ended', async () => {
    const first = await scene.makeRule(listOf(tpm))
    scene.authority.failWith(new CaError('unreachable', 'no answer'))
    assert.equal(await scene.join(), 'ca_failed')
    scene.authority.failWith(undefined)
    await scene.admin.endJoinRule({ join_rule: first.name })
    const second = await scene.makeRule({ ca: scene.maker.pem }, { name: `again-${scene.number}` })
    assert.equal(await scene.join({ host: 'r2' }), 'token_consumed')
    assert.equal(await scene.join(), 'chain 2')
    assert.equal(await scene.join({ host: 'r2' }), 'token_consumed')
    await scene.admin.endJoinRule({ join_rule: second.name })
    assert.equal(await scene.join(), 'chain 2', 'the reply that was lost, of a rule that ended')
  })

  test('has the rule of its role and name, of several that take it', async () => {
    await scene.makeRule()
    await scene.makeRule({ ca: scene.maker.pem }, { name: `db-${scene.number}`, role: 'db' })
    await scene.makeRule(listOf(tpm, scene.nameOf('r3')), { name: `list-${scene.number}` })
    assert.equal(await scene.join({ host: 'r1', role: 'db', tpm: makeTpm() }), 'chain 1')
    assert.equal(await scene.join({ host: 'r3' }), 'chain 2')
    assert.equal((await store.reader.findJoinRuleNamed(`list-${scene.number}`))?.hosts, 1)
  })

  test('listed for another name joins by a rule of its maker', async () => {
    await scene.makeRule(listOf(tpm, scene.nameOf('r1')))
    await scene.makeRule({ ca: scene.maker.pem }, { name: `makers-${scene.number}` })
    assert.equal(await scene.join({ host: 'r2' }), 'chain 1')
    assert.deepEqual(scene.reasons(), [])
  })

  test('listed under the name of another is refused as hostname_mismatch, after all else', async () => {
    await scene.makeRule(listOf(tpm, scene.nameOf('r1')))
    assert.equal(await scene.join({ host: 'r2', signer: makeAk() }), 'token_not_found')
    assert.equal(await scene.join({ host: 'r2' }), 'hostname_mismatch')
    assert.deepEqual(scene.reasons(), ['signature', 'tpm_hostname'])
    assert.equal(await scene.join(), 'chain 1')
  })

  test('is not let in by a rule that is full or over', async () => {
    await scene.makeRule({ ca: scene.maker.pem }, { hosts_max: 1, ttl_seconds: 3600 })
    assert.equal(await scene.join(), 'chain 1')
    assert.equal(await scene.join({ host: 'r2', tpm: makeTpm() }), 'token_expired')
    scene.clock.set(new Date(NOW.getTime() + 3601 * SECOND_MS))
    assert.equal(await scene.join({ host: 'r3', tpm: makeTpm() }), 'token_expired')
    assert.deepEqual(scene.reasons(), ['full', 'expired'])
  })

  test('[JNR-41] is asked the same by any hub of the vault, and by clocks that differ by a minute', async () => {
    await scene.makeRule()
    assert.equal(await scene.join({ waitMs: 359 * SECOND_MS }), 'chain 1')
  })

  test('[JNR-41] learns nothing of rules and names by asking alone', async () => {
    await scene.makeRule(listOf(tpm, scene.nameOf('r1')), { hosts_max: 1 })
    for (const [host, role] of [
      ['r1', 'rack'],
      ['r9', 'rack'],
      ['nobody', 'x'],
    ] as const) {
      const ask = { hostname: scene.nameOf(host), role, ek: tpm.ek.spki.toString('base64') }
      const outcome = await scene.challengeTpm({ ...ask, ak: makeAk().public.toString('base64') })
      assert.deepEqual(outcome.ok && Object.keys(outcome.challenge), [
        'credential',
        'encrypted_seed',
        'until',
      ])
    }
    assert.deepEqual(scene.reasons(), [])
  })
})
