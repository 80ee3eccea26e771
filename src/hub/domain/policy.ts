import type { CargoId } from '../../protocol/identifiers.ts'
import type { Selector } from '../../protocol/selector.ts'

/** What any politica says of its hosts. */
export interface PolicyBounds {
  readonly name: string
  /** The longest that a token for them may live; null leaves it to the hub. */
  readonly tokenTtlSecondsMax: number | null
  /** How long their certificates live, of identities and deliveries alike; null leaves it to the CA. */
  readonly certTtlSeconds: number | null
  /** Names that their certificates may have besides the agent's own: exact, `*.suffix`, or `EVERY_NAME`. */
  readonly permittedSans: readonly string[]
  /** Somebody said so; false while they are the default. Only then may operators give them. */
  readonly areSansNamed: boolean
  /** What each agent gets when it is enrolled. */
  readonly automaticCargoes: readonly CargoId[]
}

/** What the operator laid down for one role, or for every role that has no row of its own. docs/protocol.md POL. */
export interface Policy extends PolicyBounds {
  /** `EVERY_ROLE` for the default. */
  readonly role: string
  /** Whether an operator may have its hosts enrolled again. */
  readonly mayOperatorsReenroll: boolean
}

/** What narrows the politicas of roles for the hosts that it matches. docs/protocol.md POL-20. */
export interface SelectorPolicy extends PolicyBounds {
  /** Of no key that agents report. */
  readonly selector: Selector
  /** Null says nothing of it; true does not widen what the politica of the role says. */
  readonly mayOperatorsReenroll: boolean | null
}

/** Each certificate and each enrolment looks at all of them. */
export const SELECTOR_POLICIES_MAX = 100

export const EVERY_ROLE = '*'
export const EVERY_NAME = '*'
