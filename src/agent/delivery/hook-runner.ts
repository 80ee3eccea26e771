// The hooks of a delivery, told in arguments and environment what was installed.

import type { FileLock } from '../../platform/file-lock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { HookFailureReport } from '../hub/wire.ts'
import type { HookPart } from './delivery-kind.ts'
import { findHooks } from './find-hooks.ts'
import { runHook } from './run-hook.ts'

export interface HookInvocation extends HookPart {
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
          arguments: [invocation.name, ...invocation.paths],
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

/** Nothing of the agent's own environment, which may hold a token. */
function hookEnvironment(invocation: HookInvocation, home: string): Record<string, string> {
  return {
    PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    SVC_EVENT: invocation.event,
    SVC_NOME: invocation.name,
    ...invocation.environment,
    SVC_ENTREGA_ID: invocation.deliveryId,
    SVC_CARGA_ID: invocation.cargoId,
    SVC_VERSAO: String(invocation.version),
    SVC_HOSTNAME: invocation.hostname,
  }
}
