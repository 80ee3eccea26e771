import type { CargoId } from '../../protocol/identifiers.ts'
import { EVERY_NAME, EVERY_ROLE, type Policy } from './policy.ts'
import { coversName, liesBelow } from './subject-alt-name.ts'

const TOKEN_TTL_SECONDS_DEFAULT = 3600
export const TOKEN_TTL_SECONDS_MAX = 7 * 86_400

/**
 * An agent renews when a third of a certificate's life is left, an attempt a minute: a quarter of an hour has room for
 * three of them at the default poll interval. docs/protocol.md POL-8.
 */
export const CERT_TTL_SECONDS_MIN = 15 * 60

/** What holds for the agents of one role, in every request: token, enrolment, certificate, renewal or recovery. */
export interface RoleRules {
  /** The name of the policy that says so; undefined when no policy does. */
  readonly policyName: string | undefined
  readonly tokenTtlSecondsMax: number
  readonly tokenTtlSecondsDefault: number
  /** Undefined leaves it to the CA. */
  readonly certTtlSeconds: number | undefined
  readonly permittedSans: readonly string[]
  readonly automaticCargoes: readonly CargoId[]
  /** Whether an admin token of role operator may have a host enrolled again. */
  readonly mayOperatorsReenroll: boolean
  /** What such a token may give besides the agent's own name: the names that an admin named, and nothing by default. */
  readonly operatorSans: readonly string[]
}

export function rulesOfRole(role: string, policies: readonly Policy[]): RoleRules {
  const policy = policyOfRole(role, policies)
  const tokenTtlSecondsMax = Math.min(
    policy?.tokenTtlSecondsMax ?? TOKEN_TTL_SECONDS_MAX,
    TOKEN_TTL_SECONDS_MAX,
  )
  return {
    policyName: policy?.name,
    tokenTtlSecondsMax,
    tokenTtlSecondsDefault: Math.min(TOKEN_TTL_SECONDS_DEFAULT, tokenTtlSecondsMax),
    certTtlSeconds: policy?.certTtlSeconds ?? undefined,
    permittedSans: policy?.permittedSans ?? [EVERY_NAME],
    automaticCargoes: policy?.automaticCargoes ?? [],
    mayOperatorsReenroll: policy?.mayOperatorsReenroll ?? false,
    operatorSans: policy?.areSansNamed === true ? policy.permittedSans : [],
  }
}

/** The row of the role counts, as a whole; the row of `EVERY_ROLE` only for a role without a row. */
export function policyOfRole(role: string, policies: readonly Policy[]): Policy | undefined {
  return (
    policies.find((each) => each.role === role) ?? policies.find((each) => each.role === EVERY_ROLE)
  )
}

/** The names that no certificate of this agent may have; its own hostname is always permitted. */
export function findForbiddenSans(
  { permittedSans }: Pick<RoleRules, 'permittedSans'>,
  hostname: string,
  sans: readonly string[],
): string[] {
  return sans.filter(
    (san) => san !== hostname && !permittedSans.some((permitted) => isPermittedBy(permitted, san)),
  )
}

function isPermittedBy(permitted: string, san: string): boolean {
  if (permitted === EVERY_NAME) return true
  return permitted.startsWith('*.')
    ? liesBelow(san, permitted.slice(2))
    : coversName(permitted, san)
}
