// The checkpoints of the log, in the vault and outside. docs/protocol.md DOC-25.

import { quoteForShell } from '../platform/quote-for-shell.ts'
import type { CheckpointFacts } from '../protocol/admin/examination.ts'
import { fault, type Finding, ok, showAbout, skipped, warning } from './finding.ts'
import type { DirectoryFacts } from './scene.ts'

/** As the alert has it: a hub signs within a second or two. */
const STALE_MS = 5 * 60_000

/** `said` is the hub's; `directory` is undefined where none is set, or where nobody here can look. */
export function judgeCheckpoint(
  said: CheckpointFacts | undefined,
  directory: DirectoryFacts | undefined,
  now: Date,
): Finding[] {
  const found = [
    ...(directory === undefined ? [] : judgeDirectory(directory)),
    ...(said === undefined ? [] : judgeAges(said, now)),
  ]
  if (found.length > 0) return found
  if (said === undefined) {
    return directory === undefined
      ? [skipped('no hub answers, and SVC_CHECKPOINT_PATH is not set')]
      : [ok(`the hub can keep its checkpoint in ${directory.path}`)]
  }
  const outside = said.is_kept_outside
    ? ', also outside the vault'
    : '; none is kept outside the vault (SVC_CHECKPOINT_PATH), so a restore forgets revocations that are newer than its backup'
  return [ok(`the newest checkpoint covers the whole log${outside}`)]
}

function judgeDirectory({ path, failure, isBesideVault }: DirectoryFacts): Finding[] {
  const commands = [`ls -ld ${quoteForShell(path)}`]
  if (failure !== undefined) {
    return [
      fault(`SVC_CHECKPOINT_PATH: ${path}: ${failure}`, {
        why: 'the hub does not start when it cannot read and write it, and keeps no checkpoint outside the vault',
        remedy: 'mount it, or give it to the owner of the vault',
        commands,
      }),
    ]
  }
  if (!isBesideVault) return []
  return [
    warning(`SVC_CHECKPOINT_PATH: ${path} is on the file system of the vault`, {
      why: 'a person or a restore that puts an earlier vault back puts an earlier checkpoint back with it, and nobody notices',
      remedy: 'name a directory on another machine, or at least on another file system',
      commands: [`findmnt -T ${quoteForShell(path)}`],
    }),
  ]
}

function judgeAges(
  { vault_at, outside_at, is_kept_outside, up_seconds }: CheckpointFacts,
  now: Date,
): Finding[] {
  const places = [
    ['in the vault', vault_at],
    ...(is_kept_outside ? ([['outside the vault', outside_at]] as const) : []),
  ] as const
  return places.flatMap(([place, at]) => {
    const ageMs = at === null ? up_seconds * 1000 : now.getTime() - Date.parse(at)
    if (ageMs <= STALE_MS) return []
    return [
      warning(`for ${showAbout(ageMs)} no checkpoint ${place} covers the whole log`, {
        why: 'what is changed or lost of the newest entries could not be proven',
        remedy:
          'the log of the hub says why; after an upgrade a large log takes some minutes, with its progress in the log',
        commands: ['journalctl -u svc-server -n 50 --no-pager'],
      }),
    ]
  })
}
