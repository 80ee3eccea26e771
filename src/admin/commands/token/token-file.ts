// Where many tokens go: a file that nobody else can read, a line for each host. docs/protocol.md CLI-63.

import { constants, fstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { describeError, UserError } from '../../../platform/errors.ts'

export interface TokenFile {
  /** Whose tokens it holds already. */
  readonly hosts: ReadonlySet<string>
  /** On the disk when it answers: the hub shows a token only once. After a failure nothing of the line is left, and no other one is added. */
  add(host: string, token: string): Promise<void>
  close(): Promise<void>
}

const BYTES_MAX = 64 * 1024 * 1024
const OF_OTHERS = 0o077

/** Opened before svc becomes the owner of the vault, and made where there is none. */
export async function openTokenFile(path: string): Promise<TokenFile> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
  const file = await open(path, flags, 0o600).catch((error: unknown) => {
    throw new UserError('file_unwritable', `--out: ${describeError(error)}`, { cause: error })
  })
  try {
    const hosts = await readHosts(file, path)
    // One after the other, and none after one that failed: what a short write leaves would run into the next line.
    let lastAdded = Promise.resolve()
    return {
      hosts,
      add: (host, token) => {
        lastAdded = lastAdded.then(() => append(file, path, { host, token }))
        return lastAdded
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** All of the line, or nothing: a host with a line counts as done. */
async function append(
  file: FileHandle,
  path: string,
  { host, token }: { readonly host: string; readonly token: string },
): Promise<void> {
  const { size } = await file.stat()
  try {
    await file.appendFile(`${host} ${token}\n`)
    await file.datasync()
  } catch (error) {
    const isTakenBack = await file.truncate(size).then(
      () => true,
      () => false,
    )
    throw new UserError('file_unwritable', `--out: cannot write ${path}: ${describeError(error)}`, {
      hint: isTakenBack ? 'free space there' : `free space there, and remove the line of ${host}`,
    })
  }
}

async function readHosts(file: FileHandle, path: string): Promise<ReadonlySet<string>> {
  const { mode, uid, size, nlink } = await file.stat()
  const isOurs = uid === process.geteuid?.() && nlink === 1
  if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > BYTES_MAX) {
    throw new UserError('file_unwritable', `--out: ${path} is no file for tokens`)
  }
  if (!isOurs || (mode & OF_OTHERS) !== 0) throw exposed(`--out: ${path}`, `chmod 600 ${path}`)
  const text = (await file.readFile()).toString('utf8')
  if (text !== '' && !text.endsWith('\n')) await file.appendFile('\n')
  return new Set(text.split('\n').flatMap((line) => /^(\S+) svct_\S{43}$/.exec(line)?.[1] ?? []))
}

/** Standard output that a shell sends to a file for everybody. */
export function refuseExposedOutput(stdoutFd: number): void {
  const stats = fstatSync(stdoutFd)
  if (!stats.isFile() || (stats.mode & OF_OTHERS) === 0) return
  throw exposed('standard output', 'name a file with --out, or begin with umask 077')
}

function exposed(what: string, hint: string): UserError {
  return new UserError('tokens_exposed', `${what} is a file that others can read`, { hint })
}
