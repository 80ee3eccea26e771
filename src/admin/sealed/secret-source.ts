// What is to be sealed, or opens what is sealed: a file that the operator names, or `-` for standard input. It is opened
// with the operator's own rights, and read when it is known how much it may hold.

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { getSystemErrorMessage } from 'node:util'
import { describeError, UserError } from '../../platform/errors.ts'

export interface SecretSource {
  /** As the operator names it. */
  readonly name: string
  /** Undefined where it shows only at the end: pipes, terminals. */
  readonly size: number | undefined
  /** Who may read it; undefined for what is no file. */
  readonly mode: number | undefined
  /** The whole content, or undefined when it has more than `bytesMax`. */
  read(bytesMax: number): Promise<Buffer | undefined>
  /** The whole content, of any size. */
  stream(): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

export type OpenSecretSource = (name: string) => Promise<SecretSource>

/** `-` is `standardInput`. */
export async function openSecret(
  name: string,
  standardInput: AsyncIterable<Uint8Array>,
): Promise<SecretSource> {
  if (name !== '-') return openFile(name)
  return {
    name: 'standard input',
    size: undefined,
    mode: undefined,
    read: (bytesMax) => readAtMost(standardInput, bytesMax),
    stream: () => standardInput,
    close: () => Promise.resolve(),
  }
}

async function openFile(path: string): Promise<SecretSource> {
  const file = await explaining(path, () => open(path, constants.O_RDONLY))
  const stats = await file.stat()
  if (stats.isDirectory()) {
    await file.close()
    throw new UserError('file_unreadable', `${path} is a directory`)
  }
  return {
    name: path,
    size: stats.isFile() ? stats.size : undefined,
    mode: stats.isFile() ? stats.mode & 0o777 : undefined,
    read: (bytesMax) => readAtMost(streamOf(path, file), bytesMax),
    stream: () => streamOf(path, file),
    close: () => file.close(),
  }
}

async function* streamOf(path: string, file: FileHandle): AsyncGenerator<Uint8Array> {
  try {
    yield* file.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>
  } catch (error) {
    throw explain(path, error)
  }
}

async function readAtMost(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const kept: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > bytesMax) return undefined
    kept.push(chunk)
  }
  return Buffer.concat(kept)
}

async function explaining<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explain(path, error)
  }
}

function explain(path: string, error: unknown): UserError {
  const isOfSystem = error instanceof Error && 'errno' in error && typeof error.errno === 'number'
  const reason = isOfSystem ? getSystemErrorMessage(Number(error.errno)) : describeError(error)
  return new UserError('file_unreadable', `cannot read ${path}: ${reason}`, { cause: error })
}
