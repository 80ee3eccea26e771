import type { Agent } from '../domain/agent.ts'
import type { EnrollmentToken } from '../domain/enrollment-token.ts'
import { type RoleRules, rulesOfRole } from '../domain/role-rules.ts'
import type { StoreReader } from '../store/store.ts'

export async function findRules(reader: StoreReader, role: string): Promise<RoleRules> {
  return rulesOfRole(role, await reader.findPolicies(role))
}

/** Whether the politicas of the role that the host has, and of that which the token gives it, leave it to operators. */
export async function mayOperatorsReenroll(
  reader: StoreReader,
  token: EnrollmentToken | undefined,
  agent: Agent | undefined,
): Promise<boolean> {
  if (token?.isOperators !== true || agent === undefined) return false
  const has = await findRules(reader, agent.role)
  const gets = await findRules(reader, token.expectedRole)
  return has.mayOperatorsReenroll && gets.mayOperatorsReenroll
}
