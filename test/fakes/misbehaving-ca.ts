// A CA over real HTTPS that misbehaves now and then, in every way that we know of; by default in one call in twenty.

import { setTimeout as sleep } from 'node:timers/promises'
import { createSeededRandom, type Random } from '../simulation/seeded-random.ts'
import {
  type CaBehaviour,
  type CertificateFault,
  type FakeCa,
  type RevokeBehaviour,
  startFakeCa,
} from './ca-server.ts'

export interface MisbehavingCa extends AsyncDisposable {
  readonly ca: FakeCa
  /** How often it did what, `sign` and `revoke` included. */
  readonly deeds: ReadonlyMap<string, number>
}

export interface MisbehavingCaOptions {
  /** The same seed gives the same deeds in the same order. */
  readonly seed: number
  /** From 0 to 1. */
  readonly rate?: number
  /** What the client under test waits; being slow is half of it, being late one and a half. */
  readonly clientDeadlineMs: number
}

const RATE = 1 / 20
const WRONG_CERTIFICATES: readonly CertificateFault[] = [
  'other_key',
  'other_common_name',
  'extra_san',
  'expired',
  'other_root',
  'other_chain',
  'is_ca',
]

export async function startMisbehavingCa(options: MisbehavingCaOptions): Promise<MisbehavingCa> {
  const { seed, rate = RATE, clientDeadlineMs } = options
  const random = createSeededRandom(seed)
  const misdeeds = misdeedsOf(random, clientDeadlineMs)
  const deeds = new Map<string, number>()
  const ca = await startFakeCa({
    script: () => {
      const [name, behave] = random() < rate ? pick(misdeeds, random) : GOOD
      deeds.set(name, (deeds.get(name) ?? 0) + 1)
      return behave()
    },
    revokeScript: () => {
      const [name, behaviour] = random() < rate ? pick(REVOKE_MISDEEDS, random) : GOOD_REVOCATION
      deeds.set(name, (deeds.get(name) ?? 0) + 1)
      return behaviour
    },
  })
  return { ca, deeds, [Symbol.asyncDispose]: () => ca[Symbol.asyncDispose]() }
}

type Deed = readonly [name: string, behave: () => CaBehaviour]

const GOOD: Deed = ['sign', () => ({ kind: 'sign' })]

const GOOD_REVOCATION = ['revoke', { kind: 'revoke' }] as const
const REVOKE_MISDEEDS: readonly (readonly [name: string, behaviour: RevokeBehaviour])[] = [
  ['revoke: 401', { kind: 'answer', status: 401, body: '{"status":401,"message":"used"}' }],
  ['revoke: 429', { kind: 'answer', status: 429, body: '' }],
  ['revoke: 500', { kind: 'answer', status: 500, body: '{"status":500}' }],
  ['revoke: a page with 200', { kind: 'answer', status: 200, body: '<html>Log in</html>' }],
  ['revoke: half an answer', { kind: 'answer', status: 200, body: '{"status":"o' }],
  ['revoke: cut', { kind: 'cut' }],
  ['revoke: done and cut', { kind: 'revoke_and_cut' }],
  ['revoke: done without a word', { kind: 'revoke_and_silence' }],
]

function misdeedsOf(random: Random, clientDeadlineMs: number): readonly Deed[] {
  const answer = (status: number, body: string) => (): CaBehaviour => ({
    kind: 'answer',
    status,
    body,
  })
  const signAfter = (delayMs: number) => (): CaBehaviour => ({
    kind: 'sign_after',
    released: sleep(delayMs, undefined, { ref: false }),
  })
  return [
    ['500', answer(500, '{"status":500,"message":"Internal Server Error"}')],
    ['502', answer(502, '<html>Bad Gateway</html>')],
    ['503', answer(503, '')],
    ['slow', signAfter(clientDeadlineMs / 2)],
    // By then the client has given up and cut the connection.
    ['late', signAfter(clientDeadlineMs * 1.5)],
    ['cut', () => ({ kind: 'cut' })],
    ['half an answer', answer(201, '{"crt":"-----BEGIN CERTIFICATE-----\\nMIIB')],
    [
      'wrong certificate',
      () => ({ kind: 'wrong_certificate', fault: pick(WRONG_CERTIFICATES, random) }),
    ],
  ]
}

function pick<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('there is nothing to pick from')
  return item
}
