// Which hosts `token create` makes many tokens for: those of a file, or those that are enrolled and shall enrol again.

import type { Clock } from '../../../platform/clock.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminAgent } from '../../../protocol/admin/views.ts'
import type { CommandContext } from '../command-context.ts'
import { readHostFile } from '../hosts/host-file.ts'
import { describeSelection, listAgentsWhere } from '../hosts/select-agents.ts'
import type { TokenHosts } from './token-create-many.ts'

/** `role` is that of the lines that name none. docs/protocol.md CLI-63. */
export async function readHostsOfFile(
  { openSecret }: Pick<CommandContext, 'openSecret'>,
  file: string,
  role: string | undefined,
): Promise<TokenHosts> {
  const listed = await readHostFile(openSecret, file)
  const hosts = listed.map(({ name, rest }) => ({ name, role: rest || role }))
  const roled = hosts.flatMap((host) => {
    if (host.role !== undefined) return [{ name: host.name, role: host.role }]
    throw new UserError('usage', `${file} names no role for ${host.name}`, {
      hint: 'write the role behind the hostname, or give one to all with --role',
    })
  })
  return { find: () => Promise.resolve(roled) }
}

export interface EnrolledSelection {
  /** Of these roles, or matching, or else all. */
  readonly roles: readonly string[]
  readonly where: string | undefined
  /** Only those whose identity has ended: they no longer come back by renewing it. */
  readonly expired: boolean
}

/**
 * Never revoked ones: a token lets its host come back, and that is decided for one host at a time. A host that is revoked while
 * the command runs is asked about once more. docs/protocol.md CLI-87.
 */
export function findEnrolledHosts(
  { progress, clock }: Pick<CommandContext, 'progress' | 'clock'>,
  { roles, where, expired }: EnrolledSelection,
): TokenHosts {
  const isWanted = (agent: AdminAgent): boolean =>
    (roles.length === 0 || roles.includes(agent.role)) && (!expired || hasEnded(agent, clock))
  return {
    find: async (operations) => {
      const agents = await listAgentsWhere(operations, progress, { where, isWanted })
      const hosts = agents.map(({ hostname: name, role }) => ({ name, role }))
      if (hosts.length > 0) return hosts
      const which = `${describeSelection({ roles, where })}${expired ? ' whose identity has expired' : ''}`
      throw new UserError('no_recipient', `no agent${which} is there`, {
        hint: 'svc agent list shows the agents, their roles and when their identities end',
      })
    },
    refuse: async (operations, { name }) => {
      const { revoked_at: revokedAt } = await operations.showAgent({ agente: name })
      if (revokedAt === null) return
      throw new UserError('agent_revoked', `revoked at ${revokedAt}, since the command began`, {
        hint: 'svc token create --hostname lets a revoked host come back',
      })
    },
  }
}

function hasEnded({ cert_not_after: notAfter }: AdminAgent, clock: Clock): boolean {
  return notAfter !== null && Date.parse(notAfter) <= clock.now().getTime()
}
