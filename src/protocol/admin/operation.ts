// What an admin operation is: one entry says everything about it that hub, CLI and other clients have to know.

import type { Static, TInteger, TNull, TObject, TSchema, TString, TUnion } from 'typebox'
import { SELECTOR_CHARACTERS_MAX } from '../selector.ts'
import { LIST_PAGE_MAX } from './bounds.ts'
import { Type } from './plain-type.ts'
import type { AdminRole } from './roles.ts'

export interface AdminOperation {
  /** Whatever creates takes an `Idempotency-Key`; whatever creates or changes can be asked with `dry_run`. */
  readonly does: 'reads' | 'changes' | 'creates'
  readonly method: 'GET' | 'POST'
  /** `:name` stands for a field of the request. */
  readonly path: string
  /** 200 unless it says otherwise. */
  readonly status?: number
  /** The least role that it needs. */
  readonly role: AdminRole
  /** An admin token that is bounded to some hosts may ask for it, and is answered for these hosts alone. docs/protocol.md LBL-16. */
  readonly isForSomeHosts?: true
  /** For the description of the API. */
  readonly summary: string
  readonly request: TObject
  readonly reply: TObject
  /** What the `ETag` of its reply is; a request with a field `versao` or `etag` takes it in `If-Match`. */
  readonly version?: 'versao' | 'politica' | 'etag'
  /**
   * A session confirms it by a passkey, where the hub asks for that (`unless_first`: unless its owner has none yet; `ifTrue`: the requests
   * in which this field is true). Such are the acts that nobody can take back, that say whom hosts trust or what they may have, and that
   * make another way in, or one for the log out. docs/protocol.md PKY-2.
   */
  readonly confirm?: 'always' | 'unless_first' | { readonly ifTrue: string }
  /** It may be about a whole fleet, takes its time, and waits for others of its kind. docs/protocol.md FLT-4. */
  readonly isFleetWide?: true
}

/** Of whatever changes or creates: the acts that it would record, and how many agents it would tell. docs/protocol.md API-27. */
export const AdminRehearsal = Type.Object({
  dry_run: Type.Literal(true),
  acts: Type.Array(
    Type.Object({
      tipo: Type.String(),
      payload: Type.Record(Type.String(), Type.Unknown()),
      entrega_id: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
  agentes: Type.Integer(),
  /** Of a politica: what it would mean. docs/protocol.md POL-28. */
  politica: Type.Optional(
    Type.Object({
      /** How many agents it would hold for. */
      agentes: Type.Integer(),
      /** How many cargas have names that it would forbid to agents that have them. */
      cargas: Type.Integer(),
      /** The first of these. */
      cargas_afetadas: Type.Array(
        Type.Object({
          carga_id: Type.String(),
          nome: Type.String(),
          /** The forbidden names. */
          sans: Type.Array(Type.String()),
          /** How many agents have it. */
          agentes: Type.Integer(),
        }),
      ),
    }),
  ),
})
export type AdminRehearsal = Static<typeof AdminRehearsal>

/** The same, with the field that asks for a rehearsal in place of the act. */
export function withRehearsal(operation: AdminOperation): AdminOperation {
  if (operation.does === 'reads') return operation
  const fields = { ...operation.request.properties, dry_run: Type.Optional(Type.Boolean()) }
  return { ...operation, request: Type.Object(fields) }
}

export const text = Type.String({ minLength: 1, maxLength: 512 })

/** Which hosts, by labels, roles and names. docs/protocol.md LBL-5. */
export const selectorText = Type.String({ minLength: 1, maxLength: SELECTOR_CHARACTERS_MAX })

/** A key or a value of a label; the use case says what is wrong with one that is long. */
export const labelText = Type.String({ maxLength: 512 })
/** By key. docs/protocol.md LBL-1. */
export const givenLabels = Type.Record(Type.String(), labelText)

export const nothing = Type.Object({})

export const listRequest = Type.Object({
  /** The `next` of the page before. */
  after: Type.Optional(text),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_PAGE_MAX })),
})

/** RFC 3339, UTC. */
export const time: TString = Type.String()

export function nullable<S extends TSchema>(schema: S): TUnion<[S, TNull]> {
  return Type.Union([schema, Type.Null()])
}

/** How many rows there are on all pages; null where to count them would take long. docs/protocol.md API-122. */
export const total: TUnion<[TInteger, TNull]> = nullable(Type.Integer())

/** What the next page starts after. */
export const next = nullable(Type.String())
