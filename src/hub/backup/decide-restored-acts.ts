import type { BackupHead } from '../../backup/backup-head.ts'
import { HubEventType } from '../../protocol/words.ts'
import type { LogTree } from '../domain/log-tree.ts'
import type { AdminAct } from '../service/admin-act.ts'

/** What is known when a vault is restored. */
export interface RestoreFacts {
  readonly head: BackupHead
  /** In the epoch that the log goes on in; undefined of a vault that had none yet. */
  readonly tree: LogTree | undefined
  /** What the hub kept outside the vault last. */
  readonly keptCheckpoint: string | undefined
  /** Why there may be acts after the backup that nobody knows. */
  readonly gap: string | undefined
}

/**
 * What a restored vault says first in its log, before anybody uses it. docs/protocol.md BKP-9, BKP-19.
 */
export function decideRestoredActs(facts: RestoreFacts): readonly AdminAct[] {
  const { head, tree, keptCheckpoint, gap } = facts
  return [
    {
      type: HubEventType.vaultRestored,
      payload: {
        backup_id: head.backupId,
        backup_created_at: head.createdAt,
        backup_actor: head.actor,
        entries: head.log.entries,
        head: head.log.hash,
        checkpoint: keptCheckpoint ?? head.log.checkpoint,
        epoca: tree?.epoch ?? null,
        acts_missing: gap ?? null,
      },
    },
  ]
}
