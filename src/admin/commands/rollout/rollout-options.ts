// `--waves` and what goes with it: the next version of a load, or a rotation, goes to a few hosts first. docs/protocol.md RLO-1, RLO-2.

import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import {
  LATE_MAX_SECONDS,
  LATE_MIN_SECONDS,
  SOAK_MAX_SECONDS,
} from '../../../protocol/admin/rollouts.ts'
import { findWavesFault, parseShare, type Share } from '../../../protocol/rollout-share.ts'
import { parseTtlSeconds } from '../parse-ttl.ts'

export interface RolloutOptions {
  readonly waves?: string
  readonly soak?: string
  readonly maxFailed?: string
  readonly lateAfter?: string
}

export type RolloutRules = Pick<
  AdminRequest<'startRollout'>,
  'waves' | 'soak_seconds' | 'max_failed' | 'late_seconds'
>

const SOAK_DEFAULT = '10m'
const MAX_FAILED_DEFAULT = '0'
const SOAK = {
  option: '--soak',
  minSeconds: 0,
  minText: '0s',
  maxSeconds: SOAK_MAX_SECONDS,
  maxText: '30d',
  hint: 'the next wave opens when the hosts of the last one have been well for so long',
}
const LATE = {
  option: '--late-after',
  minSeconds: LATE_MIN_SECONDS,
  minText: '1m',
  maxSeconds: LATE_MAX_SECONDS,
  maxText: '30d',
  hint: 'leave it out for 1h',
}
const WAVES_HINT = 'write them as 1,10%,50%,100%: each is how many hosts have the version then'

export function addRolloutOptions(command: Command): void {
  command
    .option(
      '--waves <sizes>',
      'in waves: how many hosts have it after each, such as 1,10%,50%,100%',
    )
    .option('--soak <duration>', `with --waves: how long a wave is to be well; ${SOAK_DEFAULT}`)
    .option(
      '--max-failed <share>',
      `with --waves: how many hosts may fail, such as 3 or 2%; ${MAX_FAILED_DEFAULT}`,
    )
    .option('--late-after <duration>', 'with --waves: a host not done by then has failed; 1h')
}

/** Undefined without `--waves`. */
export function parseRolloutOptions(options: RolloutOptions): RolloutRules | undefined {
  const { waves, soak = SOAK_DEFAULT, maxFailed = MAX_FAILED_DEFAULT, lateAfter } = options
  if (waves === undefined) {
    const others = [options.soak, options.maxFailed, lateAfter]
    if (others.every((other) => other === undefined)) return undefined
    throw new UserError('usage', '--soak, --max-failed and --late-after go with --waves', {
      hint: WAVES_HINT,
    })
  }
  if (parseShare(maxFailed) === undefined) {
    throw new UserError(
      'max_failed_invalid',
      `--max-failed: ${maxFailed} is neither a number of hosts nor a percentage`,
      { hint: 'write it as 3, or as 2%' },
    )
  }
  return {
    waves: parseWaves(waves),
    soak_seconds: parseTtlSeconds(soak, SOAK),
    max_failed: maxFailed,
    ...(lateAfter !== undefined && { late_seconds: parseTtlSeconds(lateAfter, LATE) }),
  }
}

function parseWaves(text: string): string[] {
  const texts = text.split(',').map((part) => part.trim())
  const waves: Share[] = []
  for (const part of texts) {
    const wave = parseShare(part)
    if (wave === undefined) {
      throw invalid(`${JSON.stringify(part)} is neither a number of hosts nor a percentage`)
    }
    waves.push(wave)
  }
  const fault = findWavesFault(waves)
  if (fault !== undefined) throw invalid(`the waves ${fault}`)
  return texts
}

function invalid(reason: string): UserError {
  return new UserError('waves_invalid', `--waves: ${reason}`, { hint: WAVES_HINT })
}
