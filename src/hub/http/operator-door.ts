// Who asks at the admin port: by an admin token, by both halves of a session, or, to begin a session, by a code. docs/protocol.md
// API-10, SES-2, SES-3.

import type { IncomingHttpHeaders } from 'node:http'
import {
  SESSION_COOKIE,
  SESSION_COOKIE_PREFIX,
  SESSION_HEADER,
  SESSION_SECRET_PREFIX,
  SIGN_IN_CODE_PREFIX,
  UNATTENDED_HEADER,
} from '../../protocol/admin/sessions.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import type { AccessToken } from '../domain/access-token.ts'
import type { Session } from '../domain/session.ts'
import type { AuthenticateOperator } from '../service/admin/authenticate-operator.ts'
import type {
  AuthenticateSession,
  SessionHalves,
} from '../service/admin/sessions/authenticate-session.ts'
import type { FoundStarter } from '../service/admin/sessions/start-session.ts'

export interface Operator {
  readonly token: AccessToken
  /** What only this caller has: its token, its code, or the cookie of its session. */
  readonly credential: string
  /** That asks; undefined of a token or a code. */
  readonly session: Session | undefined
  /** By a code, which is good for nothing but to begin a session. */
  readonly isByCode: boolean
  /**
   * Why it may no longer; undefined while it may. What stays open asks before each message, which puts off no end of an idle
   * session.
   */
  readonly findEnd: () => Promise<WireErrorCode | undefined>
}

export interface DoorRefusal {
  readonly refusal: WireErrorCode
  /** Of a code, whose it is. */
  readonly token: AccessToken | undefined
}

export interface OperatorDoor {
  authenticate(headers: IncomingHttpHeaders): Promise<Operator | DoorRefusal>
  /** Of a request that is to begin a session. */
  authenticateStarter(headers: IncomingHttpHeaders): Promise<Operator | DoorRefusal>
}

export interface OperatorDoorOptions {
  readonly authenticateOperator: AuthenticateOperator
  readonly authenticateSession: AuthenticateSession
  readonly findByCode: (plaintext: string) => Promise<FoundStarter>
}

const BEARER = /^Bearer +([!-~]{1,256})$/i
const COOKIE_HALF = new RegExp(`^${SESSION_COOKIE_PREFIX}[\\w-]{43}$`)
const SECRET_HALF = new RegExp(`^${SESSION_SECRET_PREFIX}[\\w-]{43}$`)
const UNKNOWN: DoorRefusal = { refusal: 'admin_token_invalid', token: undefined }

export function createOperatorDoor(options: OperatorDoorOptions): OperatorDoor {
  const { authenticateOperator, authenticateSession, findByCode } = options

  const byToken = async (plaintext: string): Promise<Operator | DoorRefusal> => {
    const token = await authenticateOperator(plaintext)
    if (token === undefined) return UNKNOWN
    const findEnd = async (): Promise<WireErrorCode | undefined> =>
      (await authenticateOperator(plaintext)) === undefined ? 'admin_token_invalid' : undefined
    return { token, credential: plaintext, session: undefined, isByCode: false, findEnd }
  }

  const bySession = async (
    halves: SessionHalves,
    isUse: boolean,
  ): Promise<Operator | DoorRefusal> => {
    const known = await authenticateSession(halves, isUse)
    if (known === undefined) return UNKNOWN
    if (known === 'ended') return { refusal: 'session_ended', token: undefined }
    const findEnd = async (): Promise<WireErrorCode | undefined> => {
      const still = await bySession(halves, false)
      return 'refusal' in still ? still.refusal : undefined
    }
    return { ...known, credential: halves.cookie, isByCode: false, findEnd }
  }

  const byCode = async (plaintext: string): Promise<Operator | DoorRefusal> => {
    const found = await findByCode(plaintext)
    if ('refusal' in found) return found
    const { token } = found
    const findEnd = async (): Promise<WireErrorCode> => 'admin_token_invalid'
    return { token, credential: plaintext, session: undefined, isByCode: true, findEnd }
  }

  return {
    authenticate: async (headers) => {
      // Not the cookie: a browser sends that to any port of the host, and with requests that have a token too.
      if (headers[SESSION_HEADER] === undefined) return byToken(readBearer(headers))
      const halves = readHalves(headers)
      if (halves === undefined) return UNKNOWN
      return bySession(halves, headers[UNATTENDED_HEADER] === undefined)
    },
    authenticateStarter: async (headers) => {
      if (headers[SESSION_HEADER] !== undefined || !isOfOwnPage(headers)) return UNKNOWN
      const plaintext = readBearer(headers)
      return plaintext.startsWith(SIGN_IN_CODE_PREFIX) ? byCode(plaintext) : byToken(plaintext)
    },
  }
}

function readBearer({ authorization = '' }: IncomingHttpHeaders): string {
  const [, plaintext = ''] = BEARER.exec(authorization) ?? []
  return plaintext
}

/** Undefined unless each is there, and the request is of a page that this very port served. */
function readHalves(headers: IncomingHttpHeaders): SessionHalves | undefined {
  const secret = headers[SESSION_HEADER]
  const [cookie, ...others] = readCookies(headers.cookie)
  if (headers.authorization !== undefined || !isOfOwnPage(headers)) return undefined
  if (typeof secret !== 'string' || !SECRET_HALF.test(secret)) return undefined
  if (cookie === undefined || others.length > 0 || !COOKIE_HALF.test(cookie)) return undefined
  return { cookie, secret }
}

function readCookies(header = ''): readonly string[] {
  const begin = `${SESSION_COOKIE}=`
  return header
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(begin))
    .map((each) => each.slice(begin.length))
}

/** Browsers say so themselves; no page can. */
function isOfOwnPage(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-site'] === 'same-origin'
}
