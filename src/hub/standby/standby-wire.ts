// What a hub and its standby say to each other, over HTTP/1.1 and TLS 1.3. docs/protocol.md STB-5.

import { type Static, Type } from 'typebox'
import { StandbyMode } from '../../protocol/standby.ts'

export const STANDBY_ROUTES = {
  claim: '/v1/standby/claim',
  records: '/v1/standby/records',
  image: '/v1/standby/image',
} as const

export const CLAIM_HEADER = 'x-claim'
export const NUMBER_HEADER = 'x-number'
export const IMAGE_HEADER = 'x-image'

const Position = Type.Object({
  number: Type.Integer({ minimum: 0 }),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})

/** A hub says that it is there, each second and whenever it lost its connection. */
export const ClaimBody = Type.Object({
  /** Of this process. */
  hub: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  mode: StandbyMode,
})
export type ClaimBody = Static<typeof ClaimBody>

export const ClaimReply = Type.Union([
  Type.Object({
    role: Type.Literal('standby'),
    /** For all that follows, until another claim. */
    claim: Type.String({ maxLength: 64 }),
    /** Empty before the first image. */
    journal: Type.String({ maxLength: 32 }),
    end: Type.Union([Position, Type.Null()]),
  }),
  /** A machine that was promoted, or never was a standby. */
  Type.Object({ role: Type.Literal('hub'), epoch: Type.Integer({ minimum: 0 }) }),
])
export type ClaimReply = Static<typeof ClaimReply>

export const ImageBody = Type.Object({
  journal: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  position: Position,
  kind: Type.String({ maxLength: 32 }),
  version: Type.Integer({ minimum: 0 }),
  bytes: Type.Integer({ minimum: 0 }),
  salt: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})

export const EndReply = Type.Object({ end: Position })
export const RecordsReply = Type.Object({
  records: Type.Array(Type.Object({ number: Type.Integer({ minimum: 1 }), sealed: Type.String() })),
})

/** `refused`: nothing happened, and may be tried again; `claimed`: by another hub, or by another connection of this one. */
export const FailureReply = Type.Object({
  error: Type.Union([
    Type.Literal('refused'),
    Type.Literal('claimed'),
    Type.Literal('diverged'),
    Type.Literal('promoted'),
    Type.Literal('invalid'),
  ]),
  message: Type.String({ maxLength: 1000 }),
})
export type FailureReply = Static<typeof FailureReply>

/** Far above a record: a write function ends its transaction at 4 MiB, and a file has at most 8 MiB. */
export const RECORD_BYTES_MAX = 64 * 1024 * 1024

export interface WirePosition {
  readonly number: number
  readonly hash: string
}

export function showPosition({ number, hash }: { number: number; hash: Buffer }): WirePosition {
  return { number, hash: hash.toString('hex') }
}

export function readPosition({ number, hash }: WirePosition): { number: number; hash: Buffer } {
  return { number, hash: Buffer.from(hash, 'hex') }
}
