// The receiver of docs/webhooks.md, the very text, in a process of its own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { findFreePort } from './free-port.ts'
import { waitUntil } from './processes.ts'

export interface JournalLine {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: { readonly seq?: number } & Readonly<Record<string, unknown>>
}

export interface DocumentedReceiver extends AsyncDisposable {
  readonly url: string
  /** What it kept, in its order. */
  journal(): Promise<JournalLine[]>
  setSecret(secret: string): Promise<void>
  start(): Promise<void>
  /** As a power cut would. */
  kill(): Promise<void>
}

const ROOT = join(import.meta.dirname, '../..')

/** Not started yet: it needs the secret first. */
export async function createDocumentedReceiver(directory: string): Promise<DocumentedReceiver> {
  const place = join(directory, 'receiver')
  await mkdir(place)
  const program = join(place, 'receiver.mjs')
  await writeFile(program, await readExample())
  await symlink(join(ROOT, 'node_modules'), join(place, 'node_modules'))
  const port = await findFreePort()
  const secretFile = join(place, 'secret')
  const journalFile = join(place, 'journal.jsonl')
  let child: ReturnType<typeof spawn> | undefined
  const kill = async (): Promise<void> => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null) return
    running.kill('SIGKILL')
    await once(running, 'exit')
  }
  return {
    url: `http://localhost:${port}/cartorio`,
    journal: async () => {
      const text = await readFile(journalFile, 'utf8').catch(() => '')
      const whole = text.slice(0, text.lastIndexOf('\n') + 1)
      return whole
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JournalLine)
    },
    setSecret: (secret) => writeFile(secretFile, `${secret}\n`, { mode: 0o600 }),
    start: async () => {
      child = spawn(process.execPath, [program], {
        env: { WEBHOOK_SECRET_FILE: secretFile, JOURNAL: journalFile, PORT: String(port) },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      await waitUntil('the receiver to listen', () => isListening(port))
    },
    kill,
    [Symbol.asyncDispose]: kill,
  }
}

async function readExample(): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/webhooks.md'), 'utf8')
  const example = /^```js\n(?<program>.*?)^```$/ms.exec(page)?.groups?.['program']
  if (example === undefined) throw new Error('docs/webhooks.md has no example')
  return example
}

export async function isListening(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}
