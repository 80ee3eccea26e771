// The vault's directory and the files in it: there, and the owner's alone. docs/protocol.md DOC-9.

import { quoteForShell } from '../platform/quote-for-shell.ts'
import { fault, type Finding, ok, Unchecked, warning } from './finding.ts'
import type { VaultFacts } from './scene.ts'

const OTHERS = 0o077
const OTHERS_WRITE = 0o022
const REQUIRED = ['config.json', 'db.enc']
/** For everybody: a reader of the hub's certificate needs no secret. */
const PUBLIC = new Set(['server.crt', 'ca.crt'])
const SHOWN_MAX = 5

export function judgeVault({ root, mode, uid, owner, stranger, files }: VaultFacts): Finding[] {
  const at = quoteForShell(root)
  if (mode === undefined) return [missing(root)]
  const found: Finding[] = []
  if (stranger !== undefined) {
    found.push(
      fault(`${stranger} can put another directory in the place of ${root}`, {
        why: 'the hub would then work where they choose, with the passphrase; svc as root refuses to',
        remedy: 'only root and the vault’s owner may be able to write the directories above it',
        commands: [`namei -l ${at}`],
      }),
    )
  }
  if ((mode & OTHERS) !== 0) {
    found.push(
      warning(`others may enter ${root} (mode ${(mode & 0o7777).toString(8)})`, {
        why: 'a copy of the vault is all that somebody needs who learns or guesses the passphrase; and admin.sock is in it',
        remedy: 'close it',
        commands: [`chmod 700 ${at}`],
      }),
    )
  }
  if (files === undefined) {
    if (found.length > 0) return found
    throw new Unchecked(`only ${owner} and root can look into ${root}: run svc as one of them`)
  }
  const names = new Set(files.map(({ name }) => name))
  if (!names.has('config.json') && !names.has('db.enc')) return [...found, missing(root)]
  for (const name of REQUIRED.filter((each) => !names.has(each))) {
    found.push(
      fault(`${root}/${name} is not there`, {
        why: 'nobody can open the vault without it',
        remedy: 'restore it from a backup',
        commands: [`ls -la ${at}`],
      }),
    )
  }
  const foreign = files.filter((file) => file.uid !== uid).map(({ name }) => name)
  if (foreign.length > 0) {
    found.push(
      fault(
        `${list(foreign)} in ${root} ${foreign.length > 1 ? 'do' : 'does'} not belong to ${owner}`,
        {
          why: 'the hub, which works as the owner of the directory, may be unable to write it',
          remedy: 'give everything in the vault to its owner',
          commands: [`chown -R --reference=${at} ${at}`],
        },
      ),
    )
  }
  const open = files.filter(({ name, mode: bits }) =>
    PUBLIC.has(name) ? (bits & OTHERS_WRITE) !== 0 : (bits & OTHERS) !== 0,
  )
  if (open.length > 0) {
    const shown = open.map(({ name }) => name)
    found.push(
      warning(`others may open ${list(shown)} in ${root}`, {
        why: 'a copy that keeps the modes is open to them, and so is the vault when its directory is',
        remedy: 'leave them to the owner',
        commands: open
          .slice(0, SHOWN_MAX)
          .map(({ name }) => `chmod go= ${quoteForShell(`${root}/${name}`)}`),
      }),
    )
  }
  return found.length > 0
    ? found
    : [ok(`${root} and its ${files.length} files are ${owner}’s alone`)]
}

function missing(root: string): Finding {
  return fault(`there is no vault in ${root}`, {
    why: 'the hub does not start without one',
    remedy:
      'make one, or correct SVC_VAULT_ROOT if the vault is elsewhere; never make one in the place of a vault that was lost',
    commands: ['svc init'],
  })
}

function list(names: readonly string[]): string {
  const more = names.length - SHOWN_MAX
  return `${names.slice(0, SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
