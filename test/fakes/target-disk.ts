// A disk in memory that can fail or stop before any of its operations, and that forgets in a power cut what was not synced.

import { dirname } from 'node:path'
import {
  type FileImage,
  type NewFile,
  type TargetFileOperations,
  UnexpectedFileError,
} from '../../src/agent/targets/target-files.ts'

/** What a process that was killed does not live to see. */
export class Killed extends Error {
  override name = 'Killed'
}

interface Inode {
  content: Buffer
  uid: number
  gid: number
  mode: number
  /** What a power cut leaves. */
  synced: FileImage
}

type Node = Inode | 'directory'

export class FakeTargetDisk implements TargetFileOperations {
  #names = new Map<string, Node>()
  /** The names that a power cut leaves. */
  #syncedNames = new Map<string, Node>()
  /** A rename is one change: both of its names are kept, or neither. */
  readonly #renamed = new Map<string, string>()
  #isDead = false
  operations = 0
  /** Before which operation, from 1, what happens. */
  trouble: (operation: number, isWrite: boolean) => 'kill' | 'full' | 'broken' | undefined = () =>
    undefined

  /** Durable from the start. */
  putDirectory(path: string): void {
    this.#names.set(path, 'directory')
    this.#syncedNames.set(path, 'directory')
  }

  putFile(path: string, image: FileImage): void {
    const inode = { ...image, content: Buffer.from(image.content), synced: image }
    this.#names.set(path, inode)
    this.#syncedNames.set(path, inode)
  }

  look(path: string): FileImage | undefined {
    const node = this.#names.get(path)
    return node === undefined || node === 'directory' ? undefined : imageOf(node)
  }

  /** The files in a directory, by name; of everything in and below it. */
  paths(prefix: string): string[] {
    return [...this.#names.keys()].filter((path) => path.startsWith(`${prefix}/`)).sort()
  }

  removeQuietly(path: string): void {
    this.#names.delete(path)
    this.#syncedNames.delete(path)
  }

  /** The machine, or only the process, is back. */
  restart(): void {
    this.#isDead = false
    this.trouble = () => undefined
  }

  /** `keeps` says of each name that changed since it was last synced whether the change is there afterwards. */
  cutPower(keeps: (path: string) => boolean): void {
    const after = new Map(this.#syncedNames)
    const kept = new Map<string, boolean>()
    const isKept = (path: string): boolean => {
      const change = this.#changeOf(path)
      const isKeptNow = kept.get(change) ?? keeps(change)
      kept.set(change, isKeptNow)
      return isKeptNow
    }
    for (const path of new Set([...this.#names.keys(), ...this.#syncedNames.keys()])) {
      const node = this.#names.get(path)
      if (node === this.#syncedNames.get(path) || !isKept(path)) continue
      if (node === undefined) after.delete(path)
      else after.set(path, node)
    }
    for (const [path, node] of after) {
      if (!this.#hasParent(after, path)) after.delete(path)
      else if (node !== 'directory') Object.assign(node, copyOf(node.synced))
    }
    this.#names = after
    this.#syncedNames = new Map(after)
    this.#renamed.clear()
    this.restart()
  }

  /** Something else than the disk happens, and may be cut short too. */
  tick(): void {
    this.#operate(false)
  }

  async read(path: string, bytesMax: number): Promise<FileImage | undefined> {
    this.#operate(false)
    const node = this.#names.get(path)
    if (node === undefined) return undefined
    if (node === 'directory') throw new UnexpectedFileError(path, 'is not a plain file')
    if (node.content.length > bytesMax) throw new UnexpectedFileError(path, 'is too large')
    return imageOf(node)
  }

  async create(path: string): Promise<NewFile> {
    this.#operate(true)
    if (this.#names.has(path)) throw failure('EEXIST', path)
    if (this.#names.get(dirname(path)) !== 'directory') throw failure('ENOENT', path)
    const empty = { content: Buffer.alloc(0), uid: 0, gid: 0, mode: 0o600 }
    const inode: Inode = { ...empty, synced: copyOf(empty) }
    this.#names.set(path, inode)
    return {
      write: async (content) => {
        // What is cut short is cut short in the middle.
        const half = Buffer.concat([inode.content, content.subarray(0, content.length / 2)])
        this.#operate(true, () => {
          inode.content = half
        })
        inode.content = Buffer.concat([inode.content, content])
      },
      setOwner: async (uid, gid) => {
        this.#operate(false)
        Object.assign(inode, { uid, gid })
      },
      setMode: async (mode) => {
        this.#operate(false)
        inode.mode = mode
      },
      sync: async () => {
        this.#operate(true)
        inode.synced = imageOf(inode)
      },
      close: async () => {
        if (this.#isDead) throw new Killed()
      },
    }
  }

  async rename(from: string, to: string): Promise<void> {
    this.#operate(false)
    const node = this.#names.get(from)
    if (node === undefined) throw failure('ENOENT', from)
    if (this.#names.get(to) === 'directory') throw failure('EISDIR', to)
    this.#names.delete(from)
    this.#names.set(to, node)
    if (this.#changeOf(to) !== this.#changeOf(from)) this.#renamed.set(this.#changeOf(from), to)
  }

  async remove(path: string): Promise<void> {
    this.#operate(false)
    if (this.#names.get(path) === 'directory') throw failure('EISDIR', path)
    this.#names.delete(path)
  }

  async removeTree(path: string): Promise<void> {
    for (const one of [...this.paths(path).reverse(), path]) {
      this.#operate(false)
      this.#names.delete(one)
    }
  }

  async makeDirectory(path: string): Promise<void> {
    this.#operate(true)
    if (this.#names.has(path)) return
    if (this.#names.get(dirname(path)) !== 'directory' && dirname(path) !== '/') {
      throw failure('ENOENT', path)
    }
    this.#names.set(path, 'directory')
  }

  async list(path: string): Promise<string[]> {
    this.#operate(false)
    return this.paths(path)
      .map((one) => one.slice(path.length + 1))
      .filter((name) => !name.includes('/'))
  }

  async syncDirectory(path: string): Promise<void> {
    this.#operate(false)
    const isIn = (one: string): boolean => dirname(one) === path
    for (const one of this.#syncedNames.keys()) {
      if (isIn(one) && !this.#names.has(one)) this.#syncedNames.delete(one)
    }
    for (const [one, node] of this.#names) if (isIn(one)) this.#syncedNames.set(one, node)
    for (const one of this.#renamed.keys()) if (isIn(one)) this.#renamed.delete(one)
  }

  #operate(isWrite: boolean, whenCutShort: () => void = () => undefined): void {
    if (this.#isDead) throw new Killed()
    this.operations += 1
    const trouble = this.trouble(this.operations, isWrite)
    if (trouble === undefined) return
    whenCutShort()
    if (trouble === 'full') throw failure('ENOSPC', 'no space left on device')
    if (trouble === 'broken') throw failure('EIO', 'input/output error')
    this.#isDead = true
    throw new Killed()
  }

  /** One name stands for all that were renamed to each other since they were last synced. */
  #changeOf(path: string): string {
    const next = this.#renamed.get(path)
    return next === undefined ? path : this.#changeOf(next)
  }

  #hasParent(names: ReadonlyMap<string, Node>, path: string): boolean {
    const parent = dirname(path)
    return parent === '/' || (names.get(parent) === 'directory' && this.#hasParent(names, parent))
  }
}

function imageOf({ content, uid, gid, mode }: FileImage): FileImage {
  return { content: Buffer.from(content), uid, gid, mode }
}

function copyOf(image: FileImage): FileImage {
  return imageOf(image)
}

function failure(code: string, why: string): Error {
  return Object.assign(new Error(`${code}: ${why}`), { code })
}
