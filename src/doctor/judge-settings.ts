// The settings, and the files that they name. docs/protocol.md DOC-7, DOC-8.

import { quoteForShell } from '../platform/quote-for-shell.ts'
import { fault, type Finding, ok, warning } from './finding.ts'
import type { FileFacts, SettingsFacts } from './scene.ts'

const OTHERS = 0o007
const GROUP = 0o070
const OTHERS_WRITE = 0o022
const WHY_SECRET =
  'the passphrase opens any copy of the vault, the provisioner’s key has the CA sign anything, and with the database’s password or key its journal can be deleted'

export function judgeSettings(facts: SettingsFacts): Finding[] {
  const edit = [`editor ${quoteForShell(facts.path)}`]
  const found: Finding[] = facts.faults.map(({ message }) =>
    fault(message, {
      why: 'the hub does not start with these settings',
      remedy: `correct it in ${facts.path}, or where the hub’s environment comes from`,
      commands: edit,
    }),
  )
  for (const { name, near } of facts.unknown) {
    const meant = near === undefined ? '' : `; ${near} is the nearest one`
    found.push(
      warning(`${name} is no setting of any program here${meant}`, {
        why: 'the hub ignores it, so what it was to set has its default',
        remedy: `correct the name in ${facts.path}, or remove it`,
        commands: edit,
      }),
    )
  }
  for (const message of facts.passphraseFaults) {
    found.push(
      warning(message, {
        why: 'a person with a copy of the vault can try passphrases for ever',
        remedy: 'use another passphrase, of 32 random bytes',
        commands: ['openssl rand -base64 32'],
      }),
    )
  }
  if (!facts.isNamed) {
    found.push(
      warning(`the hub has no name: SVC_SERVER_CN is not set`, {
        why: `hosts are to find it as ${facts.serverNames[0] ?? 'nobody'}, which is the name of every hub that nobody named`,
        remedy: `set SVC_SERVER_CN in ${facts.path} to the name by which hosts reach it`,
        commands: edit,
      }),
    )
  }
  return found.length > 0 ? found : [ok('every required setting is there, and every name is known')]
}

/** `owners` may have the secrets: root, and the vault's owner. */
export function judgeFiles(files: readonly FileFacts[], owners: readonly number[]): Finding[] {
  const found = files.flatMap((file) => judgeFile(file, owners))
  if (found.length > 0) return found
  const count = files.filter(({ mode }) => mode !== undefined).length
  return [ok(`${count} files of settings and secrets are in the right hands`)]
}

function judgeFile(file: FileFacts, owners: readonly number[]): Finding[] {
  const { path, variable, use, mode, uid, stranger, holds } = file
  const at = quoteForShell(path)
  if (mode === undefined) {
    if (use === 'settings') return []
    return [
      fault(`${variable ?? ''}: there is no file ${path}`, {
        why: 'the hub does not start without it',
        remedy: 'put the file there, or correct the variable',
        commands: [`ls -l ${at}`],
      }),
    ]
  }
  if (use === 'secret') return judgeSecret({ path, mode, uid }, owners)
  const shown = (mode & 0o7777).toString(8)
  if ((mode & OTHERS_WRITE) !== 0 || stranger !== undefined || !owners.includes(uid)) {
    const who = stranger ?? ((mode & OTHERS_WRITE) === 0 ? `user ${uid}` : 'others')
    return [
      fault(`${who} can change ${path} (mode ${shown})`, {
        why:
          use === 'trust'
            ? 'who changes it says whom the hub trusts, and with it the whole fleet'
            : 'who changes it says where the hub finds its keys, its CA and its vault',
        remedy: 'leave it to root',
        commands: [`chown root: ${at} && chmod go-w ${at}`],
      }),
    ]
  }
  if (holds.length === 0 || (mode & (OTHERS | GROUP)) === 0) return []
  return [
    fault(`${path} holds ${holds.join(' and ')}, and others may read it (mode ${shown})`, {
      why: WHY_SECRET,
      remedy: `put each into a file of its own that only root can read, named by ${holds[0] ?? ''}_FILE; if others could read it, replace it`,
      commands: [`chmod 600 ${at}`],
    }),
  ]
}

function judgeSecret(
  { path, mode, uid }: { readonly path: string; readonly mode: number; readonly uid: number },
  owners: readonly number[],
): Finding[] {
  const at = quoteForShell(path)
  const shown = (mode & 0o7777).toString(8)
  const why = WHY_SECRET
  const remedy = 'close it; if others could read it, replace the secret'
  if (!owners.includes(uid)) {
    const message = `${path} belongs to user ${uid}, who is neither root nor the vault’s owner`
    return [fault(message, { why, remedy, commands: [`chown root: ${at} && chmod 600 ${at}`] })]
  }
  const commands = [`chmod 600 ${at}`]
  if ((mode & OTHERS) !== 0) {
    const message = `every user of this machine may open ${path} (mode ${shown})`
    return [fault(message, { why, remedy, commands })]
  }
  if ((mode & GROUP) === 0) return []
  return [warning(`its group may open ${path} (mode ${shown})`, { why, remedy, commands })]
}
