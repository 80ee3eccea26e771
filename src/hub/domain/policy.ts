import type { CargoId } from '../../protocol/identifiers.ts'

/** What the operator laid down for one role, or for every role that has no row of its own. docs/protocol.md POL. */
export interface Policy {
  /** `EVERY_ROLE` for the default. */
  readonly role: string
  readonly name: string
  /** The longest that a token for the role may live; null leaves it to the hub. */
  readonly tokenTtlSecondsMax: number | null
  /** How long its certificates live, of identities and deliveries alike; null leaves it to the CA. */
  readonly certTtlSeconds: number | null
  /** Names that its certificates may have besides the agent's own: exact, `*.suffix`, or `EVERY_NAME`. */
  readonly permittedSans: readonly string[]
  /** Somebody said so; false while they are the default. Only then may operators give them. */
  readonly areSansNamed: boolean
  /** Whether an operator may have its hosts enrolled again. */
  readonly mayOperatorsReenroll: boolean
  /** What each agent gets when it is enrolled. */
  readonly automaticCargoes: readonly CargoId[]
}

export const EVERY_ROLE = '*'
export const EVERY_NAME = '*'
