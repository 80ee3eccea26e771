// The backups that the hub makes by itself. docs/protocol.md DOC-26.

import { quoteForShell } from '../platform/quote-for-shell.ts'
import type { BackupFacts } from '../protocol/admin/examination.ts'
import { fault, type Finding, ok, showAbout, warning } from './finding.ts'
import type { BackupDirectoryFacts } from './scene.ts'

/** As the alert has it. */
const INTERVALS_MAX = 2
/** It makes the first one within a minute or two, and tries again after a quarter of an hour. */
const FIRST_MS = 30 * 60_000
const LOG = ['journalctl -u svc-server -n 50 --no-pager']

/** `said` is the hub's, `here` what this machine shows; both are undefined where no backups are made, or nobody can look. */
export function judgeBackups(
  said: BackupFacts | undefined,
  here: BackupDirectoryFacts | undefined,
  intervalMs: number | undefined,
  now: Date,
): Finding[] {
  if (said === undefined && here === undefined) {
    return [ok('the hub makes none by itself (SVC_BACKUP_DIR); svc backup makes one')]
  }
  const directory = here === undefined ? [] : judgeDirectory(here)
  // Where it cannot be looked at, nothing is known of what is in it.
  if (here?.failure !== undefined && said === undefined) return directory
  const last = said === undefined ? here?.lastAt : toDate(said.last_at)
  const everyMs = said === undefined ? intervalMs : said.interval_seconds * 1000
  const found = [...directory, ...judgeAge(last, everyMs, said && said.up_seconds * 1000, now)]
  if (found.length > 0) return found
  const age =
    last === undefined
      ? 'the first one is on its way'
      : `the newest was made ${showAbout(now.getTime() - last.getTime())} ago`
  return [ok(age)]
}

function judgeAge(
  last: Date | undefined,
  everyMs: number | undefined,
  upMs: number | undefined,
  now: Date,
): Finding[] {
  const advice = {
    why: 'what happened since is lost with the disk',
    remedy: 'the log of the hub says why (Scheduled backup failed); make one now',
    commands: [...LOG, 'svc backup "/var/tmp/svc-$(date +%F).svcbackup"'],
  }
  if (last === undefined) {
    if (upMs === undefined) return [warning('there is no backup', advice)]
    if (upMs <= FIRST_MS) return []
    return [warning(`the hub runs for ${showAbout(upMs)}, and there is no backup`, advice)]
  }
  const ageMs = now.getTime() - last.getTime()
  if (everyMs === undefined || ageMs <= everyMs * INTERVALS_MAX) return []
  const message = `the newest backup was made ${showAbout(ageMs)} ago, and one is to be made every ${showAbout(everyMs)}`
  return [warning(message, advice)]
}

function judgeDirectory({ path, failure, isBesideVault }: BackupDirectoryFacts): Finding[] {
  if (failure !== undefined) {
    return [
      fault(`SVC_BACKUP_DIR: ${path}: ${failure}`, {
        why: 'the hub makes no backup',
        remedy: 'mount it, or give it to the owner of the vault',
        commands: [`ls -ld ${quoteForShell(path)}`],
      }),
    ]
  }
  if (!isBesideVault) return []
  return [
    warning(`SVC_BACKUP_DIR: ${path} is on the file system of the vault`, {
      why: 'a disk that fails takes the vault and its backups with it',
      remedy:
        'name a directory of another disk, best of another machine, or copy the backups there',
      commands: [`findmnt -T ${quoteForShell(path)}`],
    }),
  ]
}

function toDate(text: string | null): Date | undefined {
  return text === null ? undefined : new Date(text)
}
