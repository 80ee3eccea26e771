// `svc agente rotate --waves`: hosts are to renew their identities, a wave at a time. docs/protocol.md RLO-24.

import type { Course } from '../admin-act.ts'
import { parseRules } from './rollout-rules.ts'
import { type StartContext, startOverHosts } from './start-over-hosts.ts'

export const startRotation: Course<'startRotation', StartContext> = {
  run: async (turn, request, context) => {
    const rules = parseRules(request)
    const { where = null } = request
    return startOverHosts(turn, { rules, subject: { kind: 'rotation', where } }, context)
  },
}
