// litewitness, with which others run witnesses of the public network. Where there is no Go to build it with, tests of it skip; under CI
// that is an error.

import { join } from 'node:path'
import Database from 'better-sqlite3-multiple-ciphers'
import { ensureGoProgram } from '../../tools/go-program.ts'
import { findFreePort } from '../support/free-port.ts'
import { type RunningProgram, runTool, startTool, waitUntil } from '../support/processes.ts'
import { exists } from '../../src/platform/files.ts'
import { withTools } from '../support/tools.ts'

/** The newest one that Go 1.26 builds; its keys are of Ed25519. */
const program = await ensureGoProgram({
  name: 'litewitness',
  version: 'v0.9.0',
  module: 'filippo.io/torchwood/cmd/litewitness',
  duration: 'about a minute',
})
const { skip } = withTools('curl', 'ssh-agent', 'ssh-add', 'ssh-keygen')

export const WITH_LITEWITNESS: { readonly skip: string | false } = {
  skip: program === undefined ? 'there is no Go to build litewitness with' : skip,
}

/** Of the tree without leaves: the SHA-256 of nothing. */
const EMPTY_ROOT = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='

export interface Litewitness extends AsyncDisposable {
  readonly url: string
  readonly key: string
  /** Has it sign a log with that key: what its witnessctl does. */
  meet(origin: string, key: string): void
}

/** Its key is one of an SSH agent. */
export async function startLitewitness(directory: string, name: string): Promise<Litewitness> {
  const at = (file: string): string => join(directory, file)
  const running: RunningProgram[] = []
  const stop = async (): Promise<void> => {
    for (const each of running.toReversed()) each.kill('SIGKILL')
    await Promise.allSettled(running.map(({ ended }) => ended))
  }
  const start = (command: string, ...args: readonly string[]): RunningProgram => {
    const started = startTool(command, args)
    running.push(started)
    return started
  }
  try {
    const [socket, key, database] = [at('agent.sock'), at('witness'), at('witness.db')]
    start('ssh-agent', '-D', '-a', socket)
    await waitUntil('the SSH agent', async () => ((await exists(socket)) ? true : undefined))
    await runTool('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    await runTool('env', [`SSH_AUTH_SOCK=${socket}`, 'ssh-add', '-q', key])
    const [, fingerprint = ''] = (await runTool('ssh-keygen', ['-l', '-f', key])).split(' ')
    const address = `127.0.0.1:${await findFreePort()}`
    const options = { name, db: database, 'ssh-agent': socket, key: fingerprint, listen: address }
    const words = Object.entries(options).flatMap(([option, value]) => [`-${option}`, value])
    const witness = start(program ?? 'litewitness', ...words)
    const url = `http://${address}`
    const vkey = await waitUntil('litewitness', async () => {
      if (witness.hasEnded()) throw new Error(`litewitness ended: ${witness.stderr()}`)
      const answered = await fetch(url).catch(() => undefined)
      return answered && /vkey=(\S+)/.exec(witness.stderr())?.[1]
    })
    const meet = (origin: string, logKey: string): void => {
      const tables = new Database(database)
      tables.prepare('INSERT INTO log VALUES (?, 0, ?)').run(origin, EMPTY_ROOT)
      tables.prepare('INSERT INTO key VALUES (?, ?)').run(origin, logKey)
      tables.close()
    }
    return { url, key: vkey, meet, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}
