import { AdminRefusal } from '../admin-act.ts'
import type { PolicyBounds, SelectorPolicy } from '../../domain/policy.ts'
import type { StoreReader } from '../../store/store.ts'

/** Lists and logs name a policy by its name, whatever chooses its hosts. The role is that of the policy that is to have the name. */
export async function refuseTakenName(
  reader: StoreReader,
  { name }: Pick<PolicyBounds, 'name'>,
  own: { readonly role?: string },
): Promise<void> {
  const ofRole = (await reader.listPolicies()).find((each) => each.name === name)
  if (ofRole !== undefined && ofRole.role !== own.role) {
    const whose = `the policy of role ${ofRole.role}`
    throw new AdminRefusal('nome_taken', `${whose} is named ${name} already`)
  }
  if (own.role === undefined) return
  refuseNameOfSelector({ name }, await reader.listSelectorPolicies())
}

/** Of the politica of a role. */
export function refuseNameOfSelector(
  { name }: Pick<PolicyBounds, 'name'>,
  policies: readonly SelectorPolicy[],
): void {
  if (!policies.some((each) => each.name === name)) return
  throw new AdminRefusal('nome_taken', `a policy with a selector is named ${name} already`)
}
