// How much the body of an admin operation may hold: what its description has room for. A search needs no room for a sealed file, and
// what is read costs the hub. docs/protocol.md LIM-22, LIM-35.

import { GIVEN_LABELS_MAX } from '../labels.ts'
import type { AdminOperation } from './operation.ts'

export interface BodyRoom {
  readonly bytesMax: number
  /** Names and values that are strings. */
  readonly stringsMax: number
  /** Characters outside of them: numbers, brackets, blanks. */
  readonly outsideMax: number
}

interface Content {
  readonly strings: number
  readonly characters: number
}

/** JSON Schema, as far as plain-type.ts makes it. */
interface Schema {
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly maxItems?: number
  readonly maxLength?: number
}

const BYTES_MIN = 1024 * 1024
/** Room for a sealed file, in base64. */
const BYTES_MAX = 16 * BYTES_MIN
const STRINGS_MIN = 4096
const STRINGS_MAX = 65_536

/** In UTF-8, of what JavaScript counts as one. */
const BYTES_OF_CHARACTER_MAX = 3
const OUTSIDE_FOR_EACH_STRING = 16

/** Also of what is asked for without a body. */
export const LEAST_BODY_ROOM: BodyRoom = roomFor({ strings: 0, characters: 0 })

/** In powers of two, so that a few names more, which the hub ignores, are no fault. */
export function bodyRoomOf({ request }: Pick<AdminOperation, 'request'>): BodyRoom {
  return roomFor(contentOf(request))
}

function roomFor({ strings, characters }: Content): BodyRoom {
  const stringsMax = doubledUntil(strings, STRINGS_MIN, STRINGS_MAX)
  return {
    bytesMax: doubledUntil(characters * BYTES_OF_CHARACTER_MAX, BYTES_MIN, BYTES_MAX),
    stringsMax,
    outsideMax: OUTSIDE_FOR_EACH_STRING * stringsMax,
  }
}

function doubledUntil(needed: number, min: number, max: number): number {
  let room = min
  while (room < needed && room < max) room *= 2
  return room
}

/** The most that there can be. A text whose bound is its use case's, such as a CA, is short beside what is free. */
function contentOf({ anyOf, properties, patternProperties, items, ...rest }: Schema): Content {
  if (anyOf !== undefined) return mostOf(anyOf.map(contentOf))
  if (properties !== undefined) return sumOf(Object.entries(properties).map(contentOfField))
  // Records are of labels.
  if (patternProperties !== undefined) {
    return times(GIVEN_LABELS_MAX, sumOf(Object.entries(patternProperties).map(contentOfField)))
  }
  if (items !== undefined) return times(rest.maxItems ?? STRINGS_MAX, contentOf(items))
  return { strings: 1, characters: rest.maxLength ?? 0 }
}

function contentOfField([name, schema]: readonly [string, Schema]): Content {
  return sumOf([{ strings: 1, characters: name.length }, contentOf(schema)])
}

function sumOf(parts: readonly Content[]): Content {
  return parts.reduce(
    (sum, part) => ({
      strings: sum.strings + part.strings,
      characters: sum.characters + part.characters,
    }),
    { strings: 0, characters: 0 },
  )
}

function mostOf(parts: readonly Content[]): Content {
  return {
    strings: Math.max(...parts.map(({ strings }) => strings)),
    characters: Math.max(...parts.map(({ characters }) => characters)),
  }
}

function times(count: number, { strings, characters }: Content): Content {
  return { strings: count * strings, characters: count * characters }
}
