import type { Command } from 'commander'
import { BackupOnItsWay, type FollowedBackup } from '../../../backup/follow-backup.ts'
import { invariant, UserError } from '../../../platform/errors.ts'
import { refuseTaken } from '../../../platform/stream-to-file.ts'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { explainFile } from '../explain-file.ts'
import { refuseTerminal, STANDARD_OUTPUT, writeOutFile } from '../out-file.ts'
import { registerBackupVerify } from './backup-verify.ts'

interface BackupOptions {
  readonly replace?: true
  readonly json?: true
}

export function registerBackup(program: Command, context: CommandContext): void {
  const backup = program
    .command('backup')
    .description('back up the vault, beside a running hub or without one')
    .argument('<file>', 'where to; - is standard output')
    .option('--replace', 'replace the file if it exists')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A backup holds the vault as it is at one moment: the database, encrypted, and config.json. The passphrase of the vault opens it, and
nothing else does: keep the two apart. The hub goes on serving meanwhile. The file appears under its name when it is whole. The
audit log says who began a backup.

Examples:
  svc backup /backup/cartorio-$(date +%F).svcbackup
  svc backup - | ssh backup.example.org 'cat > cartorio.svcbackup'
`,
    )
    .action((file: string, options: BackupOptions) =>
      file === STANDARD_OUTPUT
        ? backUpToOutput(context, options)
        : backUpToFile(context, file, options),
    )
  registerBackupVerify(backup, context)
}

async function backUpToOutput(context: CommandContext, options: BackupOptions): Promise<void> {
  const { output, vault } = context
  if (options.json) {
    throw new UserError('usage', '--json and - exclude each other', {
      hint: 'standard output is the backup',
    })
  }
  refuseTerminal(output, 'a backup')
  await vault.withBackup({ isForFile: false }, async (pieces) => {
    const backup = follow(context, pieces)
    for await (const piece of backup.pieces()) await output.writeBytes(piece)
  })
}

async function backUpToFile(
  context: CommandContext,
  file: string,
  options: BackupOptions,
): Promise<void> {
  const { output, vault, progress } = context
  if (options.replace !== true) await explainFile(file, () => refuseTaken(file))
  const followed = await vault.withBackup({ isForFile: true }, async (pieces) => {
    const backup = follow(context, pieces)
    await writeOutFile(file, backup.pieces(), options)
    invariant(backup.followed !== undefined, 'a backup that was written is whole')
    return backup.followed
  })
  progress.clear()
  const fields = fieldsOf(file, followed)
  if (options.json) await output.writeJson(fields)
  else await output.write(renderFields(output.language, fields))
}

function follow({ progress }: CommandContext, pieces: AsyncIterable<Uint8Array>): BackupOnItsWay {
  return new BackupOnItsWay(pieces, {
    name: 'the backup',
    onProgress: (bytes, all) =>
      progress.show(`backing up: ${toMebibytes(bytes)} of ${toMebibytes(all)} MiB`),
  })
}

function toMebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}

function fieldsOf(file: string, { head, byteCount }: FollowedBackup) {
  return {
    file,
    backup_id: head.backupId,
    vault_id: head.vaultId,
    created_at: head.createdAt,
    entries: head.log.entries,
    head: head.log.hash,
    bytes: byteCount,
  }
}
