// A standby becomes the hub: its log goes on in another epoch, by which agents know the hub that it was from the hub that it is.
// docs/protocol.md STB-14 to STB-17.

import type { Clock } from '../../platform/clock.ts'
import { HubEventType } from '../../protocol/words.ts'
import type { KeptOutside } from '../backup/restore-vault.ts'
import { openSegments } from '../service/act-segment.ts'
import { appendEntry } from '../service/append-entries.ts'
import { findEndedLogs } from '../service/ended-logs.ts'
import { hubAct } from '../service/hub-acts.ts'
import { beginEpoch } from '../service/log-tree.ts'
import type { Store } from '../store/store.ts'
import type { UnsealedVault } from '../vault/vault.ts'
import type { StandbyMode } from '../../protocol/standby.ts'
import { writeRole } from './standby-role.ts'

export interface PromotionFacts {
  /** The last record of the hub that is here. */
  readonly record: number
  /** How the hub said it would go on without a standby; undefined when it was never heard. */
  readonly mode: StandbyMode | undefined
  /** When the hub was heard last. */
  readonly heardAt: Date | undefined
}

export interface Promotion {
  /** Undefined for a vault that had signed nothing yet. */
  readonly epoch: number | undefined
}

/** What is in SVC_CHECKPOINT_PATH. */
export interface OutsideVault {
  readKept(this: void, vaultId: string): Promise<KeptOutside>
  setAside(this: void, vaultId: string, now: Date): Promise<void>
}

export interface Promoting {
  readonly vault: UnsealedVault
  readonly clock: Clock
  /** Undefined where nothing is kept outside of the vault. */
  readonly outside: OutsideVault | undefined
}

interface BeginningPromotion extends Pick<Promoting, 'vault' | 'clock'> {
  readonly kept: KeptOutside | undefined
}

/** In one transaction. */
export async function beginPromoted(
  store: Store,
  { vault: { vaultId }, clock, kept }: BeginningPromotion,
  { record, mode, heardAt }: PromotionFacts,
): Promise<Promotion> {
  const at = clock.now()
  return store.write(async (writer) => {
    const before = await writer.findLogTree()
    const signed = [...(kept?.checkpoints ?? []), ...(kept?.earlier ?? [])]
    if (before !== undefined) signed.push(before.checkpoint)
    const segments = before === undefined ? [] : openSegments(kept?.acts ?? [], before)
    const ended = before && (await findEndedLogs(writer, before, signed, segments))
    // The time, so that two machines that are promoted do not sign under one name.
    const atLeast = Math.floor(at.getTime() / 1000)
    const tree = before && beginEpoch(before, vaultId, { ended, atLeast })
    if (tree !== undefined) await writer.putLogTree(tree, [])
    // A hub that went on alone may have renewed identities that are not here: their receipts are good.
    if (mode !== 'required') await writer.setLastRestore({ at, backupAt: heardAt ?? at })
    const payload = {
      actor: 'admin',
      record,
      mode: mode ?? null,
      ...(tree !== undefined && { epoca: tree.epoch }),
    }
    await appendEntry(writer, hubAct(at, HubEventType.standbyPromoted, payload))
    return { epoch: tree?.epoch }
  })
}

/** After the transaction, also when the process was killed in between. */
export async function finishPromotion({
  vault: { root, vaultId },
  clock,
  outside,
}: Promoting): Promise<void> {
  // Of the epoch that ended: held against it, the vault would pass for one that was put back.
  await outside?.setAside(vaultId, clock.now())
  await writeRole(root, { role: 'hub', journal: '', met: false })
}
