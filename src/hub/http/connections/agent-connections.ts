import type { Socket } from 'node:net'
import type { AgentId } from '../../../protocol/identifiers.ts'

/** The open connections of each agent, so that revoking one can cut them. */
export interface AgentConnections {
  /** Whether it was not among them before. */
  add(agentId: AgentId, socket: Socket): boolean
  cut(agentId: AgentId): void
}

export function createAgentConnections(): AgentConnections {
  const sockets = new Map<AgentId, Set<Socket>>()
  return {
    add: (agentId, socket) => {
      if (socket.destroyed) return false
      const open = sockets.get(agentId) ?? new Set()
      if (open.has(socket)) return false
      sockets.set(agentId, open.add(socket))
      socket.once('close', () => {
        open.delete(socket)
        if (open.size === 0 && sockets.get(agentId) === open) sockets.delete(agentId)
      })
      return true
    },
    cut: (agentId) => {
      for (const socket of sockets.get(agentId) ?? []) socket.destroy()
    },
  }
}
