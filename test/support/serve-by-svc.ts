// `svc console` as a process of its own, in front of the hub of a test.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestHub } from './hub.ts'
import { type RunningProgram, startProgram, waitUntil } from './processes.ts'

export interface SvcConsole extends AsyncDisposable {
  readonly origin: string
  readonly pinFile: string
  readonly running: RunningProgram
  /** The newest link. */
  link(): string
}

const LINK = /http:\/\/127\.0\.0\.1:\d+\/console\/sign-in#code=svcl_[\w-]{43}/g

export async function serveBySvc(hub: TestHub, token: string): Promise<SvcConsole> {
  const [tokenFile, pinFile] = ['console-token', 'recipients.json'].map((name) =>
    join(hub.directory, name),
  ) as [string, string]
  await writeFile(tokenFile, token, { mode: 0o600 })
  const address = `https://localhost:${hub.ports.admin}`
  const ca = join(hub.vaultRoot, 'ca.crt')
  const options = ['--hub', address, '--token-file', tokenFile, '--hub-ca', ca]
  const running = startProgram('svc', [...options, 'console'], { SVC_RECIPIENTS_FILE: pinFile })
  const link = (): string => [...running.stdout().matchAll(LINK)].at(-1)?.[0] ?? ''
  await waitUntil('the link', () => {
    if (running.hasEnded()) throw new Error(`svc console has ended: ${running.stderr()}`)
    return link() === '' ? undefined : true
  })
  return {
    origin: new URL(link()).origin,
    pinFile,
    running,
    link,
    [Symbol.asyncDispose]: async () => {
      running.kill('SIGTERM')
      await running.ended
    },
  }
}
