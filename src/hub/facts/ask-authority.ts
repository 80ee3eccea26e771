// One question to the CA that needs no credentials, on a connection of its own, and what a failure of it says.

import { request } from 'node:https'
import type { LookupFunction } from 'node:net'
import {
  classifyConnectionFailure,
  describeConnectionFailure,
} from '../../platform/connection-failure.ts'
import type { AuthorityFacts } from '../../protocol/admin/examination.ts'

export interface AuthorityPlace {
  readonly caUrl: URL
  readonly rootPem: string
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly lookup?: LookupFunction | undefined
}

export interface AuthorityAnswer {
  readonly status: number
  readonly body: string
  readonly date: string | undefined
}

export type AuthorityFault = Pick<AuthorityFacts, 'fault' | 'reason'>

const REPLY_BYTES_MAX = 256 * 1024

/** The connection is gone at the deadline, however far it is. */
export function askAuthority(
  { caUrl, rootPem, signal, lookup }: AuthorityPlace,
  path: string,
): Promise<AuthorityAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, caUrl.origin),
      { ca: rootPem, agent: false, signal, ...(lookup && { lookup }) },
      (response) => {
        const chunks: Buffer[] = []
        let length = 0
        response.on('data', (chunk: Buffer) => {
          length += chunk.length
          if (length > REPLY_BYTES_MAX) response.destroy(new Error('its answer is too long'))
          else chunks.push(chunk)
        })
        response.once('error', reject)
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks).toString('utf8'),
            date: response.headers.date,
          }),
        )
      },
    )
    outgoing.once('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error))
    outgoing.end()
  })
}

export function faultOfFailure(error: unknown): AuthorityFault {
  const kind = classifyConnectionFailure(error)
  if (kind === 'clock') return { fault: 'other_time', reason: describeConnectionFailure(error) }
  const isOfTrust = kind === 'untrusted' || kind === 'other_names'
  return {
    fault: isOfTrust ? 'untrusted' : 'unreachable',
    reason: describeConnectionFailure(error),
  }
}

export function findSecondsAhead(date: string | undefined, now: Date): number | null {
  const theirsMs = Date.parse(date ?? '')
  if (Number.isNaN(theirsMs)) return null
  // The header has whole seconds, of which half has passed on average.
  return Math.round((now.getTime() - theirsMs - 500) / 1000)
}
