// A log as a hub shows it to its witnesses, by the hub's own code over records in memory: honest until a test makes it lie.

import type { WitnessedHub } from '../../src/agent/witness/check-log.ts'
import { EMPTY_FRONTIER, growTree, rootOf } from '../../src/audit/merkle-tree.ts'
import { hashRecord } from '../../src/audit/record.ts'
import {
  beginEpoch,
  growLogTree,
  newLogTree,
  openOfAnyEpoch,
} from '../../src/hub/service/log-tree.ts'
import type { EndedLog } from '../../src/hub/service/ended-logs.ts'
import { showLog } from '../../src/hub/service/agent/show-log.ts'
import type { LogTree } from '../../src/hub/domain/log-tree.ts'
import type { StoreReader } from '../../src/hub/store/store.ts'
import type { HubOutcome } from '../../src/agent/hub/request.ts'

const VAULT = 'vault'

export interface WitnessedBackup {
  readonly records: readonly string[]
  readonly tree: LogTree
}

export class WitnessedLog {
  #records: string[] = []
  #tree = newLogTree(VAULT)
  readonly asked: string[] = []
  /** What it answers instead, once. */
  refusal: { readonly status: number; readonly code: string } | undefined

  append(count: number): this {
    const start = this.#records.length
    const records = Array.from({ length: count }, (_, index) => `record ${start + index}`)
    this.#records.push(...records)
    this.#tree = growLogTree(this.#tree, records).tree
    return this
  }

  /** As whoever holds the vault and its keys does it: every hash is made again, and signed. */
  rewrite(change: (records: string[]) => string[]): this {
    this.#records = change(this.#records)
    const { privateKeyDer, epoch, origin, epochs } = this.#tree
    const empty: LogTree = {
      ...this.#tree,
      privateKeyDer,
      epoch,
      origin,
      frontier: EMPTY_FRONTIER,
      epochs,
    }
    this.#tree = growLogTree(empty, this.#records).tree
    return this
  }

  /** As an accepted loss, or a restore, does it. */
  beginEpoch(lastKnown?: string): this {
    const ended = lastKnown === undefined ? [] : this.#endOf([lastKnown], this.#records.length)
    this.#tree = beginEpoch(this.#tree, VAULT, { ended })
    return this
  }

  backUp(): WitnessedBackup {
    return { records: [...this.#records], tree: this.#tree }
  }

  /** With the checkpoints that are known of the logs that end, which have so many entries in common with the backup. */
  restore(
    backup: WitnessedBackup,
    keptOutside: readonly string[],
    common = backup.records.length,
  ): this {
    this.#records = [...backup.records]
    this.#tree = backup.tree
    this.#tree = beginEpoch(backup.tree, VAULT, { ended: this.#endOf(keptOutside, common) })
    return this
  }

  /** With a key of its own. */
  replaceKey(): this {
    this.#tree = newLogTree(VAULT)
    this.#tree = growLogTree(this.#tree, this.#records).tree
    return this
  }

  get checkpoint(): string {
    return this.#tree.checkpoint
  }

  get hub(): WitnessedHub {
    const shown = showLog(this.#reader(), () => this.#tree)
    return {
      fetchLog: async () => this.#answer('log', await shown.describe()),
      proveConsistency: async (from, to) => {
        const proven = await shown.prove(from, to)
        const proof = proven?.proof.map((text) => Buffer.from(text, 'base64'))
        return this.#answer(`${from}-${to}`, proof)
      },
    }
  }

  #endOf(notes: readonly string[], common: number): readonly EndedLog[] {
    const { frontier } = growTree(EMPTY_FRONTIER, this.#records.slice(0, common).map(hashRecord))
    const base = { size: common, root: rootOf(frontier) }
    return notes.flatMap((note) => {
      const last = openOfAnyEpoch(this.#tree, note)
      return last === undefined ? [] : [{ last, base }]
    })
  }

  #answer<Value>(asked: string, value: Value | undefined): HubOutcome<Value> {
    this.asked.push(asked)
    const { refusal } = this
    this.refusal = undefined
    if (refusal !== undefined) return { ok: false, ...refusal }
    if (value === undefined) return { ok: false, status: 400, code: 'request_invalid' }
    return { ok: true, value, hubTime: undefined }
  }

  #reader(): StoreReader {
    const reader: Pick<StoreReader, 'listRecords' | 'listLogNodes'> = {
      listRecords: async (afterSeq, limit) => this.#records.slice(afterSeq, afterSeq + limit),
      listLogNodes: async (ids) => {
        const { filled } = growTree(EMPTY_FRONTIER, this.#records.map(hashRecord))
        return ids.map(({ level, index }) => {
          const node = filled.find((one) => one.level === level && one.index === index)
          return node?.hash ?? Buffer.alloc(32)
        })
      },
    }
    return reader as StoreReader
  }
}
