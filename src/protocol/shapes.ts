// What the shapes of several messages are made of.

import { Type, type TSchema, type TUnion, type TNull, type TString } from 'typebox'

/** RFC 3339, UTC. */
export const time: TString = Type.String()

export function nullable<S extends TSchema>(schema: S): TUnion<[S, TNull]> {
  return Type.Union([schema, Type.Null()])
}
