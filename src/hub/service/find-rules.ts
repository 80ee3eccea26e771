import { type RoleRules, rulesOfRole } from '../domain/role-rules.ts'
import type { StoreReader } from '../store/store.ts'

export async function findRules(reader: StoreReader, role: string): Promise<RoleRules> {
  return rulesOfRole(role, await reader.findPolicies(role))
}
