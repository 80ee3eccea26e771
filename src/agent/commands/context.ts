// What each command starts with: parsed configuration, paths, and the rights of the data directory's owner.

import { hostname } from 'node:os'
import { becomeOwnerOf } from '../../platform/become-owner.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { createLoggingFromEnvironment, type Logger, type Logging } from '../../platform/logger.ts'
import { nearMatches } from '../../platform/near-matches.ts'
import { printableLines } from '../../platform/printable.ts'
import { writeOut } from '../../platform/standard-output.ts'
import { readVersion } from '../../platform/version.ts'
import { VARIABLE_NAMES } from '../../protocol/variable-names.ts'
import type { AgentCommand } from '../settings/agent-variables.ts'
import type { Random } from '../hub/backoff.ts'
import { type AgentConfig, parseAgentConfig } from '../settings/config.ts'
import { keepGivenFile } from '../files/given-files.ts'
import { filesOfHostKey, HOST_KEY_BYTES_MAX } from './read-host-key.ts'
import { CA_BYTES_MAX } from '../hub/gateway.ts'
import { type AgentPaths, agentPaths } from '../settings/paths.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export const TOKEN_FILE_BYTES_MAX = 16_384

export interface CommandContext {
  readonly config: AgentConfig
  readonly paths: AgentPaths
  readonly clock: Clock
  readonly random: Random
  readonly logging: Logging
  readonly version: string
}

export async function startCommand(
  command: AgentCommand,
  env: Environment,
  options: {
    readonly allowHttp?: boolean
    readonly keepsRights?: boolean
    /** What only root can do, before it gives up its rights. */
    readonly asRoot?: (log: Logger) => Promise<void>
  } = {},
): Promise<CommandContext> {
  const config = parseAgentConfig(env, { command, osHostname: hostname(), ...options })
  const logging = await createLoggingFromEnvironment(env)
  warnAboutUnknownVariables(command, config, logging)
  keepGivenFile(config.serverCaPath, CA_BYTES_MAX)
  if (command === 'enroll') {
    keepGivenFile(config.enrollTokenFile, TOKEN_FILE_BYTES_MAX)
    for (const path of filesOfHostKey(config)) keepGivenFile(path, HOST_KEY_BYTES_MAX)
  }
  if (process.getuid?.() === 0) await options.asRoot?.(logging.forModule('agent'))
  if (options.keepsRights !== true) becomeOwnerOf(config.dataDir)
  return {
    config,
    paths: agentPaths(config),
    clock: systemClock,
    // tidy: the agent's one source of chance, handed on from here.
    random: Math.random,
    logging,
    version: readVersion(),
  }
}

/** Commands that only read would repeat what `run` has said already. */
function warnAboutUnknownVariables(
  command: AgentCommand,
  { unknownVariables }: AgentConfig,
  logging: Logging,
): void {
  if (command !== 'enroll' && command !== 'run' && command !== 'rotate') return
  for (const variable of unknownVariables) {
    const [near] = nearMatches(variable, VARIABLE_NAMES)
    logging.forModule('agent').warn({ variable, did_you_mean: near }, 'Unknown variable ignored')
  }
}

/** One JSON document, or text, on stdout. */
export async function print(
  value: unknown,
  format: { readonly json: boolean },
  text: string,
): Promise<void> {
  // What the agent's user wrote may come to root's terminal.
  await writeOut(`${printableLines(format.json ? JSON.stringify(value, undefined, 2) : text)}\n`)
}
