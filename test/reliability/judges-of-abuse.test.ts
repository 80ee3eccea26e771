// The judges of the row "abuse", each with a fault that it has to find.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AttackOutcome, SlowOutcome } from '../../reliability/support/abuse-program.ts'
import { faultsOfAttack, latenciesOf, shortfallsOf } from '../../reliability/support/judge-abuse.ts'
import { faultsOfTable } from '../../reliability/support/run-slowhttptest.ts'
import { faultsOfScan } from '../../reliability/support/run-sslyze.ts'

const LIMITS = { headersSeconds: 10, requestSeconds: 15, handshakeSeconds: 5, slackSeconds: 5 }
const TOLD = { slowConnections: 100, handshakesPerSecond: 30, guessesPerSecond: 200 }

const slow = (change: Partial<SlowOutcome> = {}): SlowOutcome => ({
  port: 'enroll',
  kind: 'headers',
  opened: 300,
  ended: 200,
  failed: 0,
  open_mean: 100,
  longest_seconds: 12,
  ...change,
})

const attack = (change: Partial<AttackOutcome> = {}): AttackOutcome => ({
  seconds: 60,
  slow: [slow(), slow({ port: 'health' }), slow({ port: 'mtls' })],
  handshakes: { tried: 1800, refused: 1800, answered: 0, cut: 0 },
  guesses: { answered: 12_000, failed: 0, statuses: { '401': 6000, '429': 6000 } },
  ...change,
})

describe('an attack', () => {
  test('that did nothing is no fault and no shortfall', () => {
    assert.deepEqual(faultsOfAttack(attack(), LIMITS), [])
    assert.deepEqual(shortfallsOf(attack(), TOLD), [])
  })

  for (const { what, outcome, fault } of [
    {
      what: 'whose connections are held too long',
      outcome: attack({ slow: [slow({ longest_seconds: 16 })] }),
      fault: 'enroll, headers: held 16 s, limit 10 s',
    },
    {
      what: 'whose handshakes are held as long as headers may be',
      outcome: attack({ slow: [slow({ port: 'mtls', kind: 'silent', longest_seconds: 11 })] }),
      fault: 'mtls, silent: held 11 s, limit 5 s',
    },
    {
      what: 'whose connections nobody ends',
      outcome: attack({ slow: [slow({ ended: 0 })] }),
      fault: 'enroll, headers: none of 300 slow connections was ended',
    },
    {
      what: 'that gets an answer without a certificate',
      outcome: attack({ handshakes: { tried: 9, refused: 8, answered: 1, cut: 0 } }),
      fault: '1 strangers were answered on mtls',
    },
    {
      what: 'whose guess is taken for a token',
      outcome: attack({ guesses: { answered: 2, failed: 0, statuses: { '401': 1, '200': 1 } } }),
      fault: 'guesses were answered 200: 1',
    },
    {
      what: 'that the hub stops answering',
      outcome: attack({ guesses: { answered: 1, failed: 1, statuses: { '401': 1 } } }),
      fault: '1 guesses got no answer',
    },
  ]) {
    test(`${what} is a fault`, () => assert.deepEqual(faultsOfAttack(outcome, LIMITS), [fault]))
  }

  test('that is weaker than told is a shortfall', () => {
    const weak = attack({ handshakes: { tried: 900, refused: 900, answered: 0, cut: 0 } })
    assert.deepEqual(shortfallsOf(weak, TOLD), [
      'the attack was weaker than told: 15 of 30 handshakes/s',
    ])
  })

  test('is measured at the 99th percentile', () => {
    const counted = Array.from({ length: 200 }, (_, index) => index + 1)
    const samples = { kept_ms: counted, new_ms: counted.toReversed(), failures: [] }
    const idle = { kept_ms: [1], new_ms: [2], failures: [] }
    assert.deepEqual(latenciesOf([idle, idle], samples), [
      { what: 'kept connections', idleMs: 1, attackedMs: 198 },
      { what: 'new connections', idleMs: 2, attackedMs: 198 },
    ])
  })
})

describe('the table of slowhttptest', () => {
  const HEAD = 'Seconds,Closed,Pending,Connected,Service Available'
  test('is clean when the service is there', () => {
    assert.deepEqual(faultsOfTable(`${HEAD}\n0,0,1,0,100\n1,0,1,94,100\n4,92,0,8,100\n`, 100), [])
  })
  test('is not when it is away for a second, or when nothing was tried', () => {
    assert.deepEqual(faultsOfTable(`${HEAD}\n0,0,1,0,100\n1,0,0,100,0\n`, 100), [
      'service away 1 s, first in second 1',
    ])
    assert.deepEqual(faultsOfTable(`${HEAD}\n0,0,1,3,100\n`, 100), [
      'only 3 of 100 connections tried',
    ])
  })
})

describe('a scan of sslyze', () => {
  const suite = (name: string, ephemeral: object | null = {}): object => ({
    cipher_suite: { name, is_anonymous: false },
    ephemeral_key: ephemeral,
  })
  const scan = (name: string, result: Readonly<Record<string, unknown>> | null): string[] =>
    faultsOfScan(
      {
        connectivity_result: { client_auth_requirement: 'REQUIRED' },
        scan_result: { [name]: { status: result === null ? 'ERROR' : 'COMPLETED', result } },
      },
      1,
    )

  test('finds a weak suite', () => {
    const offer = (accepted: readonly object[]): string[] =>
      scan('tls_1_2_cipher_suites', {
        is_tls_version_supported: true,
        accepted_cipher_suites: accepted,
      })
    assert.deepEqual(offer([suite('TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256')]), [])
    assert.deepEqual(offer([suite('TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA')]), [
      'tls_1_2_cipher_suites: TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA is accepted',
    ])
    assert.deepEqual(offer([suite('TLS_RSA_WITH_AES_128_GCM_SHA256', null)]), [
      'tls_1_2_cipher_suites: TLS_RSA_WITH_AES_128_GCM_SHA256 is accepted',
    ])
  })

  test('finds an old version, and a check that failed or was not made', () => {
    assert.deepEqual(scan('tls_1_1_cipher_suites', { is_tls_version_supported: true }), [
      'tls_1_1_cipher_suites: is_tls_version_supported is true and not false',
    ])
    assert.deepEqual(scan('heartbleed', null), ['heartbleed: ERROR'])
    const nothing = {
      connectivity_result: { client_auth_requirement: 'REQUIRED' },
      scan_result: {},
    }
    assert.deepEqual(faultsOfScan(nothing, 3), ['only 0 of 3 checks were made'])
  })
})
