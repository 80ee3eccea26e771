// What taking over and undoing do to a host: a port, so that a test can stop the world before any of it.

import type { AdoptionProbe } from './adoption.ts'

export interface PassVerdict {
  /** Of the certificate that the target has put in place; undefined when it has not. */
  readonly serial: string | undefined
  readonly reason: string
}

export interface AdoptHost {
  /** With owner, mode, times and attributes, durably; of a link the link itself. What stands at `to` is replaced. */
  copyAsIs(from: string, to: string): Promise<void>
  /** A plain file with bytes, owner and mode of what links lead to. Throws where others than root could change that way. */
  copyContent(from: string, to: string): Promise<void>
  /** In place, durably: owner and mode stay. */
  overwrite(path: string, text: string): Promise<void>
  /** A new file, which belongs to root. */
  create(path: string, text: string, mode: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Throws when something has that name. */
  renameToFree(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  removeTree(path: string): Promise<void>
  /** One that is there stays. */
  makeDirectory(path: string): Promise<void>
  syncDirectory(path: string): Promise<void>
  /** Undefined when nothing is there. */
  look(path: string): Promise<'link' | 'other' | undefined>
  read(path: string): Promise<string | undefined>
  /** SHA-256 of a plain file, lower-case hex; undefined for anything else. */
  hash(path: string): Promise<string | undefined>
  list(directory: string): Promise<string[]>
  /** Undefined when it succeeded. */
  reload(argv: readonly string[]): Promise<string | undefined>
  /** Why that serial is not served; undefined when it is. */
  probe(probe: AdoptionProbe, serial: string): Promise<string | undefined>
  /** One pass over root's targets of a load. */
  applyTarget(nome: string, source: string): Promise<PassVerdict>
  /** What a target has put in place last, as it is recorded; nothing when it never did. */
  listApplied(source: string): Promise<{ readonly path: string; readonly sha256: string }[]>
  /** What a pass that was cut short left of this target is put back. Throws when it cannot be. */
  settleTarget(nome: string, source: string): Promise<void>
  /** Without any pass over targets meanwhile. */
  withoutPasses(work: () => Promise<void>): Promise<void>
  stopUnit(unit: string): Promise<void>
  startUnit(unit: string, how: { readonly enable: boolean; readonly start: boolean }): Promise<void>
}
