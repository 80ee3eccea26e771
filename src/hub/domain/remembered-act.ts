// What was done to hosts and tokens, as it is kept outside the vault for a restore. docs/protocol.md BKP-15.

import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { UUID_PATTERN } from '../../protocol/identifiers.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { HubEventType } from '../../protocol/words.ts'

const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
/** The id of a rule. */
const joinRule = Type.String({ pattern: '^[0-9a-f]{16}$' })
/** By one apply: what is kept of an act has at most a kilobyte. */
export const JOIN_RULES_ENDED_MAX = 40
const about = {
  /** Of the entry of the log. */
  seq: Type.Integer({ minimum: 1 }),
  at: Type.String({ maxLength: 32 }),
}
const ofAgent = {
  ...about,
  agente_id: Type.String({ pattern: UUID_PATTERN }),
  hostname: Type.String({ minLength: 1, maxLength: LIMITS.hostnameCharactersMax }),
}

export const RememberedAct = Type.Union([
  Type.Object({
    ...ofAgent,
    type: Type.Literal(HubEventType.agentEnrolled),
    role: Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax }),
    /** SHA-256 of the token that was spent. */
    token: sha256,
    /** That the token was derived from. */
    join_rule: Type.Optional(joinRule),
  }),
  Type.Object({ ...ofAgent, type: Type.Literal(HubEventType.agentRevoked) }),
  Type.Object({ ...ofAgent, type: Type.Literal(HubEventType.agentRemoved) }),
  Type.Object({ ...about, type: Type.Literal(HubEventType.tokenRevoked), token: sha256 }),
  Type.Object({ ...about, type: Type.Literal(HubEventType.accessTokenRevoked), token: sha256 }),
  Type.Object({ ...about, type: Type.Literal(HubEventType.joinRuleEnded), join_rule: joinRule }),
  Type.Object({
    ...about,
    type: Type.Literal(HubEventType.fleetApplied),
    /** That it ended. */
    join_rules: Type.Array(joinRule, { minItems: 1, maxItems: JOIN_RULES_ENDED_MAX }),
  }),
])
export type RememberedAct = Static<typeof RememberedAct>

/** The entries of the log that say so. */
export const REMEMBERED_TYPES: readonly HubEventType[] = [
  HubEventType.agentEnrolled,
  HubEventType.agentRevoked,
  HubEventType.agentRemoved,
  HubEventType.tokenRevoked,
  HubEventType.accessTokenRevoked,
  HubEventType.joinRuleEnded,
  HubEventType.fleetApplied,
]

export function formatAct(act: RememberedAct): string {
  return JSON.stringify(act)
}

export function parseAct(line: string): RememberedAct | undefined {
  try {
    const act: unknown = JSON.parse(line)
    return Check(RememberedAct, act) ? act : undefined
  } catch {
    return undefined
  }
}
