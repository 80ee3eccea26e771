// A hub to which hosts with TPMs come: each does the whole course, or does one thing otherwise than it should.

import { createHash } from 'node:crypto'
import { createJoinRefusals } from '../../src/hub/service/agent/join-refusals.ts'
import { createEnrollAgent } from '../../src/hub/service/agent/enroll-agent.ts'
import {
  type ChallengeTpm,
  createChallengeTpm,
} from '../../src/hub/service/agent/tpm-challenges.ts'
import type { Store } from '../../src/hub/store/store.ts'
import type { AdminRequest } from '../../src/protocol/admin/operations.ts'
import { createFakeAuthority, type FakeAuthority } from '../fakes/fake-authority.ts'
import { NO_ISSUERS } from '../fakes/issuer-keys.ts'
import {
  makeAk,
  makeQuote,
  type QuoteForm,
  signQuote,
  type SoftwareAk,
  type SoftwareTpm,
} from '../fakes/software-tpm.ts'
import { createTpmMaker, type TpmMaker } from '../fakes/tpm-maker.ts'
import { NOW } from '../store/store-samples.ts'
import { collectLog } from './collected-log.ts'
import { makeCsrPem } from './made-csr.ts'
import { createSettableClock, type SettableClock } from './settable-clock.ts'
import { openAdmin } from './told-admin.ts'

type Admin = ReturnType<typeof openAdmin>['admin']
type Wanted = NonNullable<AdminRequest<'createJoinRule'>['tpm']>

/** What a host does otherwise than it should. */
export interface Course {
  /** Of the challenge. */
  readonly host?: string
  readonly role?: string
  /** In place of a certificate. */
  readonly ek?: Buffer
  readonly certificate?: string
  readonly ak?: SoftwareAk
  readonly tpm?: SoftwareTpm
  /** Of the answer. */
  readonly askedHost?: string
  readonly askedRole?: string
  readonly csr?: string
  readonly signer?: SoftwareAk
  readonly form?: QuoteForm
  readonly quotedCsr?: string
  readonly waitMs?: number
  readonly change?: (token: TokenBody) => TokenBody
}

/** Of a `token`, as docs/protocol.md has it, JNR-42. */
export interface TokenBody {
  readonly ek: string
  readonly ak: string
  readonly secret: string
  readonly until: number
  readonly quote: string
  readonly signature: string
}

export interface TpmScene {
  /** For names of rules that are of this scene alone. */
  readonly number: number
  readonly admin: Admin
  readonly clock: SettableClock
  readonly authority: FakeAuthority
  readonly maker: TpmMaker
  readonly challengeTpm: ChallengeTpm
  /** In the domain of this scene. */
  nameOf(host: string): string
  /** For hosts `r…` of role `rack`; of the maker, when nothing else is wanted. */
  makeRule(
    wanted?: Wanted,
    changes?: Partial<AdminRequest<'createJoinRule'>>,
  ): ReturnType<Admin['createJoinRule']>
  /** The whole course; the certificate, or what it was refused as, and where. */
  join(course?: Course): Promise<string>
  /** To a challenge; or what that was refused as. */
  answer(course?: Course): Promise<TokenBody | string>
  /** What was refused, by the log. */
  reasons(): unknown[]
}

export const CSR: string = makeCsrPem('any')
let count = 0

export async function openTpmScene(store: Store, tpm: SoftwareTpm): Promise<TpmScene> {
  count += 1
  const number = count
  const domain = `d${number}.example.org`
  const nameOf = (host: string): string => `${host}.${domain}`
  const maker = await createTpmMaker(`CN=maker ${number}`)
  const clock = createSettableClock(NOW)
  const authority = createFakeAuthority(clock)
  const { log, lines } = collectLog()
  const hubNames = ['hub.example.org']
  const enrollAgent = createEnrollAgent({
    keys: NO_ISSUERS,
    store,
    authority,
    clock,
    log,
    hubNames,
  })
  const refusals = createJoinRefusals(store, clock, log)
  const challengeTpm = createChallengeTpm({ reader: store.reader, clock, refusals })
  const { admin } = openAdmin(store)

  async function answer(course: Course = {}): Promise<TokenBody | string> {
    const { host = 'r1', role = 'rack', ak = makeAk() } = course
    const own = course.tpm ?? tpm
    const shown =
      course.ek === undefined
        ? { ek_cert: course.certificate ?? (await maker.certify(own.ek.spki)) }
        : { ek: course.ek.toString('base64') }
    const outcome = await challengeTpm({
      hostname: nameOf(host),
      role,
      ...shown,
      ak: ak.public.toString('base64'),
    })
    if (!outcome.ok) return `challenge: ${outcome.refusal}`
    const { credential, encrypted_seed, until } = outcome.challenge
    const secret = own.activate(bytesOf(credential), bytesOf(encrypted_seed), ak.name)
    const quote = makeQuote(quotedOf(secret, course.quotedCsr ?? CSR), course.form)
    return {
      ek: own.ek.sha256,
      ak: ak.public.toString('base64'),
      secret: secret.toString('base64'),
      until,
      quote: quote.toString('base64'),
      signature: signQuote(course.signer ?? ak, quote).toString('base64'),
    }
  }

  async function enrol(token: TokenBody, course: Course): Promise<string> {
    const hostname = nameOf(course.askedHost ?? course.host ?? 'r1')
    const request = {
      token: `svcp.tpm.${Buffer.from(JSON.stringify(token)).toString('base64url')}`,
      hostname,
      role: course.askedRole ?? course.role ?? 'rack',
      csr_pem: course.csr ?? CSR,
    }
    const outcome = await enrollAgent(request, `an-idempotency-key-of-${hostname}`)
    return outcome.ok ? outcome.certificatePem : outcome.refusal
  }

  return {
    number,
    admin,
    clock,
    authority,
    maker,
    challengeTpm,
    nameOf,
    makeRule: (wanted = { ca: maker.pem }, changes = {}) => {
      const name = `rule-${number}`
      const bounds = { name, pattern: `r*.${domain}`, role: 'rack', hosts_max: 9 }
      return admin.createJoinRule({ method: 'tpm', tpm: wanted, ...bounds, ...changes })
    },
    join: async (course = {}) => {
      const token = await answer(course)
      if (typeof token === 'string') return token
      clock.set(new Date(clock.now().getTime() + (course.waitMs ?? 0)))
      return enrol(course.change?.(token) ?? token, course)
    },
    answer,
    reasons: () =>
      lines
        .filter(({ message }) => message === 'Join refused')
        .map(({ fields }) => fields['reason']),
  }
}

/** A list of one TPM, for any name or for one. */
export function listOf({ ek }: SoftwareTpm, hostname?: string): Wanted {
  return { keys: [{ ek_sha256: ek.sha256, ...(hostname !== undefined && { hostname }) }] }
}

export function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64')
}

/** As docs/protocol.md has it, JNR-42. */
function quotedOf(secret: Buffer, csrPem: string): Buffer {
  const der = bytesOf(csrPem.replace(/-----[A-Z ]+-----|\s/g, ''))
  const csrSha256 = createHash('sha256').update(der).digest('hex')
  const text = `cartorio tpm v1\n${secret.toString('hex')}\n${csrSha256}`
  return createHash('sha256').update(text).digest()
}
