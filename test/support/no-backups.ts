import type { BackupMaker } from '../../src/hub/backup/make-backup.ts'

/** For servers that nobody asks for a backup. */
export const NO_BACKUPS: BackupMaker = {
  begin: () => Promise.reject(new Error('nobody asks for a backup here')),
}
