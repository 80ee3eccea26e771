import { listCommand } from './list-command.ts'
import { shortTime } from './short-time.ts'

const ABOUT = `\
The hub itself refuses all of them. waiting: a running hub asks the CA until it is done. refused: the CA said that it will
not, and is asked again when the agent is revoked once more. Each is listed until it expires, soonest first.`

export const registerAgenteRevocations = listCommand({
  name: 'revocations',
  description: 'list the certificates of revoked agents that the CA has yet to revoke',
  about: ABOUT,
  plural: 'revocations',
  ask: (operations, page) => operations.listCaRevocations(page),
  columns: {
    HOSTNAME: (revocation) => revocation.hostname,
    SERIAL: (revocation) => revocation.serial,
    PURPOSE: (revocation) => revocation.purpose,
    STATE: (revocation) => revocation.state,
    NOT_AFTER: (revocation) => shortTime(revocation.not_after),
    REASON: (revocation) => revocation.reason,
  },
  isLastProse: true,
  wide: { REVOKED_AT: (revocation) => shortTime(revocation.revoked_at) },
})
