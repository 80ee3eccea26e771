// What became of the last round, for the watcher of a new version: one short line in the agent's state.

import { join } from 'node:path'
import { replaceFile } from '../../platform/files.ts'

/** `network` is a hub that gave no answer, `server_error` one that answered 500 or above. */
export type RoundOutcome = 'completed' | 'network' | 'server_error' | 'other'

export interface LastRound {
  readonly version: string
  readonly outcome: RoundOutcome
}

export const LAST_ROUND_BYTES_MAX = 256

const LINE =
  /^version=(?<version>\d+\.\d+\.\d+) outcome=(?<outcome>completed|network|server_error|other) at=\S{20,40}\n$/

export function lastRoundPath(stateDir: string): string {
  return join(stateDir, 'last-round')
}

export async function recordLastRound(
  stateDir: string,
  { version, outcome }: LastRound,
  at: Date,
): Promise<void> {
  const line = `version=${version} outcome=${outcome} at=${at.toISOString()}\n`
  await replaceFile(lastRoundPath(stateDir), line, 0o600)
}

/** Undefined for anything but the line that recordLastRound writes. */
export function parseLastRound(text: string): LastRound | undefined {
  const groups = LINE.exec(text)?.groups
  const version = groups?.['version']
  const outcome = groups?.['outcome']
  if (version === undefined || outcome === undefined) return undefined
  return { version, outcome: outcome as RoundOutcome }
}
