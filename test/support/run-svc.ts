// svc without a process of its own, which costs more CPU than most of what it does. What a process is needed for stays
// with `runProgram`: signals, readers that go away, terminals, becoming the vault's owner.

import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { runSvc } from '../../src/admin/run-svc.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { passedOnEnvironment } from './passed-on.ts'
import type { Ended, Variables } from './processes.ts'

const MAIN = fileURLToPath(new URL('../../src/admin/main.ts', import.meta.url))
const SILENT = { show: () => undefined, clear: () => undefined }

/**
 * Runs svc to its end in this process, as `runProgram('svc', …)` does in one of its own, and knows nothing of TEST_BIN.
 * Root's svc does not become the owner of the vault here, and what runs until somebody ends it is ended as soon as it runs.
 */
export async function runSvcHere(
  args: readonly string[],
  variables: Variables,
  input: string | Buffer = '',
): Promise<Ended> {
  const stdout = new Collector()
  const stderr = new Collector()
  const status = await runSvc({
    args,
    env: { ...passedOnEnvironment(), ...variables },
    stdin: Readable.from([Buffer.from(input)]),
    stdout,
    stderr,
    clock: systemClock,
    progress: SILENT,
    ask: undefined,
    untilEnded: async () => undefined,
    userId: process.getuid?.() || undefined,
    command: [process.execPath, MAIN],
  })
  return { status, signal: null, stdout: stdout.text(), stderr: stderr.text() }
}

class Collector extends Writable {
  readonly #chunks: Buffer[] = []

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}
