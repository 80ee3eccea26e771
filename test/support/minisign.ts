// Debian's minisign, which had no part in what it is compared with.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathOfTool, withTools } from './tools.ts'

export interface SignOptions {
  /** Null leaves it to minisign. */
  readonly trustedComment?: string | null
  readonly legacy?: boolean
}

/** A key pair of its own, in a directory of its own. */
export class MinisignKey implements AsyncDisposable {
  readonly directory: string
  /** The base64 line of its `.pub` file. */
  readonly publicKey: string

  private constructor(directory: string, publicKey: string) {
    this.directory = directory
    this.publicKey = publicKey
  }

  static async create(): Promise<MinisignKey> {
    const directory = await mkdtemp(join(tmpdir(), 'minisign-'))
    run(['-G', '-W', '-p', join(directory, 'key.pub'), '-s', join(directory, 'key')])
    const lines = readFileSync(join(directory, 'key.pub'), 'utf8').split('\n')
    return new MinisignKey(directory, lines[1] ?? '')
  }

  /** What `minisign -S` writes for that content. */
  sign(content: string | Uint8Array, options: SignOptions = {}): Buffer {
    const { trustedComment = 'version:0.1.1 file:svc-agent', legacy = false } = options
    const file = join(this.directory, 'content')
    writeFileSync(file, content)
    const flags = legacy ? ['-S', '-l'] : ['-S']
    const key = ['-s', join(this.directory, 'key')]
    const comment = trustedComment === null ? [] : ['-t', trustedComment]
    run([...flags, ...key, ...comment, '-m', file, '-x', `${file}.minisig`])
    return readFileSync(`${file}.minisig`)
  }

  /** What `minisign -V` thinks of it. */
  accepts(content: Uint8Array, signature: Uint8Array): boolean {
    const file = join(this.directory, 'checked')
    writeFileSync(file, content)
    writeFileSync(`${file}.minisig`, signature)
    try {
      run(['-V', '-q', '-P', this.publicKey, '-m', file, '-x', `${file}.minisig`])
      return true
    } catch {
      return false
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true })
  }
}

/** For `test`. */
export const WITH_MINISIGN = withTools('minisign')

function run(args: readonly string[]): void {
  execFileSync(pathOfTool('minisign'), args, { stdio: 'pipe' })
}
