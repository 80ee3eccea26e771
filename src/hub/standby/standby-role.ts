// What a vault is of two machines: the file standby.json beside it, which is missing where there is no standby. docs/protocol.md STB-2.

import { mkdir, readdir } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { errnoCode, SvcError, UserError } from '../../platform/errors.ts'
import { replaceFile, writeNewFile } from '../../platform/files.ts'
import { parseJson } from '../../platform/parse-json.ts'
import { StandbyMode } from '../../protocol/standby.ts'
import { vaultFiles } from '../vault/vault-files.ts'

const StandbyRole = Type.Union([
  /** It sends its records to a standby, or did. */
  Type.Object({
    role: Type.Literal('hub'),
    /** Of the journal that it shares with its standby, 16 bytes by chance, hex. */
    journal: Type.String({ pattern: '^([0-9a-f]{32})?$' }),
    /** Whether the standby ever had all that was here: it may have been promoted since. */
    met: Type.Boolean(),
  }),
  Type.Object({
    role: Type.Literal('standby'),
    journal: Type.String({ pattern: '^([0-9a-f]{32})?$' }),
    /** As the hub said when it was heard last. */
    mode: Type.Optional(StandbyMode),
  }),
  /** Its standby was promoted. */
  Type.Object({ role: Type.Literal('deposed'), epoch: Type.Number() }),
])
export type StandbyRole = Static<typeof StandbyRole>

const MODE = 0o600

/** Undefined for a vault that never had a standby. */
export function readRole(root: string): StandbyRole | undefined {
  const path = vaultFiles(root).standby
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
  const parsed = parseJson(text)
  if (Check(StandbyRole, parsed)) return parsed
  // It could say that another machine is the hub.
  throw new SvcError('vault_corrupt', `${path} is damaged`, {
    hint: 'if this machine is the hub, remove the file; if not, make the standby again',
  })
}

export async function writeRole(root: string, role: StandbyRole): Promise<void> {
  await replaceFile(vaultFiles(root).standby, `${JSON.stringify(role)}\n`, MODE)
}

/** Whether the copy of a standby is there. Throws UserError `not_a_standby` for a vault of a hub that shall be one. */
export function isStandby({ vaultRoot: root, standby, standbyOf }: StandbyWishes): boolean {
  const role = readRole(root)?.role
  // Two machines that change places have both settings.
  if (role === undefined && standbyOf !== undefined && standby === undefined) {
    throw new UserError('not_a_standby', `there is no copy of a standby at ${root}`, {
      hint: 'svc standby init --from config.json makes an empty directory that of a standby',
    })
  }
  return role === 'standby'
}

interface StandbyWishes {
  readonly vaultRoot: string
  readonly standby: object | undefined
  readonly standbyOf: URL | undefined
}

/** Throws SvcError `vault_is_standby` or `vault_deposed` for a vault that nobody may use as the hub's. */
export function requireNoOtherHub(root: string): void {
  const role = readRole(root)
  if (role?.role === 'standby') {
    throw new SvcError('vault_is_standby', `the vault at ${root} is the copy of a standby`, {
      hint: 'use the hub; when the hub is lost, svc standby promote makes this machine the hub',
    })
  }
  if (role?.role !== 'deposed') return
  throw new SvcError(
    'vault_deposed',
    `the standby of the vault at ${root} was promoted, and is the hub now`,
    { hint: 'move this vault aside, and make this machine the standby: svc standby init' },
  )
}

/** The directory of a standby that has no database yet. */
export async function makeStandbyDirectory(root: string, configText: string): Promise<void> {
  const files = vaultFiles(root)
  await mkdir(root, { recursive: true, mode: 0o700 })
  const expected = new Set([files.standby, files.lock].map((path) => basename(path)))
  expected.add('lost+found')
  const found = (await readdir(root)).filter((name) => !expected.has(name))
  if (found.length > 0) {
    throw new UserError('directory_in_use', `${root} has other files in it: ${found[0]}`, {
      hint: `move them away first: mv ${root} ${dirname(root)}/${basename(root)}.old`,
    })
  }
  await writeRole(root, { role: 'standby', journal: '' })
  await writeNewFile(files.config, configText, MODE)
}
