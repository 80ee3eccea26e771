// Join rules for TPMs, as they are made: docs/protocol.md JNR-40.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createTpmMaker } from '../../../../test/fakes/tpm-maker.ts'
import { makeTpm } from '../../../../test/fakes/software-tpm.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { Store } from '../../store/store.ts'

type Wanted = NonNullable<AdminRequest<'createJoinRule'>['tpm']>

let store: Store & AsyncDisposable
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(() => {
  count += 1
})

const makeRule = (tpm: Wanted, name = `rule-${count}`) =>
  openAdmin(store).admin.createJoinRule({
    name,
    method: 'tpm',
    tpm,
    pattern: 'r*.example.org',
    role: 'rack',
    hosts_max: 3,
  })
const [ONE, TWO] = ['1'.repeat(64), '2'.repeat(64)]

describe('[JNR-40] a rule for TPMs', () => {
  test('says of its list how long it is, and of its makers who they are, to operators and to the log', async () => {
    const seq = await lastSeq(store.reader)
    const listed = await makeRule({
      keys: [{ ek_sha256: ONE, hostname: 'r1.example.org' }, { ek_sha256: TWO }],
    })
    assert.deepEqual(listed.tpm, { authorities: [], keys: 2, keys_with_hostname: 1 })
    const [one, other] = [await createTpmMaker('CN=one'), await createTpmMaker('CN=other')]
    const certified = await makeRule({ ca: one.pem + other.pem }, `makers-${count}`)
    assert.deepEqual(
      certified.tpm?.authorities.map(({ subject }) => subject),
      ['CN=one', 'CN=other'],
    )
    const acts = await readActs(store.reader, seq)
    assert.deepEqual(
      acts.map(([type, payload]) => [type, (payload as { tpm?: unknown }).tpm]),
      [
        ['join_rule_created', listed.tpm],
        ['join_rule_created', certified.tpm],
      ],
    )
  })

  const cases: [what: string, wanted: () => Wanted | Promise<Wanted>, code: string][] = [
    ['neither makers nor a list', () => ({}), 'request_invalid'],
    [
      'both',
      async () => ({ ca: (await createTpmMaker()).pem, keys: [{ ek_sha256: ONE }] }),
      'request_invalid',
    ],
    [
      'a TPM that is listed twice',
      () => ({ keys: [{ ek_sha256: ONE }, { ek_sha256: ONE }] }),
      'tpm_keys_invalid',
    ],
    [
      'a hostname that the pattern has not',
      () => ({ keys: [{ ek_sha256: ONE, hostname: 'db1.example.org' }] }),
      'tpm_keys_invalid',
    ],
    [
      'a hostname that is none',
      () => ({ keys: [{ ek_sha256: ONE, hostname: 'R1.example.org' }] }),
      'tpm_keys_invalid',
    ],
    ['no certificate', () => ({ ca: 'x' }), 'ca_invalid'],
    [
      'the certificate of a TPM in place of its maker’s',
      async () => {
        const der = await (await createTpmMaker()).certify(makeTpm().ek.spki)
        return { ca: `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----\n` }
      },
      'ca_invalid',
    ],
    ['101 makers', async () => ({ ca: (await createTpmMaker()).pem.repeat(101) }), 'ca_invalid'],
  ]
  for (const [what, wanted, code] of cases) {
    test(`is refused as ${code} for ${what}`, async () => {
      await assert.rejects(makeRule(await wanted()), { code })
    })
  }

  test('is one of fifty at most for a TPM or a maker', async () => {
    const { pem } = await createTpmMaker(`CN=maker ${count}`)
    for (let made = 0; made < 50; made += 1) await makeRule({ ca: pem }, `rule-${count}-${made}`)
    await assert.rejects(makeRule({ ca: pem }), { code: 'join_rules_too_many' })
    await openAdmin(store).admin.endJoinRule({ join_rule: `rule-${count}-7` })
    await makeRule({ ca: pem })
  })
})
