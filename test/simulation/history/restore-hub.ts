// As `svc restore`: the vault of a hub that was lost, from a backup and from what is kept outside. What it reads and writes
// outside it does step by step, and may be killed between them; the vault itself it makes in one step, since
// src/hub/backup/restore-vault.test.ts kills it everywhere there.

import { Readable } from 'node:stream'
import {
  type RestoredBackup,
  type RestoreOptions,
  restoreVault,
} from '../../../src/hub/backup/restore-vault.ts'
import { checkpointFiles } from '../../../src/hub/checkpoint-files.ts'
import { readKeptOutside } from '../../../src/hub/keep-outside.ts'
import { openVaultStore } from '../../../src/hub/open-store.ts'
import { replayActs } from '../../../src/hub/service/admin/replay-acts.ts'
import { SQLITE_COPY_KIND } from '../../../src/hub/store/sqlite/database-copy.ts'
import { MIGRATIONS } from '../../../src/hub/store/sqlite/migrations.ts'
import { OUTSIDE_DIR } from './boot-hub.ts'
import type { CrashingHub } from './crashing-hub.ts'
import type { Faults } from './faults.ts'
import { type Kernel, type Program, runBeside } from './kernel.ts'

export interface HubRestore {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly hub: CrashingHub
  readonly backup: Buffer
  /** Puts a fault into it, perhaps. */
  readonly surround: (options: RestoreOptions) => RestoreOptions
}

const STEPS_TO_LIVE_MAX = 30

/** Undefined when it was killed: whatever there is then, is no vault that a hub serves from. Throws what `svc restore` says. */
export function restoreHub(restore: HubRestore): Promise<RestoredBackup | undefined> {
  const { kernel, faults, hub } = restore
  const program = hub.createProgram('svc restore')
  return new Promise((resolve, reject) => {
    let restored: RestoredBackup | undefined
    const onRestored = (made: RestoredBackup): void => {
      restored = made
    }
    // With the checkpoint aside, and the vault made, it had nothing more to do.
    program.onDeath(() => resolve(hub.countOutside() === undefined ? restored : undefined))
    if (faults.happens('restore killed')) {
      program.doom(Math.floor(kernel.random() * STEPS_TO_LIVE_MAX), () => program.kill())
    }
    program
      .run(() => run(restore, program, onRestored))
      .then(resolve, reject)
      .finally(() => program.kill())
  })
}

async function run(
  { kernel, hub, backup, surround }: HubRestore,
  program: Program,
  onRestored: (restored: RestoredBackup) => void,
): Promise<RestoredBackup> {
  const { clock } = program
  const { vaultId, root, dataKey } = hub.vault
  const files = checkpointFiles(OUTSIDE_DIR, vaultId)
  const kept = await readKeptOutside(OUTSIDE_DIR, vaultId)
  const options = surround({
    pieces: Readable.from([backup]),
    name: 'the backup',
    readable: { kind: SQLITE_COPY_KIND, version: MIGRATIONS.length },
    unwrap: async () => dataKey,
    root,
    clock,
    open: (vault) => openVaultStore(vault, { clock, checkPages: true }),
    readKept: async () => kept,
    replay: replayActs,
  })
  const restored = await program.step(() => runBeside(kernel.random, () => restoreVault(options)))
  onRestored(restored)
  await files.setAside(clock.now())
  return restored
}
