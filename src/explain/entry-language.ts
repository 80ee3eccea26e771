// What a language has to say of entries. A second language is a second value of EntryLanguage; the compiler asks it for each type.

import type { EntrySeverity, KnownEventType } from './entry-kinds.ts'

export interface EntryDescription {
  readonly severity: EntrySeverity
  /** The same for all entries of one kind. */
  readonly title: string
  readonly sentence: string
  /** The host, the cargo or whatever else it is about; null where the entry names none. */
  readonly subject: string | null
  /** Of the console, such as `/hosts/<id>`. */
  readonly path: string
}

/** What a sentence may say: text that is safe to show, and never empty. */
export interface EntryFacts {
  /** The host that it is about, or a word in its place. */
  readonly host: string
  /** Who did it, or undefined for what nobody asked for. */
  readonly actor: string | undefined
  readonly text: (field: string) => string | undefined
  /** The first of the fields that is there, or the words in their place. */
  readonly say: (otherwise: string, ...fields: readonly string[]) => string
  readonly number: (field: string) => number | undefined
  readonly moment: (field: string) => string | undefined
  readonly list: (field: string) => readonly string[]
}

export interface EntryWords {
  readonly title: string
  readonly sentence: (facts: EntryFacts) => string
}

/** What one language says. A second language is a second one of these. */
export interface EntryLanguage {
  readonly aHost: string
  /** To the minute, in a zone that the reader knows; without it in UTC, which is said. */
  readonly momentOf?: (at: Date) => string
  readonly known: Readonly<Record<KnownEventType, EntryWords>>
  /** What an agent sent under a name of its own, or under one of the hub's. */
  readonly unknown: (type: string, isFromAgent: boolean) => EntryWords
  /** What stands around entries that are shown together. */
  readonly digest: DigestWords
}

export interface DigestWords {
  /** After some entries of one kind: how many more there are. */
  readonly more: (count: number) => string
  /** After some kinds of entries: how many entries of other kinds there are. */
  readonly others: (count: number) => string
  readonly count: (count: number) => string
  readonly entry: (seq: number) => string
  readonly open: string
  /** Who says so, and where all of it is. */
  readonly source: (hub: string, firstSeq: number, lastSeq: number) => string
  readonly test: EntryDescription
}
