// A disk in memory that forgets at a power cut what was not synced: of a file its content and mode, of a directory its
// names. What exactly is lost, the seed decides, within what POSIX allows: nothing, everything, the changes from one of
// them on, or any of them; a file's content whole, cut short, or as it was. A rename is one change, kept or lost.

import type { Random } from '../seeded-random.ts'

export interface FileNode {
  readonly kind: 'file'
  readonly inode: number
  content: Buffer
  mode: number
  /** What a power cut leaves for sure; undefined before the first sync. */
  synced: { readonly content: Buffer; readonly mode: number } | undefined
}

export interface LinkNode {
  readonly kind: 'link'
  readonly inode: number
  readonly target: string
}

export interface DirectoryNode {
  readonly kind: 'directory'
  readonly inode: number
  mode: number
  entries: Map<string, Node>
  synced: Map<string, Node>
}

export type Node = FileNode | LinkNode | DirectoryNode

/** One change of names: all of it is on the disk, or none. */
interface Change {
  readonly directories: readonly DirectoryNode[]
  apply(this: void): void
}

const LINKS_MAX = 20

export class SimulatedDisk {
  /** Writes that need room fail with this error while it is set. */
  failure: 'ENOSPC' | 'EIO' | undefined
  /** Where there is room all the same, and nothing fails: what is mounted from elsewhere. */
  hasRoomAt: (path: string) => boolean = () => false
  /** Told the path of each change that a reader could see. */
  onChange: ((path: string) => void) | undefined
  /** Told of each directory that somebody asked to have synced. */
  onDirectorySync: ((path: string) => void) | undefined
  onFailedSync: ((path: string) => void) | undefined
  /** For a fault put in on purpose: what is never synced, whoever asks. */
  forgetsSyncOf: (path: string) => boolean = () => false
  /** For a fault put in on purpose: what an append takes the place of. */
  writesOver: (path: string) => boolean = () => false
  /** For a fault put in on purpose: what happens in the place of a rename. */
  insteadOfRename: ((from: string, to: string) => readonly (() => void)[] | undefined) | undefined
  /** Where it did not take what it was given. */
  readonly failedPaths = new Set<string>()
  #inodes = 1
  #changes: Change[] = []
  readonly #root: DirectoryNode = this.#newDirectory(0o755)
  readonly #mounted = new Set<DirectoryNode>()

  /** The node itself, or what the last name leads to. Throws ENOENT, ENOTDIR, ELOOP. */
  find(path: string, { followsLast }: { readonly followsLast: boolean }): Node {
    return this.#walk(path, followsLast).node ?? fail('ENOENT', path)
  }

  /** Where a path leads once all links are followed. */
  realPath(path: string): string {
    const { node, realPath } = this.#walk(path, true)
    return node === undefined ? fail('ENOENT', path) : realPath
  }

  create(path: string, mode: number): FileNode {
    this.#needRoom(path)
    const content = Buffer.alloc(0)
    const file: FileNode = { kind: 'file', inode: this.#next(), content, mode, synced: undefined }
    this.#add(path, file)
    return file
  }

  makeDirectory(path: string, mode: number): void {
    this.#needRoom(path)
    this.#add(path, this.#newDirectory(mode))
  }

  makeLink(target: string, path: string): void {
    this.#needRoom(path)
    this.#add(path, { kind: 'link', inode: this.#next(), target })
  }

  /** A second name for a file. */
  link(from: string, to: string): void {
    this.#needRoom(to)
    this.#add(to, this.find(from, { followsLast: false }))
  }

  write(path: string, file: FileNode, content: Buffer): void {
    // A disk that fills up keeps what still went onto it.
    const failure = this.#failureAt(path)
    if (failure !== undefined) {
      file.content = content.subarray(0, Math.floor(content.length / 2))
      this.#fail(failure, path)
    }
    file.content = content
    this.onChange?.(path)
  }

  append(path: string, file: FileNode, content: Buffer): void {
    const failure = this.#failureAt(path)
    const taken =
      failure === undefined ? content : content.subarray(0, Math.floor(content.length / 2))
    file.content = this.writesOver(path) ? taken : Buffer.concat([file.content, taken])
    if (failure !== undefined) this.#fail(failure, path)
    this.onChange?.(path)
  }

  sync(path: string, node: Node): void {
    if (this.#failureAt(path) === 'EIO') {
      this.onFailedSync?.(path)
      this.#fail('EIO', path)
    }
    if (node.kind === 'file' && !this.forgetsSyncOf(path)) {
      node.synced = { content: node.content, mode: node.mode }
    }
    if (node.kind !== 'directory') return
    this.onDirectorySync?.(path)
    if (this.forgetsSyncOf(path)) return
    const [synced, waiting] = partition(this.#changes, (change) =>
      change.directories.includes(node),
    )
    for (const change of synced) change.apply()
    this.#changes = waiting
  }

  #fail(code: string, path: string): never {
    this.failedPaths.add(path)
    fail(code, path)
  }

  /** What is there from now on is on another machine, which keeps whatever came to it. */
  mount(path: string, elsewhere: SimulatedDisk): void {
    const { parent, name } = this.#walk(path, false)
    for (const names of [parent.entries, parent.synced]) names.set(name, elsewhere.#root)
    this.#mounted.add(elsewhere.#root)
  }

  /** The name of something, and not what is in it, as whoever made it before our time did. */
  syncNames(path: string): void {
    this.sync(path.slice(0, path.lastIndexOf('/')) || '/', this.#walk(path, false).parent)
  }

  remove(path: string): void {
    const { parent, name, node } = this.#walk(path, false)
    if (node === undefined) fail('ENOENT', path)
    if (node.kind === 'directory' && node.entries.size > 0) fail('ENOTEMPTY', path)
    parent.entries.delete(name)
    this.#note([parent], () => void parent.synced.delete(name))
    this.onChange?.(path)
  }

  rename(from: string, to: string): void {
    const source = this.#walk(from, false)
    const target = this.#walk(to, false)
    const { node } = source
    if (node === undefined) fail('ENOENT', from)
    if (target.node?.kind === 'directory') {
      if (node.kind !== 'directory') fail('EISDIR', to)
      if (target.node.entries.size > 0) fail('ENOTEMPTY', to)
    }
    source.parent.entries.delete(source.name)
    target.parent.entries.set(target.name, node)
    this.#note([source.parent, target.parent], () => {
      if (source.parent.synced.get(source.name) === node) source.parent.synced.delete(source.name)
      target.parent.synced.set(target.name, node)
    })
    this.onChange?.(to)
  }

  /** As after a power cut. */
  losePower(random: Random): void {
    const changes = this.#changes
    this.#changes = []
    for (const change of survivors(changes, random)) change.apply()
    this.#settle(this.#root, random)
    this.onChange?.('/')
  }

  /** A host that was built anew: nothing is left. */
  wipe(): void {
    this.#changes = []
    this.#root.entries = new Map()
    this.#root.synced = new Map()
  }

  #settle(directory: DirectoryNode, random: Random): void {
    directory.entries = new Map(directory.synced)
    for (const node of directory.entries.values()) {
      if (node.kind === 'directory' && !this.#mounted.has(node)) this.#settle(node, random)
      if (node.kind === 'file') settleFile(node, random)
    }
  }

  #walk(
    path: string,
    followsLast: boolean,
    linksLeft: number = LINKS_MAX,
  ): { parent: DirectoryNode; name: string; node: Node | undefined; realPath: string } {
    if (linksLeft === 0) fail('ELOOP', path)
    const end = path.lastIndexOf('/')
    const name = path.slice(end + 1)
    if (path === '') return { parent: this.#root, name: '', node: this.#root, realPath: '/' }
    if (name === '') return this.#walk(path.slice(0, -1), followsLast, linksLeft)
    const above = this.#walk(path.slice(0, end), true, linksLeft)
    const parent = above.node ?? fail('ENOENT', path)
    if (parent.kind !== 'directory') fail('ENOTDIR', path)
    const base = above.realPath === '/' ? '' : above.realPath
    const node = parent.entries.get(name)
    if (node?.kind === 'link' && followsLast) {
      const target = node.target.startsWith('/') ? node.target : `${base}/${node.target}`
      return this.#walk(target, true, linksLeft - 1)
    }
    return { parent, name, node, realPath: `${base}/${name}` }
  }

  #add(path: string, node: Node): void {
    const { parent, name, node: existing } = this.#walk(path, false)
    if (existing !== undefined) fail('EEXIST', path)
    parent.entries.set(name, node)
    this.#note([parent], () => void parent.synced.set(name, node))
    this.onChange?.(path)
  }

  #note(directories: readonly DirectoryNode[], apply: () => void): void {
    this.#changes.push({ directories, apply })
  }

  #needRoom(path: string): void {
    const failure = this.#failureAt(path)
    if (failure !== undefined) this.#fail(failure, path)
  }

  #failureAt(path: string): SimulatedDisk['failure'] {
    return this.hasRoomAt(path) ? undefined : this.failure
  }

  #newDirectory(mode: number): DirectoryNode {
    const inode = this.#next()
    return { kind: 'directory', inode, mode, entries: new Map(), synced: new Map() }
  }

  #next(): number {
    this.#inodes += 1
    return this.#inodes
  }
}

function survivors(changes: readonly Change[], random: Random): readonly Change[] {
  const way = random()
  if (way < 0.3) return []
  if (way < 0.5) return changes
  if (way < 0.8) return changes.slice(0, Math.floor(random() * (changes.length + 1)))
  return changes.filter(() => random() < 0.5)
}

function settleFile(file: FileNode, random: Random): void {
  const { synced, content } = file
  if (synced?.content !== content) {
    const way = random()
    const before = synced?.content ?? Buffer.alloc(0)
    // What was appended takes nothing of what was there with it.
    const isAppended = content.subarray(0, before.length).equals(before)
    const whole = isAppended ? before.length : 0
    const torn = whole + Math.floor(random() * (content.length - whole))
    if (way < 0.4) file.content = before
    else if (way < 0.6) file.content = content.subarray(0, torn)
    else if (way < 0.7) file.content = Buffer.concat([content.subarray(0, whole)], content.length)
  }
  if (synced !== undefined && random() < 0.5) file.mode = synced.mode
  file.synced = { content: file.content, mode: file.mode }
}

function partition<Value>(
  values: readonly Value[],
  isFirst: (value: Value) => boolean,
): [Value[], Value[]] {
  return [values.filter(isFirst), values.filter((value) => !isFirst(value))]
}

export function fail(code: string, path: string): never {
  // Nobody looks at the stack of what is caught at once, and there are thousands.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const error = new Error(`${code}: simulated, '${path}'`)
  Error.stackTraceLimit = stackTraceLimit
  throw Object.assign(error, { code, path })
}
