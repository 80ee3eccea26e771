// Which politica a command is about: that of a role, or, by its name, one with a selector.

import { UserError } from '../../../platform/errors.ts'
import { flagOf } from '../../../protocol/spoken-words.ts'

export type ChosenPolicy = { readonly role: string } | { readonly nome: string }

export const NAME_FLAG = `${flagOf('nome')} <name>`

export function choosePolicy(role: string | undefined, nome: string | undefined): ChosenPolicy {
  if (role !== undefined && nome === undefined) return { role }
  if (role === undefined && nome !== undefined) return { nome }
  throw new UserError(
    'usage',
    role === undefined
      ? 'name a role, or a policy by --name'
      : 'a role and --name do not go together',
    { hint: 'the policy of a role goes by its role, a policy with a selector by --name' },
  )
}
