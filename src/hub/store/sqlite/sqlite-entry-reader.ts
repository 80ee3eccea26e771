// The audit log, as the port reads it.

import type { ChainEnd } from '../../../audit/chain-entries.ts'
import type { NodeId } from '../../../audit/merkle-tree.ts'
import type { Secret } from '../../../platform/secret.ts'
import type { AgentId, TokenHash } from '../../../protocol/identifiers.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { LogSegment } from '../../domain/log-segment.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import type { EntryFilter, EntrySource, SeqRange } from '../store.ts'
import {
  type EntryRow,
  selectRecords,
  selectChainEnd,
  selectEntries,
  selectEntriesOf,
  selectFirstSeqSince,
  selectLastEntries,
  toEntry,
} from './entries.ts'
import type { LastRestore } from '../../domain/decide-take-back.ts'
import type { OpenSigning } from '../../domain/open-signing.ts'
import { selectOpenSignings, selectSigningOfToken } from './open-signings.ts'
import { isOwnCertificate } from './own-certificate.ts'
import { selectLastRestore } from './last-restore.ts'
import { selectActors, selectEntrySeqs, selectIndexedFrom } from './entry-subjects.ts'
import {
  selectArchiveKey,
  selectFirstSeq,
  selectLastSegment,
  selectSegments,
  selectSegmentSince,
} from './log-archive.ts'
import { selectLogNodes, selectLogTree } from './log-tree.ts'
import type { SqlSession } from './sql-session.ts'
import { selectKeysGeneration } from './vault-keys.ts'

/** `session` answers the connection to ask, or throws when it may not be used now. */
export class SqliteEntryReader {
  protected readonly session: () => SqlSession

  constructor(session: () => SqlSession) {
    this.session = session
  }

  async findChainEnd(): Promise<ChainEnd | undefined> {
    return selectChainEnd(this.session())
  }

  async findEntryByRequestId(agentId: AgentId, requestId: string): Promise<AuditEntry | undefined> {
    const sql = 'SELECT * FROM eventos WHERE agente_id = ? AND request_id = ?'
    const row = this.session().get<EntryRow>(sql, agentId, requestId)
    return row && toEntry(row)
  }

  async listRecords(afterSeq: number, limit: number): Promise<string[]> {
    return selectRecords(this.session(), afterSeq, limit)
  }

  async listEntries(filter: EntryFilter): Promise<AuditEntry[]> {
    return selectEntries(this.session(), filter)
  }

  async listLastEntries(
    filter: Partial<Omit<EntryFilter, 'limit'>>,
    count: number,
  ): Promise<AuditEntry[]> {
    return selectLastEntries(this.session(), filter, count)
  }

  async listEntrySeqs(source: EntrySource, range: SeqRange): Promise<number[]> {
    return selectEntrySeqs(this.session(), source, range)
  }

  async listActors(limit: number): Promise<string[]> {
    return selectActors(this.session(), limit)
  }

  async findEntries(seqs: readonly number[]): Promise<AuditEntry[]> {
    return selectEntriesOf(this.session(), seqs)
  }

  async findFirstSeqSince(since: Date): Promise<number | undefined> {
    return selectFirstSeqSince(this.session(), since)
  }

  async findLogTree(): Promise<LogTree | undefined> {
    return selectLogTree(this.session())
  }

  async listLogNodes(ids: readonly NodeId[]): Promise<Buffer[]> {
    return selectLogNodes(this.session(), ids)
  }

  async findFirstSeq(): Promise<number | undefined> {
    return selectFirstSeq(this.session())
  }

  async findSegment(seq: number): Promise<LogSegment | undefined> {
    return selectSegments(this.session(), seq, 1)[0]
  }

  async findSegmentSince(since: Date): Promise<LogSegment | undefined> {
    return selectSegmentSince(this.session(), since)
  }

  async findLastSegment(): Promise<LogSegment | undefined> {
    return selectLastSegment(this.session())
  }

  async listSegments(afterSeq: number, limit: number): Promise<LogSegment[]> {
    return selectSegments(this.session(), afterSeq + 1, limit)
  }

  async findArchiveKey(): Promise<Secret<Buffer> | undefined> {
    return selectArchiveKey(this.session())
  }

  async findIndexedFrom(): Promise<number> {
    return selectIndexedFrom(this.session())
  }

  async findKeysGeneration(): Promise<number> {
    return selectKeysGeneration(this.session())
  }

  async findLastRestore(): Promise<LastRestore | undefined> {
    return selectLastRestore(this.session())
  }

  async isOwnCertificate(sha256: string): Promise<boolean> {
    return isOwnCertificate(this.session(), sha256)
  }

  async findSigningOfToken(hash: TokenHash): Promise<OpenSigning | undefined> {
    return selectSigningOfToken(this.session(), hash)
  }

  async listOpenSignings(limit: number): Promise<OpenSigning[]> {
    return selectOpenSignings(this.session(), limit)
  }
}
