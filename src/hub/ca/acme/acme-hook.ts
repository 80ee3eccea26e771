// The program that shows the world that the hub controls a name: a record in the DNS, or a file of a web server.
// docs/protocol.md CAX-30.

import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { withoutTokens } from '../ca-reply.ts'
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
const OUTPUT_CHARACTERS_MAX = 4096
const LOGGED_CHARACTERS_MAX = 300
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Throws CaError when the program fails or takes too long; it then is killed, and all that it started. The error is for everybody
 * who may look at a delivery; what the program said about it may be for operators alone, and is in the log.
 */
export function createHook(path: string, logger: Logger, timeoutMs = HOOK_MS): RunHook {
  return (action, challenge, signal) =>
    new Promise((resolve, reject) => {
      const { domain } = challenge
      const fail = (why: string): void =>
        reject(
          new CaError('unreachable', `the hook (${action} ${domain}) ${why}`, {
            variable: 'SVC_ACME_HOOK',
          }),
        )
      let child: ChildProcess
      try {
        child = spawn(path, [action], {
          // Nothing of the hub's own environment.
          env: environmentOf(challenge),
          cwd: '/',
          stdio: ['ignore', 'ignore', 'pipe'],
          detached: true,
        })
      } catch (error) {
        fail(`cannot be run: ${describeError(error)}`)
        return
      }
      // Before anything else: with no file left to open, it is all that comes, and there is no stderr.
      child.once('error', (error) => {
        end()
        fail(`cannot be run: ${error.message}`)
      })
      let output = ''
      let isCut = false
      child.stderr?.on('data', (chunk: Buffer) => {
        const text = output + chunk.toString()
        isCut ||= text.length > OUTPUT_CHARACTERS_MAX
        output = text.slice(-OUTPUT_CHARACTERS_MAX)
      })
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
      child.once('exit', (status) => {
        end()
        // What it left in the background keeps nobody waiting.
        child.stderr?.destroy()
        if (status === 0) {
          resolve()
          return
        }
        logger.warn(
          { action, domain, status, output: endOf(output, isCut) },
          'The hook of the ACME CA failed',
        )
        fail(isLate ? 'was killed: it took too long' : `ended with ${status ?? 'a signal'}`)
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

function endOf(output: string, isCut: boolean): string {
  // A word that was cut may be the rest of a token.
  const whole = isCut ? output.replace(/^\S+/, '') : output
  return withoutTokens(whole).trim().slice(-LOGGED_CHARACTERS_MAX)
}
