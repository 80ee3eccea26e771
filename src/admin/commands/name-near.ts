// Of an agent or a politica that the hub does not know by its name: which ones are near. docs/protocol.md CLI-64.

import { UserError } from '../../platform/errors.ts'
import { didYouMean } from '../../platform/near-matches.ts'
import { type AdminOperations, wrapOperations } from '../../protocol/admin/operations.ts'
import type { AdminSession } from '../doors/admin-session.ts'
import { LIST_PAGE_ROWS } from './list-pages.ts'

type Operations = Pick<AdminOperations, 'listAgents' | 'listPolicies' | 'listSelectorPolicies'>

/** Each list is asked for once, and only its first page: in a large fleet a slip may stay without a guess. */
export function namingNear(session: AdminSession): AdminSession {
  let hostnames: Promise<readonly string[]> | undefined
  let roles: Promise<readonly string[]> | undefined
  let policies: Promise<readonly string[]> | undefined
  const guess = async (code: string, request: Named): Promise<string | undefined> => {
    if (code === 'agent_not_found' && typeof request.agente === 'string') {
      hostnames ??= listHostnames(session.operations)
      return didYouMean(request.agente, await hostnames)
    }
    if (code === 'politica_not_found' && typeof request.role === 'string') {
      roles ??= listRoles(session.operations)
      return didYouMean(request.role, await roles)
    }
    if (code === 'politica_not_found' && typeof request.nome === 'string') {
      policies ??= listPolicyNames(session.operations)
      return didYouMean(request.nome, await policies)
    }
    return undefined
  }
  const operations = wrapOperations(session.operations, async (_name, request, proceed) => {
    try {
      return await proceed(request)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      // A caller who may not list gets the refusal as it is.
      const hint = await guess(error.code, request).catch(() => undefined)
      throw hint === undefined
        ? error
        : new UserError(error.code, error.message, { cause: error.cause, hint })
    }
  })
  return { ...session, operations }
}

interface Named {
  readonly agente?: unknown
  readonly role?: unknown
  readonly nome?: unknown
}

async function listHostnames({ listAgents }: Operations): Promise<readonly string[]> {
  const { agentes } = await listAgents({ limit: LIST_PAGE_ROWS })
  return agentes.map(({ hostname }) => hostname)
}

async function listRoles({ listPolicies }: Operations): Promise<readonly string[]> {
  const { politicas } = await listPolicies({ limit: LIST_PAGE_ROWS })
  return politicas.map(({ role }) => role)
}

async function listPolicyNames({ listSelectorPolicies }: Operations): Promise<readonly string[]> {
  const { politicas } = await listSelectorPolicies({ limit: LIST_PAGE_ROWS })
  return politicas.map(({ nome }) => nome)
}
