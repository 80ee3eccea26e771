import { AdminRefusal } from '../admin-act.ts'
import type { PolicyBounds } from '../../domain/policy.ts'
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
  const isOther = (await reader.listSelectorPolicies()).some((each) => each.name === name)
  if (!isOther) return
  throw new AdminRefusal('nome_taken', `a policy with a selector is named ${name} already`)
}
