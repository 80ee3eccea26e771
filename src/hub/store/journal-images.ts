// The port to the images in a journal. An image is a copy of a whole database at a position of the journal, sealed in pieces: a new hub, or
// one that is too far behind, begins with it, and records that nobody needs any more can go. docs/protocol.md JRN-6 to JRN-12.

import type { JournalPosition } from './journal.ts'

export interface ImageHead {
  readonly position: JournalPosition
  /** Which kind of store reads the bytes. */
  readonly kind: string
  /** Of its tables. */
  readonly version: number
  readonly bytes: number
  /** Of the key of this image, lower-case hex. */
  readonly salt: string
}

export interface JournalImage extends ImageHead {
  readonly id: string
}

/** What there is, for metrics, and to tell when another image is due. */
export interface JournalSize {
  /** The number of the last record. */
  readonly end: number
  /** The newest whole image. */
  readonly newest: ImageAge | undefined
  /** Since the newest image, or the beginning. */
  readonly recordsSince: number
  readonly recordBytesSince: number
}

export interface ImageAge {
  /** Of its last record. */
  readonly number: number
  readonly bytes: number
  /** By the clock of the journal. */
  readonly ageMs: number
}

export interface JournalImages {
  /** The whole ones, newest first. */
  list(): Promise<readonly JournalImage[]>
  /** The pieces that are there, in their order. Nothing says that they are all; one is in memory at a time. */
  read(image: Pick<JournalImage, 'id'>): AsyncGenerator<Buffer, void>
  /**
   * Undefined while somebody else writes one. Removes first what others left unfinished. Throws StoreError `store_diverged` for a position
   * that is none of this journal.
   */
  begin(head: ImageHead, pieces: number): Promise<ImageWriter | undefined>
  /** Removes all but the two newest whole images, and the records that are older than both. Does nothing while somebody writes an image. */
  trim(): Promise<void>
  measure(): Promise<JournalSize>
}

/** Everything of it may throw StoreError `store_unavailable`: then there is no image, and nobody goes on with this one. */
export interface ImageWriter {
  append(piece: Buffer): Promise<void>
  /** All pieces are there: from here on it is an image. */
  finish(): Promise<void>
  /** Never rejects. */
  close(): Promise<void>
}
