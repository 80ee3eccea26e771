import { formatDurationMs } from '../../../platform/durations.ts'
import type { AdminJoinRule } from '../../../protocol/admin/join-rules.ts'
import { showLabels } from '../hosts/label-option.ts'
import { stateWord } from '../../terminal/table.ts'
import { describeMethod } from './methods/join-methods.ts'

/** What a person reads of a rule. */
export function describeJoinRule(rule: AdminJoinRule) {
  const { id, name, method, pattern, role, labels, expires_at, ended_at } = rule
  return {
    id,
    name,
    method,
    ...describeMethod(rule),
    pattern,
    role,
    labels: showLabels(labels),
    state: stateWord(rule.state),
    hosts: hostsOf(rule),
    expires_at,
    ended_at,
    silent_seconds: silenceOf(rule),
  }
}

/** Of how many: `3/40`. */
export function hostsOf({ hosts, hosts_max }: AdminJoinRule): string {
  return `${hosts}/${hosts_max}`
}

export function silenceOf({ silent_seconds }: AdminJoinRule): string | null {
  return silent_seconds === null ? null : formatDurationMs(silent_seconds * 1000)
}
