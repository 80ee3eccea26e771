// `node:fs/promises` as far as our programs use it, on a simulated disk; each call is one step of its program, and the
// write of a file two of them, so that a crash may come between.

import { constants } from 'node:fs'
import type { Program } from './kernel.ts'
import { fail, type FileNode, type Node, type SimulatedDisk } from './simulated-disk.ts'

type Content = string | Uint8Array
type Pieces = AsyncIterable<Content>

export class DiskCalls {
  readonly #program: Program
  readonly #disk: SimulatedDisk

  constructor(program: Program, disk: SimulatedDisk) {
    this.#program = program
    this.#disk = disk
  }

  open(path: string, flags: number, mode = 0o666): Promise<DiskHandle> {
    return this.#step(() => {
      const isNew =
        isSet(flags, constants.O_CREAT) &&
        (isSet(flags, constants.O_EXCL) || kindAt(this.#disk, path) === undefined)
      const node = isNew
        ? this.#disk.create(path, mode & ~0o022)
        : this.#disk.find(path, { followsLast: !isSet(flags, constants.O_NOFOLLOW) })
      return new DiskHandle(this.#program, this.#disk, path, node)
    })
  }

  readFile(path: string, encoding?: BufferEncoding): Promise<string | Buffer> {
    return this.#step(() => {
      const { content } = fileAt(this.#disk, path)
      return encoding === undefined ? Buffer.from(content) : content.toString(encoding)
    })
  }

  /** Everybody may do everything. */
  async access(path: string): Promise<void> {
    await this.#step(() => this.#disk.find(path, { followsLast: true }))
  }

  stat(path: string): Promise<DiskStats> {
    return this.#step(() => statsOf(this.#disk.find(path, { followsLast: true })))
  }

  lstat(path: string): Promise<DiskStats> {
    return this.#step(() => statsOf(this.#disk.find(path, { followsLast: false })))
  }

  realpath(path: string): Promise<string> {
    return this.#step(() => this.#disk.realPath(path))
  }

  readdir(path: string): Promise<string[]> {
    return this.#step(() => {
      const node = this.#disk.find(path, { followsLast: true })
      if (node.kind !== 'directory') fail('ENOTDIR', path)
      return [...node.entries.keys()].sort()
    })
  }

  readlink(path: string): Promise<string> {
    return this.#step(() => {
      const node = this.#disk.find(path, { followsLast: false })
      return node.kind === 'link' ? node.target : fail('EINVAL', path)
    })
  }

  async rename(from: string, to: string): Promise<void> {
    const others = await this.#step(() => {
      const steps = this.#disk.insteadOfRename?.(from, to)
      if (steps === undefined) this.#disk.rename(from, to)
      return steps
    })
    for (const other of others ?? []) await this.#step(other)
  }

  link(from: string, to: string): Promise<void> {
    return this.#step(() => this.#disk.link(from, to))
  }

  unlink(path: string): Promise<void> {
    return this.#step(() => {
      if (this.#disk.find(path, { followsLast: false }).kind === 'directory') fail('EISDIR', path)
      this.#disk.remove(path)
    })
  }

  symlink(target: string, path: string): Promise<void> {
    return this.#step(() => this.#disk.makeLink(target, path))
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.#step(() => {
      const node = this.#disk.find(path, { followsLast: true })
      if (node.kind !== 'link') node.mode = mode
    })
  }

  /** Answers the first directory that it made. */
  async mkdir(
    path: string,
    { recursive = false, mode = 0o777 }: { recursive?: boolean; mode?: number } = {},
  ): Promise<string | undefined> {
    if (!recursive) {
      await this.#step(() => this.#disk.makeDirectory(path, mode & ~0o022))
      return undefined
    }
    let first: string | undefined
    const names = path.split('/').filter((name) => name !== '')
    for (let count = 1; count <= names.length; count += 1) {
      const directory = `/${names.slice(0, count).join('/')}`
      const isNew = await this.#step(() => {
        if (kindAt(this.#disk, directory) !== undefined) return false
        this.#disk.makeDirectory(directory, mode & ~0o022)
        return true
      })
      if (isNew) first ??= directory
    }
    return first
  }

  /** One name after the other, as it is outside. */
  async rm(path: string, options: { recursive?: boolean; force?: boolean } = {}): Promise<void> {
    const names = await this.#step(() => {
      const node = findIfPresent(this.#disk, path)
      if (node === undefined && options.force !== true) fail('ENOENT', path)
      return node?.kind === 'directory' ? [...node.entries.keys()] : []
    })
    for (const name of names) await this.rm(`${path}/${name}`, options)
    await this.#step(() => {
      if (findIfPresent(this.#disk, path) !== undefined) this.#disk.remove(path)
    })
  }

  #step<Value>(action: () => Value): Promise<Value> {
    return this.#program.step(action)
  }
}

class DiskHandle {
  readonly #program: Program
  readonly #disk: SimulatedDisk
  readonly #path: string
  readonly #node: Node

  constructor(program: Program, disk: SimulatedDisk, path: string, node: Node) {
    this.#program = program
    this.#disk = disk
    this.#path = path
    this.#node = node
  }

  async writeFile(content: Content | Pieces): Promise<void> {
    if (typeof content !== 'string' && !ArrayBuffer.isView(content)) {
      for await (const piece of content) await this.write(piece)
      return
    }
    const bytes = Buffer.from(content as string)
    const file = this.#file()
    const half = bytes.subarray(0, Math.floor(bytes.length / 2))
    await this.#program.step(() => this.#disk.write(this.#path, file, half))
    await this.#program.step(() => this.#disk.write(this.#path, file, bytes))
  }

  /** At the end: who opens a file to write into it opens it to append. */
  async write(content: Content): Promise<void> {
    const bytes = Buffer.from(content as string)
    const file = this.#file()
    const half = Math.floor(bytes.length / 2)
    await this.#program.step(() => this.#disk.append(this.#path, file, bytes.subarray(0, half)))
    await this.#program.step(() => this.#disk.append(this.#path, file, bytes.subarray(half)))
  }

  stat(): Promise<DiskStats> {
    return this.#program.step(() => statsOf(this.#node))
  }

  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number; buffer: Buffer }> {
    const file = this.#file()
    return this.#program.step(() => {
      const bytesRead = file.content.copy(buffer, offset, position, position + length)
      return { bytesRead, buffer }
    })
  }

  chmod(mode: number): Promise<void> {
    const file = this.#file()
    return this.#program.step(() => {
      file.mode = mode
    })
  }

  sync(): Promise<void> {
    return this.#program.step(() => this.#disk.sync(this.#path, this.#node))
  }

  async close(): Promise<void> {
    await Promise.resolve()
  }

  #file(): FileNode {
    return this.#node.kind === 'file' ? this.#node : fail('EISDIR', this.#path)
  }
}

interface DiskStats {
  readonly size: number
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly nlink: number
  isDirectory(): boolean
  isFile(): boolean
  isSymbolicLink(): boolean
}

function statsOf(node: Node): DiskStats {
  return {
    size: node.kind === 'file' ? node.content.length : 0,
    mode: node.kind === 'link' ? 0o777 : node.mode,
    uid: process.geteuid?.() ?? 0,
    gid: process.getegid?.() ?? 0,
    nlink: 1,
    isDirectory: () => node.kind === 'directory',
    isFile: () => node.kind === 'file',
    isSymbolicLink: () => node.kind === 'link',
  }
}

export function fileAt(disk: SimulatedDisk, path: string): FileNode {
  const node = disk.find(path, { followsLast: true })
  return node.kind === 'file' ? node : fail('EISDIR', path)
}

/** Undefined when there is nothing to read. */
export function readIfPresent(disk: SimulatedDisk, path: string): FileNode | undefined {
  try {
    return fileAt(disk, path)
  } catch {
    return undefined
  }
}

/** The name itself; undefined when it is not there. */
export function findIfPresent(disk: SimulatedDisk, path: string): Node | undefined {
  try {
    return disk.find(path, { followsLast: false })
  } catch {
    return undefined
  }
}

function kindAt(disk: SimulatedDisk, path: string): Node['kind'] | undefined {
  return findIfPresent(disk, path)?.kind
}

function isSet(flags: number, flag: number): boolean {
  return (flags & flag) !== 0
}
