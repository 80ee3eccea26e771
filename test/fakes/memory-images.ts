// The images of a journal in memory, which may be told to misbehave: to fail at a piece, and its stored pieces may be changed.

import type {
  ImageHead,
  ImageWriter,
  JournalImage,
  JournalImages,
  JournalSize,
} from '../../src/hub/store/journal-images.ts'
import { StoreError } from '../../src/hub/store/store-error.ts'
import type { MemoryJournal } from './memory-journal.ts'

interface StoredImage extends JournalImage {
  readonly pieces: Buffer[]
  madeAtMs: number | undefined
}

export class MemoryImages implements JournalImages {
  readonly stored: StoredImage[] = []
  /** The writer fails before it takes so many more pieces. */
  piecesLeft = Number.POSITIVE_INFINITY
  nowMs = 0
  readonly #journal: Pick<MemoryJournal, 'end' | 'records' | 'dropUntil'>
  #isTaken = false
  #made = 0

  constructor(journal: Pick<MemoryJournal, 'end' | 'records' | 'dropUntil'>) {
    this.#journal = journal
  }

  async list(): Promise<readonly StoredImage[]> {
    return this.stored
      .filter(({ madeAtMs }) => madeAtMs !== undefined)
      .toSorted((one, other) => other.position.number - one.position.number)
  }

  async *read({ id }: Pick<JournalImage, 'id'>): AsyncGenerator<Buffer, void> {
    const image = this.stored.find((stored) => stored.id === id)
    for (const piece of image?.pieces ?? []) yield Buffer.from(piece)
  }

  async begin(head: ImageHead): Promise<ImageWriter | undefined> {
    if (this.#isTaken) return undefined
    this.#isTaken = true
    this.#removeHalves()
    const image: StoredImage = {
      ...head,
      id: String((this.#made += 1)),
      pieces: [],
      madeAtMs: undefined,
    }
    this.stored.push(image)
    return {
      append: async (piece) => {
        if (this.piecesLeft <= 0) throw new StoreError('store_unavailable', 'the journal is away')
        this.piecesLeft -= 1
        image.pieces.push(Buffer.from(piece))
      },
      finish: async () => {
        image.madeAtMs = this.nowMs
      },
      close: async () => {
        this.#isTaken = false
      },
    }
  }

  async trim(): Promise<void> {
    if (this.#isTaken) return
    const whole = await this.list()
    for (const image of whole.slice(2)) image.madeAtMs = undefined
    this.#removeHalves()
    const [, older] = whole
    if (older !== undefined) this.#journal.dropUntil(older.position.number - 1)
  }

  async measure(): Promise<JournalSize> {
    const [newest] = await this.list()
    const end = this.#journal.end.number
    const since = this.#journal.records.filter(
      ({ number }) => number > (newest?.position.number ?? 0),
    )
    return {
      end,
      newest: newest && {
        number: newest.position.number,
        bytes: newest.bytes,
        ageMs: this.nowMs - (newest.madeAtMs ?? 0),
      },
      recordsSince: end - (newest?.position.number ?? 0),
      recordBytesSince: since.reduce((sum, { sealed }) => sum + sealed.length, 0),
    }
  }

  #removeHalves(): void {
    this.stored.splice(
      0,
      this.stored.length,
      ...this.stored.filter(({ madeAtMs }) => madeAtMs !== undefined),
    )
  }
}
