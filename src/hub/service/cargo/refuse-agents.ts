// Agents that may not have a carga: one has its files already, or a politica forbids its names.

import { AdminRefusal } from '../admin-act.ts'
import { artefactFiles, findSharedFile, rivalNames } from '../../../protocol/artefact-files.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { findForbiddenNames } from '../../domain/host-rules.ts'
import type { StoreReader } from '../../store/store.ts'
import { groupByRules } from '../find-rules.ts'

/** The hub would refuse such a name at every issue; a refusal here tells the operator why. docs/protocol.md POL-11. */
export async function refuseForbiddenSans(
  reader: StoreReader,
  agents: readonly Pick<Agent, 'id' | 'hostname' | 'role'>[],
  sans: readonly string[],
): Promise<void> {
  if (sans.length === 0) return
  for (const { rules, hosts } of await groupByRules(reader, agents)) {
    for (const { hostname, role } of hosts) {
      const [forbidden] = findForbiddenNames(rules, hostname, sans)
      if (forbidden === undefined) continue
      const { san, policyName } = forbidden
      throw new AdminRefusal(
        'san_forbidden',
        `agent ${hostname} of role ${role} may not have the name ${san}: policy ${policyName}`,
      )
    }
  }
}

/** Throws an AdminRefusal when another delivery of one of the agents writes a file of this cargo. */
export async function refuseSameFiles(
  reader: StoreReader,
  agents: readonly Agent[],
  cargo: Cargo,
): Promise<void> {
  const files = artefactFiles(cargo.kind, cargo.name)
  const ids = agents.map(({ id }) => id)
  for (const rival of await reader.listRivals(ids, rivalNames(cargo.kind, cargo.name))) {
    const shared = findSharedFile(artefactFiles(rival.kind, rival.name), files)
    if (shared === undefined) continue
    const agent = agents.find(({ id }) => id === rival.agentId)
    throw new AdminRefusal(
      'nome_taken',
      `agent ${agent?.hostname} has a delivery named ${rival.name} already, which writes ${shared}`,
      { arquivo: shared },
    )
  }
}
