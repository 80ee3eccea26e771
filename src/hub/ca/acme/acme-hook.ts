// The program that shows the world that the hub controls a name: a record in the DNS, or a file of a web server.
// docs/protocol.md CAX-30.

import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { CaError } from '../certificate-authority.ts'

export const CHALLENGES = ['dns-01', 'http-01'] as const
export type ChallengeType = (typeof CHALLENGES)[number]

export interface Challenge {
  readonly type: ChallengeType
  /** Without the `*.` of a wildcard. */
  readonly domain: string
  readonly token: string
  readonly keyAuthorization: string
}

export type RunHook = (
  action: 'present' | 'cleanup',
  challenge: Challenge,
  signal: AbortSignal,
) => Promise<void>

const HOOK_MS = 120_000
const OUTPUT_CHARACTERS_MAX = 300
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Throws CaError when the program fails or takes too long; it then is killed, and all that it started. */
export function createHook(path: string, timeoutMs = HOOK_MS): RunHook {
  return (action, challenge, signal) =>
    new Promise((resolve, reject) => {
      const fail = (why: string): void =>
        reject(
          new CaError('unreachable', `the hook (${action} ${challenge.domain}) ${why}`, {
            variable: 'SVC_ACME_HOOK',
          }),
        )
      const child = spawn(path, [action], {
        // Nothing of the hub's own environment.
        env: environmentOf(challenge),
        cwd: '/',
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          output = (output + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX)
        })
      }
      let isLate = false
      const kill = (): void => {
        isLate = true
        try {
          if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        } catch {
          // It ended by itself in this very moment.
        }
      }
      // tidy: a process lives in real time, whatever a Clock says.
      const timer = setTimeout(kill, timeoutMs)
      signal.addEventListener('abort', kill, { once: true })
      if (signal.aborted) kill()
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', kill)
      }
      child.once('error', (error) => {
        end()
        fail(`cannot be run: ${error.message}`)
      })
      child.once('exit', (status) => {
        end()
        // What it left in the background keeps nobody waiting.
        child.stdout.destroy()
        child.stderr.destroy()
        if (status === 0) resolve()
        else if (isLate) fail('was killed: it took too long')
        else fail(`ended with ${status ?? 'a signal'}: ${oneLine(output)}`)
      })
    })
}

/** All of it is public: the CA looks it up, and everybody else who asks. */
function environmentOf({ type, domain, token, keyAuthorization }: Challenge) {
  const digest = hash('sha256', keyAuthorization, 'base64url')
  return {
    PATH,
    LANG: 'C.UTF-8',
    SVC_ACME_TYPE: type,
    SVC_ACME_DOMAIN: domain,
    ...(type === 'dns-01'
      ? { SVC_ACME_RECORD: `_acme-challenge.${domain}`, SVC_ACME_CONTENT: digest }
      : { SVC_ACME_TOKEN: token, SVC_ACME_CONTENT: keyAuthorization }),
  }
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- Control characters are what must not reach a terminal.
  return text.replaceAll(/[\u0000-\u001F\u007F-\u009F]+/g, ' ').trim()
}
