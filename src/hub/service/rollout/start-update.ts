// `svc agente update`: hosts are to learn of a newer version of their agent, a wave at a time. The hub names a version and nothing else: where a
// host gets it, and by which key it has to be signed, the host knows itself. docs/protocol.md RLO-36.

import { parseReleaseVersion } from '../../../protocol/release-version.ts'
import { AdminRefusal, type Course } from '../admin-act.ts'
import { parseRules } from './rollout-rules.ts'
import { type StartContext, startOverHosts } from './start-over-hosts.ts'

export const startUpdate: Course<'startUpdate', StartContext> = {
  run: async (turn, request, context) => {
    const rules = parseRules(request)
    const { programa: version, where = null } = request
    if (parseReleaseVersion(version) === undefined) {
      throw new AdminRefusal('programa_invalid', `${version} is not a version such as 0.5.0`)
    }
    return startOverHosts(turn, { rules, subject: { kind: 'update', version, where } }, context)
  },
}
