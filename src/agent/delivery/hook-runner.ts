// The hooks of a delivery, told in arguments and environment what was installed.

import type { FileLock } from '../../platform/file-lock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { HookFailureReport } from '../hub/wire.ts'
import { findHooks } from './find-hooks.ts'
import { runHook } from './run-hook.ts'

export type HookInvocation = PairInvocation | FileInvocation

interface PairInvocation extends CommonInvocation {
  readonly hookName: 'post-csr-cert'
  readonly certificatePath: string
  readonly keyPath: string
  readonly caPath: string
  readonly serial: string
  readonly notAfter: Date
}

interface FileInvocation extends CommonInvocation {
  readonly hookName: 'post-selado' | 'post-push'
  readonly filePath: string
  readonly serial?: undefined
}

interface CommonInvocation {
  readonly event: 'installed' | 'renewed'
  readonly name: string
  readonly deliveryId: string
  readonly cargoId: string
  readonly version: number
  readonly hostname: string
}

/** The port to whatever runs on the host after an installation. */
export interface HookRunner {
  /** The failures, in the order of the hooks; a hook that fails does not keep the others from running. */
  run(invocation: HookInvocation): Promise<HookFailureReport[]>
}

export interface HookRunnerOptions {
  readonly hookDir: string
  readonly workingDirectory: string
  readonly userId: number
  readonly home: string
  readonly log: Logger
  /** The agent's own: no other agent starts before the hooks of this one have ended. */
  readonly lock?: Pick<FileLock, 'descriptor'>
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 60_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export function createHookRunner(options: HookRunnerOptions): HookRunner {
  const { hookDir, workingDirectory, userId, log } = options
  return {
    async run(invocation) {
      const failures: HookFailureReport[] = []
      for (const { path, refusal } of await findHooks(hookDir, invocation.hookName, userId)) {
        if (refusal !== undefined) {
          log.warn({ hook: path, artefact: invocation.name, reason: refusal }, 'Hook refused')
          failures.push({
            hook: path,
            reason: `refused: ${refusal}`,
            exitCode: null,
            durationMs: 0,
          })
          continue
        }
        const result = await runHook({
          path,
          arguments: [invocation.name, ...pathsOf(invocation)],
          environment: hookEnvironment(invocation, options.home),
          workingDirectory,
          lockDescriptor: options.lock?.descriptor,
          timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
        })
        const fields = {
          hook: path,
          artefact: invocation.name,
          exit_code: result.exitCode,
          duration_ms: result.durationMs,
          output: result.output,
        }
        if (result.failure === undefined) {
          log.info(fields, 'Hook done')
          continue
        }
        log.warn({ ...fields, reason: result.failure }, 'Hook failed')
        failures.push({
          hook: path,
          reason: result.failure,
          exitCode: result.exitCode,
          durationMs: result.durationMs,
        })
      }
      return failures
    },
  }
}

function pathsOf(invocation: HookInvocation): string[] {
  return invocation.hookName !== 'post-csr-cert'
    ? [invocation.filePath]
    : [invocation.certificatePath, invocation.keyPath]
}

/** Nothing of the agent's own environment, which may hold a token. */
function hookEnvironment(invocation: HookInvocation, home: string): Record<string, string> {
  return {
    PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    SVC_EVENT: invocation.event,
    SVC_NOME: invocation.name,
    ...ownEnvironment(invocation),
    SVC_ENTREGA_ID: invocation.deliveryId,
    SVC_CARGA_ID: invocation.cargoId,
    SVC_VERSAO: String(invocation.version),
    SVC_HOSTNAME: invocation.hostname,
  }
}

function ownEnvironment(invocation: HookInvocation): Record<string, string> {
  if (invocation.hookName !== 'post-csr-cert') return { SVC_FILE_PATH: invocation.filePath }
  return {
    SVC_CERT_PATH: invocation.certificatePath,
    SVC_KEY_PATH: invocation.keyPath,
    SVC_CA_PATH: invocation.caPath,
    SVC_SERIAL: invocation.serial,
    SVC_NOT_AFTER: invocation.notAfter.toISOString(),
  }
}
