// The files of a vault as they lie on a real disk: copied, put back, and lost.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { enterJournal } from '../../../src/hub/store/sqlite/enter-journal.ts'
import { type AuditHead, openAuditHeadFile } from '../../../src/hub/vault/audit-head.ts'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'

/** Of one moment; undefined for what was not there. */
export type VaultCopy = readonly (readonly [name: DatabaseFile, content: Buffer | undefined])[]
type DatabaseFile = (typeof DATABASE_FILES)[number]

const DATABASE_FILES = ['db.enc', 'db.enc-wal', 'audit.head'] as const
/** What the programs of a simulation have for real. */
const REAL_FILES: ReadonlySet<string> = new Set(['config.json', 'db.enc', 'db.enc-wal'])

export class VaultOnDisk {
  readonly vault: UnsealedVault

  /** A copy, so that one vault serves many histories. */
  constructor(root: string, from: UnsealedVault) {
    mkdirSync(root, { mode: 0o700 })
    for (const name of ['config.json', 'db.enc', 'audit.head']) {
      const path = join(from.root, name)
      if (existsSync(path)) copyFileSync(path, join(root, name))
    }
    this.vault = { ...from, root, databasePath: join(root, 'db.enc') }
  }

  /** It shares its vault from now on, and has a head, as after `svc vault migrate` and `svc join`. */
  enterJournal(beginning: Buffer, logEnd: AuditHead): void {
    const { root, databasePath, dataKey } = this.vault
    enterJournal(databasePath, dataKey, { number: 0, hash: beginning })
    const headFile = openAuditHeadFile(join(root, 'audit.head'), dataKey)
    headFile.reset(logEnd)
    headFile.close()
  }

  isReal(path: string): boolean {
    const { root } = this.vault
    return path.startsWith(`${root}/`) && REAL_FILES.has(path.slice(root.length + 1))
  }

  copy(): VaultCopy {
    return DATABASE_FILES.map((name) => [name, this.#read(name)] as const)
  }

  putBack(copy: VaultCopy): void {
    rmSync(join(this.vault.root, 'db.enc-shm'), { force: true })
    for (const [name, content] of copy) this.#write(name, content)
  }

  readHead(): Buffer | undefined {
    return this.#read('audit.head')
  }

  writeHead(content: Buffer | undefined): void {
    this.#write('audit.head', content)
  }

  lose(): void {
    rmSync(this.vault.root, { recursive: true, force: true })
  }

  #read(name: DatabaseFile): Buffer | undefined {
    try {
      return readFileSync(join(this.vault.root, name))
    } catch {
      return undefined
    }
  }

  #write(name: DatabaseFile, content: Buffer | undefined): void {
    const path = join(this.vault.root, name)
    // Another file: a hub that was killed while it opened the vault has this one open for ever.
    rmSync(path, { force: true })
    if (content !== undefined) writeFileSync(path, content, { mode: 0o600 })
  }
}
