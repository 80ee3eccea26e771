// What the token of a join rule is refused for, in the log of the hub and in the audit log. Everybody who has the image may have the token:
// no number of refusals ends the rule, and none makes the audit log grow faster. docs/protocol.md JNR-8, JNR-9.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { createTokenBuckets } from '../../../platform/token-bucket.ts'
import { printableExtract } from '../../../platform/printable.ts'
import type { JoinRuleId } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { JoinRefusalReason, JoinRule } from '../../domain/join-rule.ts'
import type { Store } from '../../store/store.ts'
import { recordHubAct } from '../hub-acts.ts'

export interface JoinRefusals {
  /** For a name that is not the caller's to have: 0, or how long the caller has to wait before the hub tells it more. */
  takeTry(ruleId: JoinRuleId): number
  note(rule: JoinRule, refusal: JoinRefusal): void
}

export interface JoinRefusal {
  readonly reason: JoinRefusalReason
  /** As it was sent. */
  readonly hostname: string
  readonly role: string
  /** What of it, in words of the hub's own. */
  readonly detail?: string | undefined
}

/** Of names and roles, for one rule: so many at once, and one more a minute. */
const TRIES_BURST = 10
const TRIES_PER_SECOND = 1 / 60
/** Between two entries of one rule for one reason. */
const WINDOW_MS = 10 * 60_000
const WINDOWS_MAX = 1000
const NAME_CHARACTERS_MAX = 64

interface Window {
  recordedAtMs: number
  /** Refusals since then. */
  count: number
}

export function createJoinRefusals(
  store: Store,
  clock: Clock,
  log: Logger,
  onRefused?: (reason: JoinRefusalReason) => void,
): JoinRefusals {
  const tries = createTokenBuckets({
    perSecond: TRIES_PER_SECOND,
    burst: TRIES_BURST,
    now: () => clock.now(),
  })
  const windows = new Map<string, Window>()
  const windowOf = (key: string): Window => {
    const known = windows.get(key)
    if (known !== undefined) return known
    const [oldest] = windows.keys()
    if (windows.size >= WINDOWS_MAX && oldest !== undefined) windows.delete(oldest)
    const fresh = { recordedAtMs: Number.NEGATIVE_INFINITY, count: 0 }
    windows.set(key, fresh)
    return fresh
  }
  return {
    takeTry: (ruleId) => tries.take(ruleId),
    note: ({ id, name }, { reason, hostname, role, detail }) => {
      onRefused?.(reason)
      const at = clock.now()
      const window = windowOf(`${id} ${reason}`)
      window.count += 1
      if (Math.abs(at.getTime() - window.recordedAtMs) < WINDOW_MS) return
      const { count } = window
      window.recordedAtMs = at.getTime()
      window.count = 0
      const fields = {
        join_rule: name,
        reason,
        ...(detail !== undefined && { detail }),
        hostname: printableExtract(hostname, NAME_CHARACTERS_MAX),
        role: printableExtract(role, NAME_CHARACTERS_MAX),
        count,
      }
      log.warn(fields, 'Join refused')
      const payload = { actor: 'hub', join_rule_id: id, ...fields }
      store
        .write((writer) => recordHubAct(writer, at, HubEventType.joinRefused, payload))
        .catch((error: unknown) => {
          log.warn({ join_rule: name, reason: describeError(error) }, 'Refused join not recorded')
        })
    },
  }
}
